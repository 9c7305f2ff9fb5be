-- task_detail: everything about a task but payload and result.
begin;
select plan(8);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_concurrent_tasks => 1), forebay.register_agent('b', p_max_tpm => 6000);
    select forebay.enqueue('a', '{"secret": 1}', 9), forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}');
    select forebay.enqueue('b', '{}', p_estimated_tokens => 4000), forebay.enqueue('b', '{}',
        p_estimated_tokens => 2000);
    select forebay.enqueue('a', '{}', p_run_after => noon('1 hour'))
$$);
select given($$ select forebay.dequeue('w', '{a}'), forebay.dequeue('w', '{b}') $$);
select given($$ select forebay.pause_agent('b', noon('1 hour')) $$);
select given($$ select forebay.complete(101, '"secret"') $$);
set local role forebay_viewer;
select results_eq(
    $$ select status, d::text like '%secret%' from forebay.task_detail(1) as d $$,
    $$ values ('completed', false) $$,
    'a viewer sees neither payload nor result'
);
select results_eq(
    $$ select a ->> 'status', a ->> 'charged_tokens', a -> 'held_up_seconds', a ? 'call_asked_at', a ? 'result'
       from forebay.task_detail(4) as d cross join jsonb_array_elements(d.attempts) as a $$,
    $$ values ('claimed', '4000', '0.000000'::jsonb, false, false) $$,
    'an attempt shows what it may use and how long its calls waited'
);
set local role forebay_owner;
select given($$
    select forebay.register_agent('c'), forebay.open_batch('march');
    select forebay.enqueue('c', '{}', p_batch_id => 11);
    select forebay.dequeue('w', '{c}');
    select forebay.report_usage(a.attempt_id, '{"call_id": "1", "input_tokens": 30, "output_tokens": 5, "cached_tokens": 10,
        "cost_usd": 0.25}')
    from forebay.task_attempts as a where a.task_id = 7
$$);
select at_time('10 s');
select given($$ select forebay.complete(a.attempt_id, '1') from forebay.task_attempts as a where a.task_id = 7 $$);
select given($$
    select forebay.record_compute_usage(jsonb_build_object('record_id', '1', 'attempt_id', a.attempt_id, 'usd', 0.5,
        'is_final', true) || '[]'::jsonb)
    from forebay.task_attempts as a where a.task_id = 7
$$);
set local role forebay_viewer;
select results_eq(
    $$ select batch_name, used_input_tokens, used_output_tokens, used_cached_tokens, is_usage_known, cost_usd,
           is_cost_known, compute_usd, run_time, as_of
       from forebay.task_detail(7) $$,
    $$ values ('march', 30::bigint, 5::bigint, 10::bigint, true, 0.25, true, 0.5, interval '10 s', noon('10 s')) $$,
    'it tells what the task used and cost, and when that was'
);
select results_eq(
    $$ select a -> 'used_cached_tokens', a -> 'is_cost_known', a -> 'compute_usd', a -> 'is_compute_final'
       from forebay.task_detail(7) as d cross join jsonb_array_elements(d.attempts) as a $$,
    $$ values ('10'::jsonb, 'true'::jsonb, '0.5'::jsonb, 'true'::jsonb) $$,
    'and so does each attempt'
);
set local role forebay_owner;
select given($$
    select forebay.report_usage(a.attempt_id, '[
        {"source": "trace", "call_id": "1", "input_tokens": 30, "output_tokens": 5},
        {"source": "trace", "call_id": "2", "input_tokens": 30, "output_tokens": 5}]')
    from forebay.task_attempts as a where a.task_id = 7;
    select forebay.record_compute_usage(jsonb_build_array(jsonb_build_object('record_id', '7', 'attempt_id', attempt_id, 'usd', 1)))
    from forebay.task_attempts where task_id = 7
$$);
set local role forebay_viewer;
select results_eq(
    $$ select d.task_id, a ->> 'usage_source', a ->> 'compute_source'
       from (values (7), (1)) as ids (task_id) cross join forebay.task_detail(ids.task_id) as d
       cross join jsonb_array_elements(d.attempts) as a $$,
    $$ values (7::bigint, 'trace', 'local'), (1, null, null) $$,
    'of two sources of calls it names the one that counts, and who says what the machine cost'
);
select throws_ok($$ select forebay.task_detail(999) $$, 'QF303', null, 'an unknown task has no detail');
select throws_ok($$ select forebay.task_detail(null) $$, '22023', null, 'nor has none');
select only_callable_by('{viewer}', $$ select forebay.task_detail(1) $$);
select finish();
rollback;
