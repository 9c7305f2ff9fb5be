-- batch_progress: how far a batch has come.
begin;
select plan(4);
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
    $$ select name, customer, owner, tasks, enqueued, completed, finished_at from forebay.batch_progress(11) $$,
    $$ values ('upload', 'acme', 'ann', 2::bigint, 1::bigint, 1::bigint, null::timestamptz) $$,
    'a batch is counted by status'
);
select throws_ok($$ select forebay.batch_progress(null) $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.batch_progress(99) $$, 'QF302', null, 'and is there');
select only_callable_by('{viewer}', $$ select forebay.batch_progress(11) $$);
select finish();
rollback;
