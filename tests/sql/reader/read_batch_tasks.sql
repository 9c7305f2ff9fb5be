-- read_batch_tasks: a reader sees the tasks of anybody's batch as its owner does.
begin;
select plan(8);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('upload', p_owner => 'ann'), forebay.open_batch('nobody''s');
    select forebay.enqueue('a', '{}', 0, 11 + n % 2) from generate_series(1, 6) as n;
    select forebay.dequeue('w', p_batch_size => 2);
    select forebay.complete(102, '{}')
$$);
create temporary table owned as
select * from forebay.batch_tasks(11, 'ann');
grant select on owned to forebay_reader;
set local role forebay_reader;
select results_eq(
    $$ select * from forebay.read_batch_tasks(11) $$, $$ select * from owned $$, 'the same rows'
);
select results_eq(
    $$ select task_id from forebay.read_batch_tasks(12, '{enqueued}', 1, 1) $$, array[3]::bigint[], 'paged alike'
);
select throws_ok($$ select forebay.read_batch_tasks(99) $$, 'QF302', null, 'one never opened');
select throws_ok($$ select forebay.read_batch_tasks(null) $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.read_batch_tasks(11, '{lost}') $$, '22023', null, 'a status is one of the five');
select throws_ok($$ select forebay.read_batch_tasks(11, p_limit => 0) $$, '22023', null, 'a limit from 1');
select throws_ok($$ select forebay.read_batch_tasks(11, p_limit => null) $$, '22023', null, 'and not null');
select only_callable_by('{reader}', $$ select forebay.read_batch_tasks(11) $$);
select finish();
rollback;
