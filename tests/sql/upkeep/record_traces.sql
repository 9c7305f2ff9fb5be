-- record_traces: a trace's calls are those of the last look, found when none is missing, given up in the end.
begin;
select plan(32);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.register_price('m', p_usd_per_m_input => 1, p_usd_per_m_output => 1);
    select forebay.enqueue('a', '{}') from generate_series(1, 6);
    select forebay.dequeue('w', p_batch_size => 6);
    select forebay.report_usage(101, '[{"call_id": "1", "model": "m", "input_tokens": 4, "output_tokens": 0}, {"call_id": "2"}]');
    select forebay.report_usage(102, '[
        {"call_id": "1", "input_tokens": 4, "output_tokens": 0}, {"call_id": "2", "input_tokens": 4, "output_tokens": 0}
    ]');
    select forebay.complete(attempt_id, '{}') from forebay.task_attempts
$$);
set local role forebay_upkeep;
select is(
    forebay.record_traces(101, '[{"call_id": "s1", "model": "m", "input_tokens": 4, "output_tokens": 1},
        {"call_id": "s2", "model": "n", "input_tokens": 1, "output_tokens": 1, "list_usd": 0.5, "source": "agent"}]', 1, true),
    'found',
    'a trace that tells of as many calls as the attempt is found'
);
set local role forebay_owner;
select results_eq(
    $$ select source, call_id, usd, counted_usd from forebay.attempt_usage where attempt_id = 101 order by source, call_id $$,
    $$ values ('agent', '1', 0.000004, null::numeric), ('agent', '2', null, null), ('trace', 's1', 0.000005, 0.000005),
        ('trace', 's2', 0.5, 0.5) $$,
    'the more complete source counts; a model without a price of ours costs its list price'
);
select results_eq(
    $$ select cost_usd, is_cost_known, used_input_tokens, is_usage_known from forebay.task_attempts where attempt_id = 101 $$,
    $$ values (0.500005, true, 5::bigint, true) $$,
    'and never the sum of two'
);
set local role forebay_upkeep;
select is(
    forebay.record_traces(101, '[{"call_id": "s1", "model": "m", "input_tokens": 4, "output_tokens": 1}]', 1, true),
    'found', 'the same again'
);
set local role forebay_owner;
select results_eq(
    $$ select cost_usd from forebay.task_attempts where attempt_id = 101 $$, array[0.500005], 'changes nothing'
);
select is(
    (select sum(usd) from forebay.spend_entries), 0.500005, 'and what was spent is noted once'
);
set local role forebay_upkeep;
select is(
    forebay.record_traces(102, '[{"call_id": "s1", "input_tokens": 4, "output_tokens": 1}]', 1, true),
    'partial', 'one that tells of fewer calls is there in part'
);
select is(
    forebay.record_traces(103, '[{"call_id": "s1", "input_tokens": 4, "output_tokens": 1}]', 1, false),
    'partial', 'so is one that has not ended'
);
select is(forebay.record_traces(104, '[]'), 'awaited', 'none may come yet');
select is(forebay.record_traces(104, '[]', p_is_whole => true), 'awaited', 'and none is never whole');
set local role forebay_owner;
select results_eq(
    $$ select attempt_id, looks, next_look_at from forebay.attempt_traces order by attempt_id $$,
    $$ values (101::bigint, 2, null::timestamptz), (102, 1, noon('1 minute')), (103, 1, noon('1 minute')),
        (104, 2, noon('4 minutes')) $$,
    'what is found is not looked for again, and all else later and later'
);
select given($$ select forebay.record_traces(104, '[]') from generate_series(1, 5) $$);
select results_eq(
    $$ select looks, next_look_at, forebay._trace_state(t) from forebay.attempt_traces as t where attempt_id = 104 $$,
    $$ values (7, null::timestamptz, 'missing') $$, 'at last it is given up, and that is said'
);
select given($$ select forebay.record_traces(103, '[]', p_traces => 0) from generate_series(1, 6) $$);
select results_eq(
    $$ select next_look_at, forebay._trace_state(t) from forebay.attempt_traces as t where attempt_id = 103 $$,
    $$ values (null::timestamptz, 'partial') $$, 'what was there in part stays so'
);
set local role forebay_upkeep;
select is(
    forebay.record_traces(104, '[{"call_id": "s1", "input_tokens": 4, "output_tokens": 1}]', 1, true),
    'found', 'what comes after that is taken all the same'
);
-- A span that sums up others, read before they were there.
select is(
    forebay.record_traces(105, '[{"call_id": "root", "trace_id": "t", "model": "m", "input_tokens": 90, "output_tokens": 0}]', 1),
    'partial', 'a sum stands for what it sums up'
);
set local role forebay_owner;
select results_eq(
    $$ select used_input_tokens, is_usage_known, cost_usd, is_cost_known from forebay.task_attempts where attempt_id = 105 $$,
    $$ values (90::bigint, false, 0.00009, false) $$, 'but a trace that may have more to tell makes nothing known'
);
set local role forebay_upkeep;
select is(
    forebay.record_traces(105, '[{"call_id": "l1", "trace_id": "t", "model": "m", "input_tokens": 50, "output_tokens": 0},
        {"call_id": "l2", "trace_id": "t", "model": "m", "input_tokens": 50, "output_tokens": 0}]', 1, true),
    'found', 'until its parts come'
);
set local role forebay_owner;
select results_eq(
    $$ select used_input_tokens, is_usage_known, cost_usd, is_cost_known from forebay.task_attempts where attempt_id = 105 $$,
    $$ values (100::bigint, true, 0.0001, true) $$, 'it is not counted beside them'
);
select is(
    (select sum(usd) from forebay.spend_entries), 0.500105, 'what was spent is right too'
);
select results_eq(
    $$ select source, basis, attempts from forebay.cost_sources() where part = 'trace' $$,
    $$ values ('mlflow', 'found', 3::bigint), ('mlflow', 'partial', 2) $$, 'how many traces there are is shown'
);
select results_eq(
    $$ select source, basis, usd from forebay.cost_sources() where part = 'llm' and basis in ('list_price', 'price') $$,
    $$ values ('trace', 'list_price', 0.5), ('trace', 'price', 0.000105) $$, 'and by whose price a figure is'
);
-- What a look leaves out, of an agent that has quotas and tells nothing itself.
select given($$
    select forebay.register_quota('q', '[
        {"unit": "requests", "per": "minute", "amount": 100}, {"unit": "input_tokens", "per": "minute", "amount": 1000},
        {"unit": "output_tokens", "per": "minute", "amount": 1000}
    ]');
    select forebay.register_agent('b', p_quotas => '{q}');
    select forebay.enqueue('b', '{}');
    select forebay.dequeue('w', '{b}');
    select forebay.record_traces(107, '[{"call_id": "root", "trace_id": "u", "model": "m", "input_tokens": 90,
        "output_tokens": 9, "cached_tokens": 80, "cost_usd": 7}]', 1);
    select forebay.record_traces(107, '[{"call_id": "root", "trace_id": "u", "output_tokens": 4}]', 1, true)
$$);
select results_eq(
    $$ select model, input_tokens, output_tokens, cached_tokens, cost_usd, usd, counted_usd, is_partial
    from forebay.attempt_usage where attempt_id = 107 $$,
    $$ values (null::text, null::bigint, 4::bigint, null::bigint, null::numeric, null::numeric, null::numeric, false) $$,
    'what a look leaves out of a call is not known any more'
);
select results_eq(
    $$ select used_input_tokens, used_output_tokens, used_cached_tokens, is_usage_known, cost_usd, is_cost_known
    from forebay.task_attempts where attempt_id = 107 $$,
    $$ values (0::bigint, 4::bigint, 0::bigint, false, null::numeric, false) $$, 'nor of its attempt'
);
select is((select sum(usd) from forebay.spend_entries), 0.500105, 'and what was spent for it is taken back');
select results_eq(
    $$ select s.unit, s.used from forebay.quota_status('{q}') as s order by s.unit $$,
    $$ values ('input_tokens', 0::numeric), ('output_tokens', 4), ('requests', 1) $$, 'also by the quotas'
);
set local role forebay_upkeep;
select throws_ok($$ select forebay.record_traces(101, '{}') $$, '22023', null, 'p_calls is an array');
select throws_ok($$ select forebay.record_traces(101, '[1]') $$, '22023', null, 'of calls');
select throws_ok($$ select forebay.record_traces(101, null) $$, '22023', null, 'and not null');
select throws_ok($$ select forebay.record_traces(101, '[]', -1) $$, '22023', null, 'p_traces is not negative');
select throws_ok($$ select forebay.record_traces(null, '[]') $$, '22023', null, 'and there is an attempt');
select throws_ok($$ select forebay.record_traces(999, '[]') $$, 'QF304', null, 'the attempt exists');
select only_callable_by('{upkeep}', $$ select forebay.record_traces(101, '[]') $$);
select finish();
rollback;
