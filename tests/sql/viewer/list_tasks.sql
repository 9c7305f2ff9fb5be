-- list_tasks: the newest first, a page at a time.
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
select results_eq($$ select task_id from forebay.list_tasks() $$, array[3, 2, 1]::bigint[], 'the newest first');
select results_eq(
    $$ select task_id from forebay.list_tasks(p_before_task_id => 3, p_limit => 1) $$,
    array[2]::bigint[],
    'a page at a time'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_batch_id => 11) $$, array[2, 1]::bigint[], 'or those of a batch'
);
select throws_ok($$ select forebay.list_tasks(p_limit => 0) $$, '22023', null, 'a page is not empty');
select only_callable_by('{viewer}', $$ select forebay.list_tasks() $$);
select finish();
rollback;
