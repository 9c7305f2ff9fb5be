-- task_counts: how many tasks have each status, also none.
begin;
select plan(5);
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
select throws_ok($$ select forebay.task_counts(p_statuses => '{eaten}') $$, '22023', null, 'a status is known');
select only_callable_by('{viewer}', $$ select forebay.task_counts() $$);
select finish();
rollback;
