-- open_batch: a batch gives its tasks a customer and an owner.
begin;
select plan(18);
select stop_clock();
set local role forebay_submitter;
select is(forebay.open_batch('upload'), 11::bigint, 'a name is enough');
select is(
    forebay.open_batch('more', 'acme', 'ann', '{"files": 3}'),
    12::bigint,
    'customer, owner and metadata are kept'
);
set local role forebay_owner;
select results_eq(
    $$ select name, customer, owner, metadata, created_at from forebay.batches order by batch_id $$,
    $$ values ('upload', null, null, '{}'::jsonb, noon()), ('more', 'acme', 'ann', '{"files": 3}', noon()) $$,
    'as they were given'
);
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}', p_batch_id => 12), forebay.enqueue('a', '{}', p_batch_id => 11,
        p_customer => 'own');
    select forebay.enqueue('a', '{}', p_batch_id => 12, p_customer => 'acme')
$$);
select results_eq(
    $$ select batch_id, customer from forebay.tasks order by task_id $$,
    $$ values (12::bigint, 'acme'), (11, 'own'), (12, 'acme') $$,
    'its tasks take its customer, or keep their own where it has none'
);
select results_eq(
    $$ select owner from forebay.task_detail(1) $$, array['ann'], 'and its owner'
);
select throws_ok(
    $$ select forebay.enqueue('a', '{}', p_batch_id => 12, p_customer => 'other') $$,
    '22023', null, 'a task of another customer does not belong in it'
);
select lives_ok($$ select forebay.open_batch(repeat('n', 500)) $$, 'a name has 500 characters at most');
select throws_ok($$ select forebay.open_batch(repeat('n', 501)) $$, '22023', null, 'and not one more');
select throws_ok($$ select forebay.open_batch('') $$, '22023', null, 'a name is not empty');
select throws_ok($$ select forebay.open_batch(null) $$, '22023', null, 'nor null');
select throws_ok($$ select forebay.open_batch('n', p_customer => '') $$, '22023', null, 'a customer is not empty');
select throws_ok($$ select forebay.open_batch('n', repeat('c', 201)) $$, '22023', null, 'nor over-long');
select throws_ok($$ select forebay.open_batch('n', p_owner => '') $$, '22023', null, 'an owner is not empty');
select throws_ok($$ select forebay.open_batch('n', p_owner => repeat('o', 201)) $$, '22023', null, 'nor over-long');
select throws_ok($$ select forebay.open_batch('n', p_metadata => '[]') $$, '22023', null, 'metadata is an object');
select throws_ok($$ select forebay.open_batch('n', p_metadata => null) $$, '22023', null, 'and not null');
select throws_ok(
    $$ select forebay.open_batch('n', p_metadata => jsonb_build_object('x', repeat('x', 1048576))) $$,
    'QF402', null, 'metadata is not too large'
);
select only_callable_by('{submitter}', $$ select forebay.open_batch('upload') $$);
select finish();
rollback;
