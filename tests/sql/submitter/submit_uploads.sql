-- submit_uploads: uploads become one batch, all or none, and once however often it is said.
begin;
select plan(30);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.register_agent('short', p_max_waiting => 1);
    select forebay.open_upload(upload(n), n || '.pdf', 'ann') from generate_series(1, 8) as n;
    select forebay.open_upload(upload(9), '9.pdf', 'bob');
    select forebay.finish_upload(upload(9), 10, 1, 100, 'bob');
    select forebay.finish_upload(upload(n), 10, 1, n * 100, 'ann') from generate_series(1, 6) as n;
    select forebay.finish_upload(upload(7), 10, null, null, 'ann');
    select forebay.drop_upload(upload(6), 'ann')
$$);
set local role forebay_submitter;
select is(
    forebay.submit_uploads('k', array[upload(7), upload(1), upload(7), null, upload(2)], 'a', 'october', 'ann', 'acme', 10),
    11::bigint,
    'one batch, each upload once'
);
select is(
    forebay.submit_uploads('k', array[upload(1), upload(2), upload(7)], 'other', 'other', 'ann'),
    11::bigint,
    'the same submission again, in any order, is that batch'
);
set local role forebay_owner;
select results_eq(
    $$ select name, owner, customer, submission_key from forebay.batches $$,
    $$ values ('october', 'ann', 'acme', 'k') $$,
    'the batch is the person''s'
);
select results_eq(
    $$ select task_id, agent, priority, batch_id, customer, idempotency_key, payload, estimated_tokens from forebay.tasks
    order by task_id $$,
    $$ values
        (1::bigint, 'a', 10::smallint, 11::bigint, 'acme', upload(7)::text,
            '{"document": "uploads/00000000-0000-0000-0000-000000000007.pdf", "name": "7.pdf"}'::jsonb, null::bigint),
        (2, 'a', 10::smallint, 11, 'acme', upload(1)::text,
            '{"document": "uploads/00000000-0000-0000-0000-000000000001.pdf", "name": "1.pdf"}', 100),
        (3, 'a', 10::smallint, 11, 'acme', upload(2)::text,
            '{"document": "uploads/00000000-0000-0000-0000-000000000002.pdf", "name": "2.pdf"}', 200) $$,
    'its tasks are in the order given'
);
select results_eq(
    $$ select upload_id, task_id from forebay.uploads where task_id is not null order by task_id $$,
    $$ values (upload(7), 1::bigint), (upload(1), 2), (upload(2), 3) $$,
    'each upload knows its task'
);
set local role forebay_submitter;
select throws_ok(
    $$ select forebay.submit_uploads('k', array[upload(1), upload(2)], 'a', 'n', 'ann') $$,
    'QF201', null, 'the key is not used for fewer uploads'
);
select throws_ok(
    $$ select forebay.submit_uploads('k', array[upload(1), upload(2), upload(7), upload(3)], 'a', 'n', 'ann') $$,
    'QF201', null, 'nor for more'
);
select throws_ok(
    $$ select forebay.submit_uploads('l', array[upload(3), upload(1)], 'a', 'n', 'ann') $$,
    'QF203', null, 'an upload is in one batch only'
);
select throws_like(
    $$ select forebay.submit_uploads('l', array[upload(3), upload(1)], 'a', 'n', 'ann') $$,
    'upload 00000000-0000-0000-0000-000000000001 ("1.pdf") was submitted before, as task 2', 'and named'
);
select throws_ok(
    $$ select forebay.submit_uploads('l', array[upload(3), upload(6)], 'a', 'n', 'ann') $$,
    'QF306', null, 'one that was dropped is gone'
);
select throws_like(
    $$ select forebay.submit_uploads('l', array[upload(3), upload(6)], 'a', 'n', 'ann') $$,
    '%("6.pdf") was dropped', 'and named'
);
select throws_ok(
    $$ select forebay.submit_uploads('l', array[upload(3), upload(8)], 'a', 'n', 'ann') $$,
    'QF306', null, 'one that is not stored cannot be submitted'
);
select throws_ok(
    $$ select forebay.submit_uploads('l', array[upload(3), upload(9)], 'a', 'n', 'ann') $$,
    'QF306', null, 'somebody else''s does not exist'
);
select throws_like(
    $$ select forebay.submit_uploads('l', array[upload(3), upload(99)], 'a', 'n', 'ann') $$,
    'upload 00000000-0000-0000-0000-000000000099 does not exist', 'nor does one never opened'
);
select throws_ok(
    $$ select forebay.submit_uploads('l', array[upload(3)], 'none', 'n', 'ann') $$, 'QF301', null, 'an agent exists'
);
select throws_ok(
    $$ select forebay.submit_uploads('l', array[upload(3), upload(4)], 'short', 'n', 'ann') $$,
    'QF403', null, 'a line that is full takes none'
);
set local role forebay_owner;
select results_eq(
    $$ select (select count(*) from forebay.batches), (select count(*) from forebay.tasks),
        (select count(*) from forebay.uploads where task_id is not null) $$,
    $$ values (1::bigint, 3::bigint, 3::bigint) $$,
    'of all these nothing is half-done'
);
set local role forebay_submitter;
select lives_ok(
    $$ select forebay.submit_uploads('l', array[upload(3)], 'short', 'n', 'ann') $$, 'a key that failed can be used'
);
select lives_ok(
    $$ select forebay.submit_uploads('k', array[upload(9)], 'a', 'n', 'bob') $$, 'a key is a person''s own'
);
select throws_ok(
    $$ select forebay.submit_uploads('m', array[upload(4)], 'a', 'n', 'ann', p_priority => 40000) $$,
    '22023', null, 'a priority is a smallint'
);
select throws_ok($$ select forebay.submit_uploads('m', '{}', 'a', 'n', 'ann') $$, '22023', null, 'there is an upload');
select throws_ok($$ select forebay.submit_uploads('m', null, 'a', 'n', 'ann') $$, '22023', null, 'not null');
select throws_ok(
    $$ select forebay.submit_uploads('m', array(select upload(n) from generate_series(1, 10001) as n), 'a', 'n', 'ann') $$,
    '22023', null, 'and not too many'
);
select throws_ok($$ select forebay.submit_uploads('', array[upload(4)], 'a', 'n', 'ann') $$, '22023', null, 'a key');
select throws_ok($$ select forebay.submit_uploads(null, array[upload(4)], 'a', 'n', 'ann') $$, '22023', null, 'not null');
select throws_ok(
    $$ select forebay.submit_uploads(repeat('k', 201), array[upload(4)], 'a', 'n', 'ann') $$, '22023', null, 'nor long'
);
select throws_ok($$ select forebay.submit_uploads('m', array[upload(4)], 'a', '', 'ann') $$, '22023', null, 'a name');
select throws_ok($$ select forebay.submit_uploads('m', array[upload(4)], 'a', 'n', null) $$, '22023', null, 'an actor');
select throws_ok($$ select forebay.submit_uploads('m', array[upload(4)], null, 'n', 'ann') $$, '22023', null, 'an agent');
select only_callable_by('{submitter}', $$ select forebay.submit_uploads('m', array[upload(4)], 'a', 'n', 'ann') $$);
select finish();
rollback;
