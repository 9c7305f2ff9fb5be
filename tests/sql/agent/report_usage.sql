-- report_usage: a call counts once for each source; unknown numbers may be filled, known ones never change.
begin;
select plan(23);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}');
    select forebay.dequeue('w')
$$);
set local role forebay_agent;
select is(
    forebay.report_usage(101, '[
        {"call_id": "1", "model": "m", "input_tokens": 10, "trace_id": "t"}, {"call_id": "2", "output_tokens": "5",
            "x": 1}
    ]'),
    2,
    'two calls are new'
);
select is(forebay.report_usage(101, '{"call_id": "1", "input_tokens": 99, "output_tokens": 7}'), 1, 'one is filled');
select is(
    forebay.report_usage(101, '{"call_id": "1", "input_tokens": 98, "output_tokens": 8}'),
    0,
    'then nothing is new'
);
select is(forebay.report_usage(101, '{"call_id": "1", "source": "trace"}'), 1, 'another source is another row');
set local role forebay_owner;
select results_eq(
    $$ select source, call_id, model, input_tokens, output_tokens, cost_usd
    from forebay.attempt_usage order by source, call_id $$,
    $$ values ('agent', '1', 'm', 10::bigint, 7::bigint, null::numeric), ('agent', '2', null, null, 5, null),
        ('trace', '1', null, null, null, null) $$,
    'the first numbers win, and a missing one is unknown, not zero'
);
select results_eq($$ select trace_id from forebay.task_attempts $$, array['t'], 'the attempt knows its trace');
select throws_ok(
    $$ select forebay.report_usage(101, '[{"call_id": "9"}, {"call_id": "8", "input_tokens": -1}]') $$,
    '22023', null, 'a number is not negative'
);
select results_eq($$ select count(*) from forebay.attempt_usage $$, array[3]::bigint[], 'and nothing is half-done');
select throws_like(
    $$ select forebay.report_usage(101, '{"call_id": "9", "input_tokens": "many"}') $$,
    '%"input_tokens"%',
    'a key is named'
);
select throws_ok($$ select forebay.report_usage(101, '{"model": "m"}') $$, '22023', null, 'a call has an id');
select throws_ok(
    $$ select forebay.report_usage(101, '{"call_id": "9", "source": "rumour"}') $$, '22023', null, 'and a known source'
);
select throws_ok(
    $$ select forebay.report_usage(101, '{"call_id": "9", "input_tokens": 1, "cached_tokens": 2}') $$,
    '22023', null, 'cached tokens are part of the input'
);
select given($$ select forebay.report_usage(101, '{"call_id": "9", "input_tokens": 5}') $$);
select lives_ok(
    $$ select forebay.report_usage(101, '{"call_id": "9", "cached_tokens": 6}') $$,
    'also when the two come one after the other: then all of the input is cached'
);
select throws_ok(
    $$ select forebay.report_usage(101, '{"call_id": "9", "cost_usd": -0.01}') $$, '22023', null, 'a cost is not negative'
);
select throws_ok(
    $$ select forebay.report_usage(101, '{"call_id": "9", "pages": 1e10}') $$, '22023', null, 'pages have their range'
);
select is_empty($$ select * from forebay.spend_entries $$, 'without a price nothing is known to be spent');
select given($$
    select forebay.register_price('m', p_usd_per_m_input => 3, p_usd_per_m_output => 15, p_usd_per_page => 0.01);
    select forebay.report_usage(101, '{"call_id": "3", "model": "m", "input_tokens": 1000, "output_tokens": 100,
        "cached_tokens": 400, "pages": 2}')
$$);
select results_eq(
    $$ select call_id, usd from forebay.attempt_usage where usd is not null $$,
    $$ values ('3', 0.0245) $$,
    'a call is priced when all that its price needs is known'
);
select results_eq(
    $$ select a.cost_usd, e.agent, e.customer, e.spent_at, e.usd
    from forebay.task_attempts as a, forebay.spend_entries as e $$,
    $$ values (0.0245, 'a', '', noon(), 0.0245) $$,
    'its cost is the attempt''s, and spent'
);
select throws_ok($$ select forebay.report_usage(101, null) $$, '22023', null, 'usage is given');
select throws_ok($$ select forebay.report_usage(101, '5') $$, '22023', null, 'as an object or an array');
select throws_ok($$ select forebay.report_usage(101, '[5]') $$, '22023', null, 'of objects');
select throws_ok($$ select forebay.report_usage(999, '[]') $$, 'QF304', null, 'an unknown attempt is refused');
select only_callable_by('{agent}', $$ select forebay.report_usage(101, '{"call_id": "9"}') $$);
select finish();
rollback;
