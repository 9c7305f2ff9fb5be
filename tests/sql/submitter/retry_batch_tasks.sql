-- retry_batch_tasks: the batch's owner puts back what failed, what was cancelled, or one task alone.
begin;
select plan(12);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_attempts => 1);
    select forebay.open_batch('upload', p_owner => 'ann'), forebay.open_batch('hers', p_owner => 'bea');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11), forebay.enqueue('a', '{}', 7, 12);
    select forebay.enqueue('a', '{}', 0, 11), forebay.enqueue('a', '{}', 0, 11);
    select forebay.dequeue('w', p_batch_size => 3);
    select forebay.fail(101, '{}'), forebay.fail(102, '{}'), forebay.fail(103, '{}');
    select forebay.cancel('{4,5}')
$$);
set local role forebay_submitter;
select results_eq(
    $$ select * from forebay.retry_batch_tasks(11, 'ann', p_task_ids => '{2,3,999}', p_reason => 'again') $$,
    $$ values (2::bigint, 'enqueued', 'retried') $$,
    'one alone; a task of somebody else''s batch is not touched'
);
select results_eq(
    $$ select * from forebay.retry_batch_tasks(11, 'ann', '{failed}', p_reason => 'again') $$,
    $$ values (1::bigint, 'enqueued', 'retried') $$,
    'what failed: what was cancelled stays so'
);
select is_empty(
    $$ select * from forebay.retry_batch_tasks(11, 'ann', '{failed}', '{4}') $$, 'both have to be met'
);
select results_eq(
    $$ select * from forebay.retry_batch_tasks(11, 'ann', '{cancelled}', '{4}') $$,
    $$ values (4::bigint, 'enqueued', 'retried') $$,
    'one that was cancelled'
);
select results_eq(
    $$ select task_id, effect from forebay.retry_batch_tasks(11, 'ann') $$,
    $$ values (1::bigint, 'none'), (2, 'none'), (4, 'none'), (5, 'retried') $$,
    'without either it is retry_batch'
);
set local role forebay_owner;
select results_eq($$ select status from forebay.tasks where task_id = 3 $$, array['failed'], 'other batches stay');
select results_eq(
    $$ select task_id, actor from forebay.audit_log where action = 'retry' and reason = 'again' order by task_id $$,
    $$ values (1::bigint, 'ann'), (2, 'ann') $$,
    'the log says who did it and why'
);
select throws_ok($$ select forebay.retry_batch_tasks(11, 'bea') $$, 'QF302', null, 'somebody else''s batch does not exist');
select throws_ok($$ select forebay.retry_batch_tasks(null, 'ann') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.retry_batch_tasks(11, null) $$, '22023', null, 'an actor is given');
select throws_ok($$ select forebay.retry_batch_tasks(11, 'ann', '{lost}') $$, '22023', null, 'a status is one of a task');
select only_callable_by('{submitter}', $$ select forebay.retry_batch_tasks(11, 'ann') $$);
select finish();
rollback;
