-- metrics: what tasks of a range and a filter are, used, cost and took.
begin;
select plan(19);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_lease => '1 hour'), forebay.register_agent('b', p_max_attempts => 1);
    select forebay.enqueue('a', '{}', p_customer => 'acme');
    select forebay.enqueue('a', '{}', p_customer => 'acme');
    select forebay.enqueue('a', '{}', p_priority => -10);
    select forebay.enqueue('b', '{}'), forebay.enqueue('b', '{}', p_run_after => noon('1 day'))
$$);
select at_time('10 s');
select given($$ select forebay.dequeue('w', '{a}', 2), forebay.dequeue('w', '{b}') $$);
select given($$
    select forebay.report_usage(101, '[
        {"call_id": "1", "input_tokens": 100, "output_tokens": 10, "cached_tokens": 40, "cost_usd": 0.5},
        {"call_id": "1", "source": "trace", "input_tokens": 7000}
    ]');
    select forebay.report_usage(102, '{"call_id": "1", "input_tokens": 30}')
$$);
select at_time('30 s');
select given($$ select forebay.complete(101, '{}', 0.95) $$);
select at_time('50 s');
select given($$ select forebay.complete(102, '{}') $$);
select given($$ select forebay.fail(103, '{"kind": "agent_bug"}') $$);
select given($$ select forebay.cancel('{5}') $$);
set local role forebay_viewer;
select results_eq(
    $$ select enqueued, processing, completed, failed, cancelled from forebay.metrics() $$,
    $$ values (1::bigint, 0::bigint, 2::bigint, 1::bigint, 1::bigint) $$,
    'tasks are counted by state'
);
select results_eq(
    $$ select ended_attempts, measured_attempts, priced_attempts, costed_attempts from forebay.metrics() $$,
    $$ values (3::bigint, 1::bigint, 1::bigint, 0::bigint) $$,
    'and so is of how many attempts usage, cost and machine are known'
);
select results_eq(
    $$ select input_tokens, output_tokens, cached_tokens, llm_usd from forebay.metrics() $$,
    $$ values (130::bigint, 10::bigint, 40::bigint, 0.5) $$,
    'what is known is added up, from one source'
);
select results_eq(
    $$ select compute_usd, compute_as_of, is_compute_final from forebay.metrics() $$,
    $$ values (0::numeric, null::timestamptz, false) $$,
    'nobody has told what machines cost'
);
select results_eq(
    $$ select response_median, queue_median, run_median, is_exact from forebay.metrics() $$,
    $$ values (interval '30 s', interval '10 s', interval '20 s', true) $$,
    'a response is queue and run; of few tasks the median is exact: of two the lower one'
);
select results_eq(
    $$ select response_p95, queue_p95, run_p95 from forebay.metrics() $$,
    $$ values (interval '50 s', interval '10 s', interval '40 s') $$,
    'and so is the 95th percentile'
);
select results_eq(
    $$ select confidence_median, cardinality(confidence_counts), confidence_counts[20], without_confidence
    from forebay.metrics() $$,
    $$ values (0.95, 20, 1::bigint, 1::bigint) $$,
    'confidences are counted in twenty bins, and the unknown beside them'
);
select results_eq(
    $$ select enqueued, completed, input_tokens from forebay.metrics(
        noon(), noon('1 s'), '{enqueued,completed}', '{a}', '{acme}'
    ) $$,
    $$ values (0::bigint, 2::bigint, 130::bigint) $$,
    'the filters all hold'
);
select results_eq(
    $$ select enqueued, failed, cancelled from forebay.metrics(p_customers => '{""}') $$,
    $$ values (1::bigint, 1::bigint, 1::bigint) $$,
    'the customer '''' is none'
);
select results_eq(
    $$ select completed + failed + enqueued + cancelled, llm_usd, response_median, confidence_median,
        cardinality(confidence_counts)
    from forebay.metrics(p_to => noon()) $$,
    $$ values (0::bigint, 0::numeric, null::interval, null::numeric, 20) $$,
    'p_to is not included; of no task sums are 0, and times unknown'
);
select results_eq($$ select as_of from forebay.metrics() $$, array[noon('50 s')], 'it says as of when');
set local role forebay_owner;
create temporary table before as
select * from forebay.metrics();
select given($$ select forebay._fold_changes(1) $$);
select is_empty($$ select * from forebay.task_changes $$, 'what waits for the rollups can be folded in');
select results_eq($$ select * from forebay.metrics() $$, $$ select * from before $$, 'which changes no number');
select results_eq(
    $$ select completed, ended_attempts, input_tokens, response_median
    from forebay.metrics(noon('-3 days'), noon('30 days'), p_customers => '{acme}') $$,
    $$ values (2::bigint, 2::bigint, 130::bigint, interval '30 s') $$,
    'nor of a customer'
);
select throws_ok($$ select forebay.metrics(p_statuses => '{eaten}') $$, '22023', null, 'a status is known');
select throws_ok($$ select forebay.metrics(p_agents => '{x}') $$, 'QF301', null, 'and so is an agent');

-- With more than 10,000 tasks in the range, times come from buckets of 5 %.
select given($$
    insert into forebay.tasks (agent, payload, available_at, created_at)
    select 'b', '{}', noon('2 h'), noon('2 h') from generate_series(1, 10000)
$$);
select results_eq(
    $$ select enqueued, is_exact from forebay.metrics() $$, $$ values (10001::bigint, false) $$, 'of many tasks is said so'
);
select results_eq(
    $$ select abs(extract(epoch from response_median) / 30 - 1) <= 0.025, abs(extract(epoch from response_p95) / 50 - 1) <= 0.025,
        abs(extract(epoch from queue_median) / 10 - 1) <= 0.025, abs(extract(epoch from run_p95) / 40 - 1) <= 0.025,
        confidence_median
    from forebay.metrics() $$,
    $$ values (true, true, true, true, 0.955) $$,
    'times are those of the same tasks, at most 2.5 % off'
);
select only_callable_by('{viewer}', $$ select forebay.metrics() $$);
select finish();
rollback;
