-- read_batch_outlook: a reader is told how far anybody's batch has come as its owner is.
begin;
select plan(4);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('upload', p_owner => 'ann');
    select forebay.enqueue('a', '{}', 0, 11) from generate_series(1, 3) as n;
    select forebay.dequeue('w');
    select at_time('1 minute');
    select forebay.complete(101, '{}', 0.5)
$$);
create temporary table owned as
select * from forebay.batch_outlook(11, 'ann');
grant select on owned to forebay_reader;
set local role forebay_reader;
select results_eq(
    $$ select * from forebay.read_batch_outlook(11) $$, $$ select * from owned $$, 'the same row'
);
select throws_ok($$ select forebay.read_batch_outlook(99) $$, 'QF302', null, 'one never opened');
select throws_ok($$ select forebay.read_batch_outlook(null) $$, '22023', null, 'a batch is given');
select only_callable_by('{reader}', $$ select forebay.read_batch_outlook(11) $$);
select finish();
rollback;
