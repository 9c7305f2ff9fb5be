-- batch_tasks: the batch's owner sees its tasks; to anybody else the batch does not exist.
begin;
select plan(9);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('upload', p_owner => 'ann'), forebay.open_batch('nobody''s');
    select forebay.enqueue('a', '{"n": 1}', 10, 11), forebay.enqueue('a', '{"n": 2}', 5, 11), forebay.enqueue('a',
        '{}', 0, 12);
    select forebay.enqueue('a', '{"n": 3}', 0, 11);
    select forebay.dequeue('w', p_batch_size => 2);
    select forebay.report_progress(101, 3, 10);
    select forebay.fail(102, '{"kind": "bad_input", "message": "no pages"}', false)
$$);
set local role forebay_submitter;
select results_eq(
    $$ select * from forebay.batch_tasks(11, 'ann') $$,
    $$ values
        (1::bigint, 'a', 'processing', 10, '{"n": 1}'::jsonb, 1, 3, 10, null::numeric, null::jsonb, noon(),
            null::timestamptz),
        (2, 'a', 'failed', 5, '{"n": 2}', 1, null, null, null, '{"kind": "bad_input", "message": "no pages"}',
            noon(), noon()),
        (4, 'a', 'enqueued', 0, '{"n": 3}', 0, null, null, null, null, noon(), null) $$,
    'one row a task, by id, with its progress and its error'
);
select throws_ok($$ select forebay.batch_tasks(11, 'bob') $$, 'QF302', null, 'somebody else''s batch does not exist');
select throws_ok($$ select forebay.batch_tasks(999, 'ann') $$, 'QF302', null, 'nor does one that was never opened');
select throws_like($$ select forebay.batch_tasks(11, 'bob') $$, 'batch 11 does not exist', 'both in');
select throws_like($$ select forebay.batch_tasks(999, 'ann') $$, 'batch 999 does not exist', 'the same words');
select throws_ok($$ select forebay.batch_tasks(12, 'ann') $$, 'QF302', null, 'a batch without an owner is nobody''s');
select throws_ok($$ select forebay.batch_tasks(null, 'ann') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.batch_tasks(12, null) $$, '22023', null, 'an actor is given');
select only_callable_by('{submitter}', $$ select forebay.batch_tasks(11, 'ann') $$);
select finish();
rollback;
