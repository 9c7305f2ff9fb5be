-- cancel_batch: the batch's owner cancels what is left of it, and nothing else.
begin;
select plan(11);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('upload', p_owner => 'ann'), forebay.open_batch('nobody''s');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11), forebay.enqueue('a', '{}', 7, 12);
    select forebay.enqueue('a', '{}', 0, 11);
    select forebay.dequeue('w', p_batch_size => 3);
    select forebay.complete(101, '{}')
$$);
select throws_ok($$ select forebay.cancel_batch(11, 'bob') $$, 'QF302', null, 'somebody else''s batch does not exist');
select results_eq($$ select count(*) from forebay.tasks where status = 'cancelled' $$, array[0]::bigint[], 'and stays');
set local role forebay_submitter;
select results_eq(
    $$ select * from forebay.cancel_batch(11, 'ann', 'wrong folder') $$,
    $$ values (1::bigint, 'completed', 'none'), (2, 'cancelled', 'cancelled'), (4, 'cancelled', 'cancelled') $$,
    'one row a task of the batch, by id'
);
set local role forebay_owner;
select results_eq($$ select status from forebay.tasks where task_id = 3 $$, array['processing'], 'other batches go on');
select results_eq(
    $$ select action, task_id, actor, reason, session_role from forebay.audit_log where action = 'cancel'
    order by task_id $$,
    $$ values ('cancel', 2::bigint, 'ann', 'wrong folder', 'test_pgtap'), ('cancel', 4, 'ann', 'wrong folder',
        'test_pgtap') $$,
    'the log says who did it and why'
);
select throws_ok($$ select forebay.cancel_batch(12, 'ann') $$, 'QF302', null, 'a batch without an owner is nobody''s');
select throws_ok($$ select forebay.cancel_batch(999, 'ann') $$, 'QF302', null, 'a batch that is not there');
select throws_ok($$ select forebay.cancel_batch(null, 'ann') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.cancel_batch(11, null) $$, '22023', null, 'an actor is given');
select lives_ok($$ select forebay.cancel_batch(11, 'ann') $$, 'a second time changes nothing');
select only_callable_by('{submitter}', $$ select forebay.cancel_batch(11, 'ann') $$);
select finish();
rollback;
