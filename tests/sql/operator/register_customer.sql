-- register_customer: a customer's terms, the whole of them.
begin;
select plan(12);
select stop_clock();
set local role forebay_operator;
select lives_ok(
    $$ select forebay.register_customer('gold', 5, 2.50, 'contract', 'ann') $$, 'a boost and a cap'
);
set local role forebay_owner;
select results_eq(
    $$ select action, actor, reason, details ->> 'customer' from forebay.audit_log $$,
    $$ values ('register_customer', 'ann', 'contract', 'gold') $$,
    'the log says who, why and whom'
);
select given($$ select at_time('1 hour'); select forebay.register_customer('gold') $$);
select results_eq(
    $$ select priority_boost, max_usd_per_day, created_at, updated_at from forebay.customers $$,
    $$ values (0, null::numeric, noon(), noon('1 hour')) $$,
    'what is left out takes its default, also when it is set anew'
);
select throws_ok($$ select forebay.register_customer(null) $$, '22023', null, 'a name is given');
select throws_ok($$ select forebay.register_customer('') $$, '22023', null, 'not empty');
select throws_ok($$ select forebay.register_customer(repeat('c', 201)) $$, '22023', null, 'nor over-long');
select throws_ok($$ select forebay.register_customer('c', 10001) $$, '22023', null, 'a boost has its range');
select throws_ok($$ select forebay.register_customer('c', null) $$, '22023', null, 'and is given');
select throws_ok(
    $$ select forebay.register_customer('c', p_max_usd_per_day => -1) $$, '22023', null, 'a cap is not negative'
);
select throws_ok(
    $$ select forebay.register_customer('c', p_max_usd_per_day => 'NaN') $$, '22023', null, 'and a number'
);
select lives_ok($$ select forebay.register_customer('c', p_max_usd_per_day => 0) $$, 'but may be 0');
select only_callable_by('{operator}', $$ select forebay.register_customer('c') $$);
select finish();
rollback;
