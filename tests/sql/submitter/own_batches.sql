-- own_batches: a person's batches, and nobody else's.
begin;
select plan(11);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('one', 'acme', 'ann'), forebay.open_batch('two', p_owner => 'bob');
    select forebay.open_batch('three', p_owner => 'ann'), forebay.open_batch('nobody''s');
    select forebay.enqueue('a', '{}', 0, 11), forebay.enqueue('a', '{}', 0, 11);
    select forebay.dequeue('w');
    select forebay.complete(101, '{}')
$$);
set local role forebay_submitter;
select results_eq(
    $$ select batch_id, name, customer, owner, tasks, enqueued, completed, finished_at from forebay.own_batches('ann') $$,
    $$ values (13::bigint, 'three', null, 'ann', 0::bigint, 0::bigint, 0::bigint, null::timestamptz),
        (11, 'one', 'acme', 'ann', 2, 1, 1, null) $$,
    'the newest first, with its counts'
);
select results_eq(
    $$ select batch_id from forebay.own_batches('ann', p_limit => 1) $$, array[13]::bigint[], 'a page'
);
select results_eq(
    $$ select batch_id from forebay.own_batches('ann', 13) $$, array[11]::bigint[], 'and the next one'
);
set local role forebay_owner;
select given($$ select forebay.open_batch('four', p_owner => 'Ann'), forebay.open_batch('five', p_owner => 'ANN B') $$);
set local role forebay_submitter;
select results_eq(
    $$ select batch_id, owner from forebay.own_batches('aNN') $$,
    $$ values (15::bigint, 'Ann'), (13, 'ann'), (11, 'ann') $$,
    'of whatever case the name is, and was'
);
select results_eq(
    $$ select batch_id from forebay.own_batches('aNN', 15, 1) $$, array[13]::bigint[], 'in pages too'
);
select is_empty($$ select forebay.own_batches('eve') $$, 'nothing for somebody who submitted nothing');
select throws_ok($$ select forebay.own_batches(null) $$, '22023', null, 'an actor is given');
select throws_ok($$ select forebay.own_batches('ann', p_limit => 0) $$, '22023', null, 'a limit from 1');
select throws_ok($$ select forebay.own_batches('ann', p_limit => 1001) $$, '22023', null, 'to 1,000');
select throws_ok($$ select forebay.own_batches('ann', p_limit => null) $$, '22023', null, 'and not null');
select only_callable_by('{submitter}', $$ select forebay.own_batches('ann') $$);
select finish();
rollback;
