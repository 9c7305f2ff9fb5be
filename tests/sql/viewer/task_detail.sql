-- task_detail: everything about a task but payload and result.
begin;
select plan(5);
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
select throws_ok($$ select forebay.task_detail(999) $$, 'QF303', null, 'an unknown task has no detail');
select throws_ok($$ select forebay.task_detail(null) $$, '22023', null, 'nor has none');
select only_callable_by('{viewer}', $$ select forebay.task_detail(1) $$);
select finish();
rollback;
