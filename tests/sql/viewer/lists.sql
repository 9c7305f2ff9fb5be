-- task_counts, list_tasks, batch_progress and agent_status: what there is, counted and paged.
begin;
select plan(17);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b', p_max_concurrent_tasks => 1);
    select forebay.open_batch('upload', 'acme', 'ann');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11), forebay.enqueue('b', '{}',
        p_customer => 'c');
    select forebay.dequeue('w');
    select forebay.complete(101, '1')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select * from forebay.task_counts() $$,
    $$ values ('enqueued', 2::bigint), ('processing', 0), ('completed', 1), ('failed', 0), ('cancelled', 0) $$,
    'one row a status, also for none'
);
select results_eq(
    $$ select * from forebay.task_counts(noon(), noon('1 s'), '{enqueued}', '{a}', '{acme}') $$,
    $$ values ('enqueued', 1::bigint) $$,
    'the filters all hold'
);
select results_eq(
    $$ select sum(tasks) from forebay.task_counts(p_to => noon()) $$, array[0::numeric], 'p_to is not included'
);
select results_eq($$ select task_id from forebay.list_tasks() $$, array[3, 2, 1]::bigint[], 'the newest first');
select results_eq(
    $$ select task_id from forebay.list_tasks(p_before_task_id => 3, p_limit => 1) $$,
    array[2]::bigint[],
    'a page at a time'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_batch_id => 11) $$, array[2, 1]::bigint[], 'or those of a batch'
);
select results_eq(
    $$ select name, customer, owner, tasks, enqueued, completed, finished_at from forebay.batch_progress(11) $$,
    $$ values ('upload', 'acme', 'ann', 2::bigint, 1::bigint, 1::bigint, null::timestamptz) $$,
    'a batch is counted by status'
);
select results_eq(
    $$ select agent, state, waiting, in_use from forebay.agent_status() $$,
    $$ values ('a', 'open', 1::bigint, 0::bigint), ('b', 'open', 1, 0) $$,
    'an agent says what waits'
);
select throws_ok($$ select forebay.task_counts(p_statuses => '{eaten}') $$, '22023', null, 'a status is known');
select throws_ok($$ select forebay.list_tasks(p_limit => 0) $$, '22023', null, 'a page is not empty');
select throws_ok($$ select forebay.batch_progress(null) $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.batch_progress(99) $$, 'QF302', null, 'and is there');
select throws_ok($$ select forebay.agent_status('{nobody}') $$, 'QF301', null, 'so is an agent');
select only_callable_by('{viewer}', $$ select forebay.task_counts() $$);
select only_callable_by('{viewer}', $$ select forebay.list_tasks() $$);
select only_callable_by('{viewer}', $$ select forebay.batch_progress(11) $$);
select only_callable_by('{viewer}', $$ select forebay.agent_status() $$);
select finish();
rollback;
