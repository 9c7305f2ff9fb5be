-- cost_summary: what tasks cost together, what one costs, and how much of it is known.
begin;
select plan(17);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b');
    select forebay.register_price('ocr', p_usd_per_page => 0.01);
    select forebay.enqueue('a', '{}') from generate_series(1, 4);
    select forebay.enqueue('b', '{}', p_customer => 'acme');
    select forebay.dequeue('w', p_batch_size => 5);
    select forebay.report_usage(a.attempt_id, jsonb_build_object(
        'call_id', '1', 'model', 'm', 'input_tokens', 100, 'output_tokens', 10, 'cached_tokens', 50, 'cost_usd', u.usd
    )) from forebay.task_attempts as a
    inner join (values (1, 0.1), (2, 0.2), (3, 0.4), (4, 0.8), (5, 1.6)) as u (task_id, usd) on u.task_id = a.task_id;
    select forebay.report_usage(attempt_id, '{"call_id": "2", "model": "ocr", "pages": 12, "input_tokens": 0, "output_tokens": 0}')
    from forebay.task_attempts where task_id = 1;
    select forebay.complete(attempt_id, '{}') from forebay.task_attempts where task_id in (1, 2);
    select forebay.fail(attempt_id, '{"kind": "x", "message": "x"}', false) from forebay.task_attempts where task_id = 3;
    select forebay.fail(attempt_id, '{"kind": "x", "message": "x"}', true) from forebay.task_attempts where task_id = 4;
    select forebay.record_compute_usage(jsonb_agg(jsonb_build_object(
        'record_id', a.attempt_id::text, 'attempt_id', a.attempt_id, 'usd', a.task_id * 0.001, 'is_final', a.task_id <> 2
    )), 'billing') from forebay.task_attempts as a where a.task_id in (1, 2)
$$);
set local role forebay_viewer;
select results_eq(
    $$ select tasks, ended_attempts, priced_attempts, costed_attempts, provisional_attempts, input_tokens, output_tokens,
        cached_tokens, pages, llm_usd, compute_usd, provisional_usd from forebay.cost_summary() $$,
    $$ values (5::bigint, 4::bigint, 4::bigint, 2::bigint, 1::bigint, 500::bigint, 50::bigint, 250::bigint, 12::numeric,
        3.22, 0.003, 0.002) $$,
    'sums of what is known; pages are priced by the page'
);
select results_eq(
    $$ select llm_tasks, llm_median, llm_p95, compute_tasks, compute_median, whole_tasks, whole_median, whole_p95
    from forebay.cost_summary() $$,
    $$ values (3::bigint, 0.22, 0.4, 2::bigint, 0.001, 2::bigint, 0.202, 0.221) $$,
    'medians are of tasks that are over and whose cost is known, the lower of two in the middle'
);
select results_eq(
    $$ select tasks, llm_usd, llm_median, whole_median, is_final from forebay.cost_summary(p_statuses => '{failed}') $$,
    $$ values (1::bigint, 0.4, 0.4, null::numeric, false) $$,
    'what failed tasks cost'
);
select results_eq(
    $$ select tasks, llm_usd, is_final from forebay.cost_summary(p_agents => '{b}', p_customers => '{acme}') $$,
    $$ values (1::bigint, 1.6, false) $$,
    'what an agent did for a customer'
);
select results_eq(
    $$ select tasks, llm_usd, first_tries, retries, is_final, llm_median from forebay.cost_summary(p_from => noon('1 s')) $$,
    $$ values (0::bigint, 0::numeric, 0::bigint, 0::bigint, true, null::numeric) $$,
    'of no task there is no median'
);
select ok(not is_final, 'a provisional cost is not final') from forebay.cost_summary(p_to => noon('1 s'));
set local role forebay_owner;
select at_time('1 day');
select given($$
    select forebay.dequeue('w', '{a}', 1);
    select forebay.report_usage(attempt_id, '{"call_id": "1", "input_tokens": 1, "output_tokens": 1, "cost_usd": 0.05}')
    from forebay.task_attempts where attempt_no = 2;
    select forebay.record_compute_usage(jsonb_agg(jsonb_build_object(
        'record_id', a.attempt_id::text, 'attempt_id', a.attempt_id, 'usd', 0.01
    )), 'billing') from forebay.task_attempts as a where a.task_id <> 5
$$);
set local role forebay_viewer;
select results_eq(
    $$ select first_tries, first_llm_usd, first_compute_usd, retries, retry_llm_usd, retry_compute_usd
    from forebay.cost_summary(p_agents => '{a}') $$,
    $$ values (4::bigint, 1.62, 0.04, 1::bigint, 0.05, 0.01) $$,
    'first tries and retries apart'
);
set local role forebay_owner;
select given($$ select forebay.complete(attempt_id, '{}') from forebay.task_attempts where attempt_no = 2 $$);
set local role forebay_viewer;
select ok(is_final, 'final is what has ended, and has costs that nobody will change') from forebay.cost_summary(p_agents => '{a}');
select results_eq(
    $$ select llm_median, llm_tasks, whole_median from forebay.cost_summary(p_agents => '{a}') $$,
    $$ values (0.22, 4::bigint, 0.23) $$,
    'a task costs what all its attempts cost'
);
select results_eq(
    $$ select s.llm_usd, s.compute_usd from forebay.cost_summary() as s $$,
    $$ select sum(c.llm_usd), sum(c.compute_usd) from forebay.cost_by('try') as c $$,
    'it is what the tries add up to'
);
set local role forebay_owner;
select given($$
    select forebay.register_agent('silent');
    select forebay.enqueue('silent', '{}');
    select forebay.fail(attempt_id, '{"kind": "x", "message": "x"}', true) from forebay.dequeue('w', '{silent}')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select input_tokens, llm_usd, compute_usd, provisional_usd, first_llm_usd, first_compute_usd, retry_llm_usd,
        retry_compute_usd, is_final from forebay.cost_summary(p_agents => '{silent}') $$,
    $$ values (null::bigint, null::numeric, null::numeric, null::numeric, null::numeric, null::numeric, 0::numeric, 0::numeric,
        false) $$,
    'what never told is unknown, and what was never tried cost nothing'
);
set local role forebay_owner;
select given($$
    select forebay.register_agent('scans'), forebay.register_agent('words');
    select forebay.enqueue('scans', '{}'), forebay.enqueue('words', '{}');
    select forebay.report_usage(d.attempt_id, '{"call_id": "1", "model": "ocr"}'), forebay.complete(d.attempt_id, '{}')
    from forebay.dequeue('w', '{scans}') as d;
    select forebay.report_usage(d.attempt_id, '{"call_id": "1", "input_tokens": 7, "output_tokens": 2, "cost_usd": 0.5}'),
        forebay.complete(d.attempt_id, '{}'),
        forebay.record_compute_usage(jsonb_build_object('record_id', 'words', 'attempt_id', d.attempt_id, 'usd', 1) || '[]', 'billing'),
        forebay.record_traces(d.attempt_id, '[]')
    from forebay.dequeue('w', '{words}') as d
$$);
set local role forebay_viewer;
select results_eq(
    $$ select u.pages, p.pages from forebay.cost_summary(p_agents => '{scans}') as u, forebay.cost_summary(p_agents => '{words}') as p $$,
    $$ values (null::numeric, 0::numeric) $$,
    'pages of which nothing was told are unknown; a call that has none is of 0'
);
select ok(not is_final, 'a trace that is to be looked for again may change a known cost') from forebay.cost_summary(p_agents => '{words}');
set local role forebay_owner;
select given($$ update forebay.attempt_traces set next_look_at = null $$);
set local role forebay_viewer;
select ok(is_final, 'one that nobody looks for any more does not') from forebay.cost_summary(p_agents => '{words}');
select throws_ok($$ select forebay.cost_summary(p_statuses => '{eaten}') $$, '22023', null, 'a status is known');
select throws_ok($$ select forebay.cost_summary(p_agents => '{x}') $$, 'QF301', null, 'and so is an agent');
select only_callable_by('{viewer}', $$ select forebay.cost_summary() $$);
select finish();
rollback;
