-- read_batch_tasks_by_confidence: anybody's batch, the least sure first.
begin;
select plan(5);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('upload', p_owner => 'ann');
    select forebay.enqueue('a', '{}', 0, 11) from generate_series(1, 3);
    select forebay.dequeue('w', p_batch_size => 3);
    select forebay.complete(101, '{}', 0.9), forebay.complete(102, '{}', 0.25)
$$);
set local role forebay_reader;
select results_eq(
    $$ select task_id from forebay.read_batch_tasks_by_confidence(11) $$, array[2, 1]::bigint[], 'as its owner sees it'
);
select results_eq(
    $$ select task_id from forebay.read_batch_tasks_by_confidence(11, 2, 1) $$, array[1]::bigint[], 'in pages too'
);
select throws_ok($$ select forebay.read_batch_tasks_by_confidence(99) $$, 'QF302', null, 'one never opened');
select throws_ok($$ select forebay.read_batch_tasks_by_confidence(null) $$, '22023', null, 'a batch is given');
select only_callable_by('{reader}', $$ select forebay.read_batch_tasks_by_confidence(11) $$);
select finish();
rollback;
