-- retry_batch: the batch's owner puts its failed and cancelled tasks back in line, and nothing else.
begin;
select plan(10);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_attempts => 1);
    select forebay.open_batch('upload', p_owner => 'ann'), forebay.open_batch('nobody''s');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11), forebay.enqueue('a', '{}', 7, 12);
    select forebay.enqueue('a', '{}', 0, 11), forebay.enqueue('a', '{}', 0, 11);
    select forebay.dequeue('w', p_batch_size => 3);
    select forebay.complete(101, '{}'), forebay.fail(102, '{}'), forebay.fail(103, '{}');
    select forebay.cancel('{4}')
$$);
select throws_ok($$ select forebay.retry_batch(11, 'bob') $$, 'QF302', null, 'somebody else''s batch does not exist');
set local role forebay_submitter;
select results_eq(
    $$ select * from forebay.retry_batch(11, 'ann', 'again') $$,
    $$ values (1::bigint, 'completed', 'none'), (2, 'enqueued', 'retried'), (4, 'enqueued', 'retried'),
        (5, 'enqueued', 'none') $$,
    'one row a task of the batch, by id'
);
set local role forebay_owner;
select results_eq($$ select status from forebay.tasks where task_id = 3 $$, array['failed'], 'other batches stay');
select results_eq(
    $$ select task_id, priority, attempt_count, attempt_no from forebay.tasks where task_id in (2, 4)
    order by task_id $$,
    $$ values (2::bigint, 8::smallint, 0, 1), (4, 0::smallint, 0, 0) $$,
    'with fresh attempts and their own priority'
);
select results_eq(
    $$ select task_id, actor, reason from forebay.audit_log where action = 'retry' order by task_id $$,
    $$ values (2::bigint, 'ann', 'again'), (4, 'ann', 'again') $$,
    'the log says who did it and why'
);
select throws_ok($$ select forebay.retry_batch(12, 'ann') $$, 'QF302', null, 'a batch without an owner is nobody''s');
select throws_ok($$ select forebay.retry_batch(999, 'ann') $$, 'QF302', null, 'a batch that is not there');
select throws_ok($$ select forebay.retry_batch(null, 'ann') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.retry_batch(11, null) $$, '22023', null, 'an actor is given');
select only_callable_by('{submitter}', $$ select forebay.retry_batch(11, 'ann') $$);
select finish();
rollback;
