-- drop_upload: a file that was given up cannot be submitted any more.
begin;
select plan(14);
select stop_clock();
set local role forebay_submitter;
select given($$
    select forebay.open_upload(upload(n), 'n.pdf', 'ann') from generate_series(1, 3) as n;
    select forebay.finish_upload(upload(n), 10, 1, 100, 'ann') from generate_series(1, 2) as n
$$);
select is(
    forebay.drop_upload(upload(1), 'ann'), 'uploads/00000000-0000-0000-0000-000000000001.pdf', 'its file is named'
);
select at_time('1 minute');
select is(
    forebay.drop_upload(upload(1), 'ann'), 'uploads/00000000-0000-0000-0000-000000000001.pdf', 'once more is no error'
);
select lives_ok($$ select forebay.drop_upload(upload(3), 'ann') $$, 'one that is not stored yet can be dropped too');
set local role forebay_owner;
select results_eq(
    $$ select dropped_at, cleaned_at from forebay.uploads order by upload_id $$,
    $$ values (noon(), null::timestamptz), (null, null), (noon('1 minute'), null) $$,
    'since when is kept'
);
select given($$
    select forebay.register_agent('a');
    select forebay.submit_uploads('k', array[upload(2)], 'a', 'n', 'ann')
$$);
select throws_ok(
    $$ select forebay.submit_uploads('l', array[upload(1)], 'a', 'n', 'ann') $$, 'QF306', null, 'it is not submitted'
);
select throws_ok(
    $$ select forebay.drop_upload(upload(2), 'ann') $$, 'QF203', null, 'one that was submitted cannot be dropped'
);
select throws_ok($$ select forebay.drop_upload(upload(1), 'bob') $$, 'QF306', null, 'somebody else''s does not exist');
select throws_ok($$ select forebay.drop_upload(upload(9), 'ann') $$, 'QF306', null, 'nor does one never opened');
select throws_ok($$ select forebay.drop_upload(null, 'ann') $$, '22023', null, 'an id is given');
select throws_ok($$ select forebay.drop_upload(upload(1), null) $$, '22023', null, 'an actor is given');
set local role forebay_owner;
select given($$
    select forebay.open_upload(upload(4), 'n.pdf', 'ann');
    update forebay.installation set home = '1'
$$);
set local role forebay_submitter;
select throws_ok(
    $$ select forebay.drop_upload(upload(4), 'ann') $$, 'QF401',
    'this database is a copy that nobody has opened: it neither takes nor removes files', 'a copy removes no file'
);
set local role forebay_owner;
select is_empty($$ select from forebay.uploads where upload_id = upload(4) and dropped_at is not null $$, 'nor drops it');
select given($$ select forebay.open_installation() $$);
select lives_ok($$ select forebay.drop_upload(upload(4), 'ann') $$, 'one that took over does');
select only_callable_by('{submitter}', $$ select forebay.drop_upload(upload(1), 'ann') $$);
select finish();
rollback;
