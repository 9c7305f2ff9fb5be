-- open_upload: a file is known, under a name of ours, before its first byte; the person's name of it is data.
begin;
select plan(22);
select stop_clock();
set local role forebay_submitter;
select is(
    forebay.open_upload(upload(1), 'a/../b "c" 請求書 📄 %.pdf', 'ann'),
    'uploads/00000000-0000-0000-0000-000000000001.pdf',
    'the stored name is made of the id alone'
);
select is(
    forebay.open_upload(upload(2), 'a/../b "c" 請求書 📄 %.pdf', 'ann'),
    'uploads/00000000-0000-0000-0000-000000000002.pdf',
    'the same name twice is two files'
);
set local role forebay_owner;
select results_eq(
    $$ select owner, name, opened_at, stored_at from forebay.uploads order by upload_id $$,
    $$ values ('ann', 'a/../b "c" 請求書 📄 %.pdf', noon(), null::timestamptz), ('ann', 'a/../b "c" 請求書 📄 %.pdf', noon(), null) $$,
    'the person''s name is kept whole'
);
select at_time('1 minute');
select given($$ select forebay.finish_upload(upload(1), 10, 1, 100, 'ann') $$);
set local role forebay_submitter;
select is(
    forebay.open_upload(upload(1), 'again.pdf', 'ann'),
    'uploads/00000000-0000-0000-0000-000000000001.pdf',
    'the same id again begins anew'
);
set local role forebay_owner;
select results_eq(
    $$ select name, opened_at, stored_at, bytes, pages, estimated_tokens from forebay.uploads where upload_id = upload(1) $$,
    $$ values ('again.pdf', noon('1 minute'), null::timestamptz, null::bigint, null::integer, null::bigint) $$,
    'and it cannot be submitted until it is stored again'
);
select given($$
    select forebay.register_agent('a');
    select forebay.finish_upload(upload(1), 10, 1, 100, 'ann');
    select forebay.submit_uploads('k', array[upload(1)], 'a', 'n', 'ann');
    select forebay.drop_upload(upload(2), 'ann')
$$);
select throws_ok(
    $$ select forebay.open_upload(upload(1), 'n', 'ann') $$, 'QF203', null, 'one that was submitted is not written over'
);
select throws_ok($$ select forebay.open_upload(upload(2), 'n', 'ann') $$, 'QF306', null, 'one that was dropped is gone');
select throws_ok(
    $$ select forebay.open_upload(upload(1), 'n', 'bob') $$, 'QF306', null, 'somebody else''s does not exist'
);
select lives_ok($$ select forebay.open_upload(upload(3), repeat('請', 1000), 'ann') $$, 'a name has 1000 characters');
select throws_ok(
    $$ select forebay.open_upload(upload(4), repeat('n', 1001), 'ann') $$, '22023', null, 'and not one more'
);
select throws_ok($$ select forebay.open_upload(upload(4), '', 'ann') $$, '22023', null, 'a name is not empty');
select throws_ok($$ select forebay.open_upload(upload(4), null, 'ann') $$, '22023', null, 'nor null');
select throws_ok($$ select forebay.open_upload(null, 'n', 'ann') $$, '22023', null, 'an id is given');
select throws_ok($$ select forebay.open_upload(upload(4), 'n', null) $$, '22023', null, 'an actor is given');
select throws_ok($$ select forebay.open_upload(upload(4), 'n', '') $$, '22023', null, 'and not empty');
select throws_ok(
    $$ select forebay.open_upload(upload(4), 'n', repeat('x', 201)) $$, '22023', null, 'nor over-long'
);
set local role forebay_owner;
select given($$
    select forebay.prepare_branch('fix');
    update forebay.installation set installation_id = upload(5), home = '1'
$$);
set local role forebay_submitter;
select throws_ok(
    $$ select forebay.open_upload(upload(3), 'n', 'ann') $$, 'QF401',
    'this database is a copy that nobody has opened: it neither takes nor removes files', 'a copy writes over no file'
);
select throws_ok($$ select forebay.open_upload(upload(4), 'n', 'ann') $$, 'QF401', null, 'nor does it store one');
set local role forebay_owner;
select given($$
    select forebay.begin_branch('fix');
    update forebay.installation set installation_id = upload(6);
    select forebay.mask_data();
    select forebay.finish_branch()
$$);
select throws_ok($$ select forebay.open_upload(upload(4), 'n', 'ann') $$, 'QF401', null, 'nor does a closed branch');
select given($$ select forebay.open_installation() $$);
select is(
    forebay.open_upload(upload(4), 'n', 'ann'),
    'uploads/00000000-0000-0000-0000-000000000006/00000000-0000-0000-0000-000000000004.pdf',
    'an open branch has a folder of its own'
);
select given($$ update forebay.installation set installation_id = upload(7) $$);
select is(
    forebay.open_upload(upload(4), 'again', 'ann'),
    'uploads/00000000-0000-0000-0000-000000000006/00000000-0000-0000-0000-000000000004.pdf',
    'and a file stays where it was'
);
select only_callable_by('{submitter}', $$ select forebay.open_upload(upload(9), 'n', 'ann') $$);
select finish();
rollback;
