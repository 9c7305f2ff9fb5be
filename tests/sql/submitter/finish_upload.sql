-- finish_upload: from then on the file can be submitted.
begin;
select plan(16);
select stop_clock();
set local role forebay_submitter;
select given($$ select forebay.open_upload(upload(n), 'n.pdf', 'ann') from generate_series(1, 3) as n $$);
select at_time('1 minute');
select lives_ok($$ select forebay.finish_upload(upload(1), 10, 2, 300, 'ann') $$, 'with what is known of it');
select lives_ok($$ select forebay.finish_upload(upload(2), 10, null, null, 'ann') $$, 'or not known');
select at_time('2 minutes');
select lives_ok($$ select forebay.finish_upload(upload(1), 11, 3, 400, 'ann') $$, 'once more is no error');
set local role forebay_owner;
select results_eq(
    $$ select stored_at, bytes, pages, estimated_tokens from forebay.uploads order by upload_id limit 2 $$,
    $$ values (noon('2 minutes'), 11::bigint, 3, 400::bigint), (noon('1 minute'), 10, null, null) $$,
    'the last numbers hold'
);
select given($$
    select forebay.register_agent('a');
    select forebay.submit_uploads('k', array[upload(1)], 'a', 'n', 'ann');
    select forebay.drop_upload(upload(2), 'ann')
$$);
select throws_ok(
    $$ select forebay.finish_upload(upload(1), 1, 1, 1, 'ann') $$, 'QF203', null, 'one that was submitted stays as it is'
);
select throws_ok(
    $$ select forebay.finish_upload(upload(2), 1, 1, 1, 'ann') $$, 'QF306', null, 'one that was dropped meanwhile is refused'
);
select throws_like(
    $$ select forebay.finish_upload(upload(2), 1, 1, 1, 'ann') $$, '%("n.pdf") was dropped', 'and named'
);
select throws_ok($$ select forebay.finish_upload(upload(3), 1, 1, 1, 'bob') $$, 'QF306', null, 'somebody else''s');
select throws_ok($$ select forebay.finish_upload(upload(9), 1, 1, 1, 'ann') $$, 'QF306', null, 'one never opened');
select throws_ok($$ select forebay.finish_upload(upload(3), 0, 1, 1, 'ann') $$, '22023', null, 'no file is empty');
select throws_ok($$ select forebay.finish_upload(upload(3), null, 1, 1, 'ann') $$, '22023', null, 'its size is known');
select throws_ok($$ select forebay.finish_upload(upload(3), 1, -1, 1, 'ann') $$, '22023', null, 'pages count from 0');
select throws_ok($$ select forebay.finish_upload(upload(3), 1, 1, -1, 'ann') $$, '22023', null, 'so do tokens');
select throws_ok($$ select forebay.finish_upload(null, 1, 1, 1, 'ann') $$, '22023', null, 'an id is given');
select throws_ok($$ select forebay.finish_upload(upload(3), 1, 1, 1, null) $$, '22023', null, 'an actor is given');
select only_callable_by('{submitter}', $$ select forebay.finish_upload(upload(3), 1, 1, 1, 'ann') $$);
select finish();
rollback;
