-- explain_task: why a task waits, and until when.
begin;
select plan(15);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_concurrent_tasks => 1), forebay.register_agent('b', p_max_tpm => 6000);
    select forebay.enqueue('a', '{"secret": 1}', 9), forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}');
    select forebay.enqueue('b', '{}', p_estimated_tokens => 4000), forebay.enqueue('b', '{}',
        p_estimated_tokens => 2000);
    select forebay.enqueue('a', '{}', p_run_after => noon('1 hour'))
$$);
set local role forebay_viewer;
select results_eq($$ select reason from forebay.explain_task(1) $$, array['ready'], 'it is next');
select results_eq(
    $$ select reason, ahead from forebay.explain_task(3) $$,
    $$ values ('behind_others', 2::bigint) $$,
    'others come first'
);
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(6) $$,
    $$ values ('delayed', null::timestamptz) $$,
    'it is not due, and then others come first'
);
set local role forebay_owner;
select given($$ select forebay.dequeue('w', '{a}'), forebay.dequeue('w', '{b}') $$);
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(1) $$, $$ values ('running', noon('1 min')) $$, 'it runs'
);
select results_eq($$ select reason from forebay.explain_task(2) $$, array['full'], 'its agent is full');
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(5) $$,
    $$ values ('out_of_tokens', noon('12 s')) $$,
    'tokens are out'
);
select given($$ select forebay.pause_agent('b', noon('1 hour')) $$);
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(5) $$,
    $$ values ('paused', noon('1 hour')) $$,
    'it is paused'
);
select given($$ select forebay.complete(101, '"secret"') $$);
select results_eq($$ select reason from forebay.explain_task(1) $$, array['completed'], 'it has ended');
select given($$
    select forebay.register_agent('c', p_max_concurrent_tasks => 0), forebay.register_agent('d', p_max_rpm => 1);
    select forebay.enqueue('c', '{}'), forebay.enqueue('d', '{}'), forebay.enqueue('d', '{}');
    select forebay.dequeue('w', '{d}')
$$);
select results_eq($$ select reason from forebay.explain_task(7) $$, array['closed'], 'a limit of 0 admits nothing');
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(9) $$,
    $$ values ('out_of_requests', noon('1 min')) $$,
    'claims are out'
);
select at_time('1 min');
select results_eq($$ select reason from forebay.explain_task(8) $$, array['lease_expired'], 'its worker is silent');
select throws_ok($$ select forebay.explain_task(999) $$, 'QF303', null, 'an unknown task');
select throws_ok($$ select forebay.explain_task(null) $$, '22023', null, 'a task is given');
select only_callable_by('{viewer}', $$ select forebay.explain_task(1) $$);
select given($$ update forebay.installation set is_branch = true $$);
select results_eq($$ select reason from forebay.explain_task(2) $$, array['not_open'], 'a branch does not dispatch');
select finish();
rollback;
