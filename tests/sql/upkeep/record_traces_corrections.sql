-- record_traces: what a look sees corrects what an earlier one saw; a trace in part replaces no report, and one counts once.
begin;
select plan(20);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_quota('q', '[{"unit": "requests", "per": "day", "amount": 100},
        {"unit": "input_tokens", "per": "day", "amount": 1000}]');
    select forebay.register_agent('a', p_quotas => '{q}'), forebay.register_agent('b');
    select forebay.register_price('m', p_usd_per_m_input => 1, p_usd_per_m_output => 1);
    select forebay.enqueue('a', '{}'), forebay.enqueue('b', '{}'), forebay.enqueue('b', '{}'), forebay.enqueue('b', '{}');
    select forebay.dequeue('w', '{a}');
    select forebay.dequeue('w', '{b}', 3);
    select forebay.complete(101, '{}');
    select forebay.record_traces(101, '[{"call_id": "t/1", "trace_id": "t", "model": "m", "input_tokens": 10,
        "output_tokens": 1, "started_at": "2026-01-01T12:00:00Z"}]', 1)
$$);
prepare of_trace as
select a.used_input_tokens, a.used_output_tokens, a.is_usage_known, a.cost_usd, a.is_cost_known
from forebay.task_attempts as a
where a.attempt_id = 101;
prepare charged as
select array_agg(s.used order by s.unit = 'requests' desc) from forebay.quota_status('{q}') as s;
select results_eq('of_trace', $$ values (10::bigint, 1::bigint, false, 0.000011, false) $$, 'a span that goes on');
select results_eq('charged', $$ values (array[1, 10]::numeric[]) $$, 'is charged to the quotas');
select given($$
    select forebay.record_traces(101, '[{"call_id": "t/1", "trace_id": "t", "model": "m", "input_tokens": 30,
        "output_tokens": 500}]', 1)
$$);
select results_eq('of_trace', $$ values (30::bigint, 500::bigint, false, 0.00053, false) $$, 'and has used more when it ends');
select results_eq('charged', $$ values (array[1, 30]::numeric[]) $$, 'which is the same call');
select is(
    forebay.record_traces(101, '[{"call_id": "t/2", "trace_id": "t", "model": "m", "input_tokens": 7,
        "output_tokens": 5}]', 1, true),
    'found', 'it turns out to be a part, or a sum'
);
select results_eq('of_trace', $$ values (7::bigint, 5::bigint, true, 0.000012, true) $$, 'of what counts in its place');
select results_eq('charged', $$ values (array[2, 7]::numeric[]) $$, 'also in the quotas');
select results_eq($$ select sum(usd) from forebay.spend_entries $$, array[0.000012], 'and in what was spent');
select given($$
    select forebay.record_traces(101, '[]');
    select forebay.record_traces(101, '[{"call_id": "u/1", "trace_id": "u", "model": "m", "input_tokens": 1,
        "output_tokens": 1}]', 1, true)
$$);
select results_eq(
    'of_trace', $$ values (8::bigint, 6::bigint, true, 0.000014, true) $$, 'a trace that is gone told what it told'
);

-- In part
select given($$
    select forebay.report_usage(102, '{"call_id": "all", "model": "m", "input_tokens": 9000, "output_tokens": 1}');
    select forebay.record_traces(102, '[{"call_id": "v/1", "trace_id": "v", "input_tokens": 1, "output_tokens": 1},
        {"call_id": "v/2", "trace_id": "v", "input_tokens": 1, "output_tokens": 1}]', 1, false)
$$);
prepare counts as
select a.used_input_tokens, forebay._usage_source(a.attempt_id) as source, a.is_usage_known
from forebay.task_attempts as a
where a.attempt_id = 102;
select results_eq('counts', $$ values (9000::bigint, 'agent', true) $$, 'a trace in part replaces no report that is whole');
select given($$ select forebay.report_usage(102, '{"call_id": "unknown"}') $$);
select results_eq('counts', $$ values (2::bigint, 'trace', false) $$, 'but one that is not, as far as it goes');
select given($$
    select forebay.record_traces(102, '[{"call_id": "v/1", "trace_id": "v", "input_tokens": 5000, "output_tokens": 1},
        {"call_id": "v/2", "trace_id": "v", "input_tokens": 6000, "output_tokens": 1}]', 1, true)
$$);
select results_eq('counts', $$ values (11000::bigint, 'trace', true) $$, 'in the end it is known');

-- Of one that died
select given($$
    select forebay.enqueue('b', '{}');
    select forebay.dequeue('w', '{b}');
    select forebay.report_usage(105, '{"call_id": "1", "model": "m", "input_tokens": 10, "output_tokens": 1}');
    select forebay.cancel(array[a.task_id]) from forebay.task_attempts as a where a.attempt_id = 105;
    select forebay.record_traces(105, '[{"call_id": "d/1", "trace_id": "d", "model": "m", "input_tokens": 10, "output_tokens": 1},
        {"call_id": "d/2", "trace_id": "d", "model": "m", "input_tokens": 10, "output_tokens": 1}]', 1)
$$);
prepare of_dead as
select
    a.used_input_tokens, a.is_usage_known, a.cost_usd, a.is_cost_known,
    (select sum(u.counted_usd) from forebay.attempt_usage as u where u.attempt_id = a.attempt_id) as counted_usd
from forebay.task_attempts as a
where a.attempt_id = 105;
select results_eq(
    'of_dead', $$ values (20::bigint, false, 0.000022, false, 0.000022) $$,
    'of who died before it told of all, what the trace tells beyond is used too, and never all that is known'
);
select given($$ select forebay.complete(105, '{}') $$);
select results_eq(
    'of_dead', $$ values (10::bigint, true, 0.000011, true, 0.000011) $$, 'until it says itself how it ended'
);

-- Of several
select given($$
    select forebay.report_usage(103, '{"call_id": "1", "trace_id": "w", "input_tokens": 1000, "output_tokens": 1}');
    select forebay.complete(103, '{}');
    select forebay.attempts_to_trace();
    select forebay.record_traces(103, '[{"call_id": "w/1", "trace_id": "w", "input_tokens": 1000, "output_tokens": 1},
        {"call_id": "w/2", "trace_id": "w", "input_tokens": 1000, "output_tokens": 1}]', 1, true)
$$);
prepare of_each as
select a.attempt_id, a.used_input_tokens, a.is_usage_known
from forebay.task_attempts as a
where a.attempt_id in (103, 104)
order by 1;
select results_eq('of_each', $$ values (103::bigint, 2000::bigint, true), (104, 0, false) $$, 'one attempt has a trace');
select given($$
    select forebay.report_usage(104, '{"call_id": "1", "trace_id": "w", "input_tokens": 1000, "output_tokens": 1}');
    select forebay.complete(104, '{}')
$$);
select results_eq(
    $$ select attempt_id, trace_id from forebay.attempts_to_trace() where attempt_id > 102 $$,
    $$ values (104::bigint, null::text) $$, 'when another names it too, it is read for neither'
);
select is(forebay.record_traces(104, '[]'), 'awaited', 'nothing else is there of the second');
select results_eq(
    $$ select attempt_id, trace_id from forebay.attempts_to_trace() where attempt_id > 102 $$,
    $$ values (103::bigint, null::text) $$, 'and the first is looked at again'
);
select is(forebay.record_traces(103, '[]'), 'partial', 'without it');
select results_eq('of_each', $$ values (103::bigint, 1000::bigint, true), (104, 1000, true) $$, 'each used what it told');
select finish();
rollback;
