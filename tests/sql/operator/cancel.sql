-- cancel: a task ends at once, waiting or running; what has ended, or never was, is reported and no error.
begin;
select plan(7);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}', 9), forebay.enqueue('a', '{}', 8), forebay.enqueue('a', '{}');
    select forebay.dequeue('w', p_batch_size => 2);
    select forebay.complete(101, '1')
$$);
set local role forebay_operator;
select results_eq(
    $$ select * from forebay.cancel('{3, 1, 2, 2, 999, null}', 'wrong', 'ann') $$,
    $$ values (1::bigint, 'completed', 'none'), (2, 'cancelled', 'cancelled'), (3, 'cancelled', 'cancelled'),
        (999, null, 'unknown') $$,
    'one row a distinct id'
);
set local role forebay_owner;
select results_eq(
    $$ select status, finished_at, attempt_id from forebay.tasks where task_id > 1 order by task_id $$,
    $$ values ('cancelled', noon(), null::bigint), ('cancelled', noon(), null) $$,
    'the task ends at once'
);
select results_eq(
    $$ select state from forebay.renew_leases('w', '{102}') $$, array['cancel_requested'], 'its worker is told'
);
select results_eq(
    $$ select task_id, session_role, actor, reason from forebay.audit_log where action = 'cancel' order by task_id $$,
    $$ values (2::bigint, 'test_pgtap', 'ann', 'wrong'), (3, 'test_pgtap', 'ann', 'wrong') $$,
    'the log says who and why'
);
select throws_ok($$ select forebay.cancel(null) $$, '22023', null, 'ids are given');
select is_empty($$ select forebay.cancel('{}') $$, 'no ids, no rows');
select only_callable_by('{operator}', $$ select forebay.cancel('{1}') $$);
select finish();
rollback;
