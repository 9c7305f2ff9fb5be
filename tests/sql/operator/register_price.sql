-- register_price: what a model costs within a range of time, in US dollars.
begin;
select plan(20);
select stop_clock();
set local role forebay_operator;
select lives_ok(
    $$ select forebay.register_price('m', p_usd_per_m_input => 3, p_usd_per_m_output => 15, p_reason => 'list',
        p_actor => 'ann') $$,
    'a model and a price are enough'
);
set local role forebay_owner;
select results_eq(
    $$ select model, valid_from, valid_until, usd_per_m_input, usd_per_m_output, usd_per_m_cached, usd_per_page,
        usd_per_call from forebay.prices $$,
    $$ values ('m', noon(), 'infinity'::timestamptz, 3::numeric, 15::numeric, null::numeric, null::numeric,
        null::numeric) $$,
    'it holds from now on'
);
select results_eq(
    $$ select action, actor, reason, details ->> 'model' from forebay.audit_log $$,
    $$ values ('register_price', 'ann', 'list', 'm') $$,
    'the log says who, why and what'
);
select lives_ok(
    $$ select forebay.register_price('m', noon(), p_usd_per_call => 0) $$, 'the same start again'
);
select results_eq(
    $$ select usd_per_m_input, usd_per_call from forebay.prices $$,
    $$ values (null::numeric, 0::numeric) $$,
    'replaces the price'
);
select lives_ok(
    $$ select forebay.register_price('m', noon('1 day'), noon('2 days'), p_usd_per_page => 0.01) $$,
    'a range may begin later, and end'
);
select results_eq(
    $$ select valid_from, valid_until from forebay.prices order by valid_from $$,
    $$ values (noon(), 'infinity'::timestamptz), (noon('1 day'), noon('2 days')) $$,
    'and leaves the others as they are'
);
select throws_ok($$ select forebay.register_price(null, p_usd_per_call => 1) $$, '22023', null, 'a model is given');
select throws_ok($$ select forebay.register_price('', p_usd_per_call => 1) $$, '22023', null, 'not empty');
select throws_ok(
    $$ select forebay.register_price(repeat('m', 501), p_usd_per_call => 1) $$, '22023', null, 'nor over-long'
);
select throws_ok($$ select forebay.register_price('m') $$, '22023', null, 'at least one price is given');
select throws_ok($$ select forebay.register_price('m', p_usd_per_m_input => -1) $$, '22023', null, 'not negative');
select throws_ok($$ select forebay.register_price('m', p_usd_per_m_output => 1e10) $$, '22023', null, 'nor absurd');
select throws_ok($$ select forebay.register_price('m', p_usd_per_m_cached => 'NaN') $$, '22023', null, 'a number');
select throws_ok(
    $$ select forebay.register_price('m', p_usd_per_page => 'Infinity') $$, '22023', null, 'that has an end'
);
select throws_ok($$ select forebay.register_price('m', p_usd_per_call => -0.01) $$, '22023', null, 'also by the call');
select throws_ok(
    $$ select forebay.register_price('m', noon(), noon(), p_usd_per_call => 1) $$, '22023', null, 'a range is not empty'
);
select throws_ok(
    $$ select forebay.register_price('m', p_valid_until => noon('-1 s'), p_usd_per_call => 1) $$,
    '22023', null, 'nor does it end before it begins'
);
select throws_ok(
    $$ select forebay.register_price('m', '-infinity', p_usd_per_call => 1) $$, '22023', null, 'it begins at a time'
);
select only_callable_by('{operator}', $$ select forebay.register_price('m', p_usd_per_call => 1) $$);
select finish();
rollback;
