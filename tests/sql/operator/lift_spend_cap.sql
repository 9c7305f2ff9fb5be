-- lift_spend_cap: more than the cap, on this UTC day alone.
begin;
select plan(18);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_usd_per_day => 10), forebay.register_agent('free');
    select forebay.register_customer('c', p_max_usd_per_day => 1), forebay.register_customer('d')
$$);
set local role forebay_operator;
select is(forebay.lift_spend_cap('a', p_extra_usd => 2.5, p_reason => 'rush', p_actor => 'ann'), 12.5, 'so much more');
select is(forebay.lift_spend_cap('a', p_extra_usd => 1), 13.5, 'lifts of a day add up');
select is(forebay.lift_spend_cap(p_customer => 'c'), 'Infinity'::numeric, 'null is without end');
select is(forebay.lift_spend_cap(p_customer => 'c', p_extra_usd => 1), 2::numeric, 'until an amount replaces it');
select is(forebay.lift_spend_cap(p_customer => 'c'), 'Infinity'::numeric, 'and again without end');
set local role forebay_owner;
select results_eq(
    $$ select c.customer, c.amount, c.has from forebay._caps(forebay._get_agent('a'), '{c,d}', noon()) as c $$,
    $$ values (null::text, 13.5, 13.5) $$,
    'the agent has more, and the customer no cap'
);
select results_eq(
    $$ select agent, actor, reason, details ->> 'extra_usd' from forebay.audit_log
    where action = 'lift_spend_cap' order by audit_id limit 1 $$,
    $$ values ('a', 'ann', 'rush', '2.5') $$,
    'the log says who, why and how much'
);
select results_eq(
    $$ select c.customer, c.amount
    from forebay._caps(forebay._get_agent('a'), '{c,d}', noon('12 hours')) as c order by 2 $$,
    $$ values ('c', 1::numeric), (null, 10) $$,
    'the next day has the caps of their terms'
);
select throws_ok($$ select forebay.lift_spend_cap() $$, '22023', null, 'one of the two is given');
select throws_ok($$ select forebay.lift_spend_cap('a', 'c') $$, '22023', null, 'not both');
select throws_ok($$ select forebay.lift_spend_cap('nobody') $$, 'QF301', null, 'the agent must be registered');
select throws_ok($$ select forebay.lift_spend_cap('free') $$, '22023', null, 'and have a cap');
select throws_ok($$ select forebay.lift_spend_cap(p_customer => 'd') $$, '22023', null, 'a customer too');
select throws_ok($$ select forebay.lift_spend_cap(p_customer => 'nobody') $$, '22023', null, 'a stranger has none');
select throws_ok($$ select forebay.lift_spend_cap('a', p_extra_usd => -1) $$, '22023', null, 'more is not less');
select throws_ok($$ select forebay.lift_spend_cap('a', p_extra_usd => 'NaN') $$, '22023', null, 'and a number');
select throws_ok($$ select forebay.lift_spend_cap('', p_extra_usd => 1) $$, 'QF301', null, 'an empty name is nobody');
select only_callable_by('{operator}', $$ select forebay.lift_spend_cap('a') $$);
select finish();
rollback;
