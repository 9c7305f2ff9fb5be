-- batch_tasks_by_confidence: what was found in one's own batch, the least sure first.
begin;
select plan(13);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('upload', p_owner => 'ann'), forebay.open_batch('other', p_owner => 'ann');
    select forebay.enqueue('a', '{}', 0, 11) from generate_series(1, 7);
    select forebay.enqueue('a', '{}', 0, 12);
    select forebay.dequeue('w', p_batch_size => 6);
    select forebay.complete(101, '{"fields": {"total": "1.00"}}', 0.9), forebay.complete(102, '{}'),
        forebay.complete(103, '{}', 0.25), forebay.complete(104, '{}', 0.9), forebay.complete(105, '{}', 0);
    select forebay.fail(106, '{"kind": "bad_input"}', false)
$$);
set local role forebay_submitter;
select results_eq(
    $$ select task_id, confidence from forebay.batch_tasks_by_confidence(11, 'ann') $$,
    $$ values (5::bigint, 0::numeric), (3, 0.25), (1, 0.9), (4, 0.9), (2, null) $$,
    'those that are completed, the least sure first, and those of which nobody knows last'
);
select results_eq(
    $$ select * from forebay.batch_tasks_by_confidence(11, 'ann') order by task_id $$,
    $$ select * from forebay.batch_tasks(11, 'ann', '{completed}') $$,
    'each as batch_tasks has it'
);
select results_eq(
    $$ select task_id from forebay.batch_tasks_by_confidence(11, 'ann', 3, 1) $$, array[1]::bigint[], 'a page after one'
);
select results_eq(
    $$ select task_id from forebay.batch_tasks_by_confidence(11, 'ann', 1) $$, array[4, 2]::bigint[],
    'also after one that is as sure as the next'
);
select is_empty($$ select forebay.batch_tasks_by_confidence(11, 'ann', 2) $$, 'and nothing after the last one');
select throws_ok(
    $$ select forebay.batch_tasks_by_confidence(11, 'ann', 6) $$, 'QF303', null, 'what failed has no place to go on from'
);
select throws_ok(
    $$ select forebay.batch_tasks_by_confidence(12, 'ann', 1) $$, 'QF303', null, 'nor has a task of another batch'
);
select throws_ok($$ select forebay.batch_tasks_by_confidence(11, 'ann', 99) $$, 'QF303', null, 'nor one that is not there');
select throws_ok($$ select forebay.batch_tasks_by_confidence(11, 'bob') $$, 'QF302', null, 'somebody else''s batch');
select throws_ok($$ select forebay.batch_tasks_by_confidence(null, 'ann') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.batch_tasks_by_confidence(11, null) $$, '22023', null, 'an actor is given');
select throws_ok(
    $$ select forebay.batch_tasks_by_confidence(11, 'ann', p_limit => 0) $$, '22023', null, 'a limit from 1'
);
select only_callable_by('{submitter}', $$ select forebay.batch_tasks_by_confidence(11, 'ann') $$);
select finish();
rollback;
