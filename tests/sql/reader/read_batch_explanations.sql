-- read_batch_explanations: a reader is told why tasks of anybody's batch wait as its owner is.
begin;
select plan(5);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_concurrent_tasks => 1);
    select forebay.open_batch('upload', p_owner => 'ann');
    select forebay.enqueue('a', '{}', 0, 11) from generate_series(1, 3) as n;
    select forebay.dequeue('w')
$$);
create temporary table owned as
select * from forebay.batch_explanations(11, 'ann', '{1, 2, 3}');
grant select on owned to forebay_reader;
set local role forebay_reader;
select results_eq(
    $$ select * from forebay.read_batch_explanations(11, '{1, 2, 3}') $$, $$ select * from owned $$, 'the same rows'
);
select throws_ok($$ select forebay.read_batch_explanations(99, '{2}') $$, 'QF302', null, 'one never opened');
select throws_ok($$ select forebay.read_batch_explanations(null, '{2}') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.read_batch_explanations(11, null) $$, '22023', null, 'tasks are given');
select only_callable_by('{reader}', $$ select forebay.read_batch_explanations(11, '{2}') $$);
select finish();
rollback;
