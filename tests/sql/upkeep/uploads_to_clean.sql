-- uploads_to_clean: what nobody submitted goes for good, and of a task that ended what it left.
begin;
select plan(14);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_attempts => 1);
    select forebay.open_upload(upload(n), n || '.pdf', 'ann') from generate_series(1, 7) as n;
    select forebay.finish_upload(upload(n), 10, 1, 100, 'ann') from generate_series(2, 7) as n;
    select forebay.submit_uploads('k', array[upload(3), upload(4), upload(5), upload(6)], 'a', 'n', 'ann');
    select forebay.drop_upload(upload(7), 'ann');
    select at_time('1 hour');
    select forebay.open_upload(upload(8), 'late.pdf', 'ann');
    select forebay.dequeue('w', p_batch_size => 3);
    select forebay.complete(101, '{}'), forebay.fail(102, '{}')
$$);
set local role forebay_upkeep;
select is_empty($$ select forebay.uploads_to_clean('61 minutes') $$, 'nothing is that old');
select results_eq(
    $$ select * from forebay.uploads_to_clean('1 hour', 2) $$,
    $$ values (upload(1), 'uploads/00000000-0000-0000-0000-000000000001.pdf', 'file'),
        (upload(2), 'uploads/00000000-0000-0000-0000-000000000002.pdf', 'file') $$,
    'files that were not submitted, at most so many'
);
set local role forebay_owner;
select results_eq(
    $$ select upload_id, dropped_at from forebay.uploads where dropped_at is not null order by upload_id $$,
    $$ values (upload(1), noon('1 hour')), (upload(2), noon('1 hour')), (upload(7), noon()) $$,
    'these are dropped'
);
select throws_ok(
    $$ select forebay.submit_uploads('l', array[upload(2)], 'a', 'n', 'ann') $$, 'QF306', null, 'and cannot be submitted'
);
set local role forebay_upkeep;
select results_eq(
    $$ select upload_id, what from forebay.uploads_to_clean('1 hour') order by upload_id $$,
    $$ values (upload(1), 'file'), (upload(2), 'file'), (upload(7), 'file') $$,
    'they come again until they are cleaned, with those that their owner dropped'
);
select is(forebay.uploads_cleaned(array[upload(1), upload(2), upload(7)]), 3, 'all three');
select is_empty($$ select forebay.uploads_to_clean('1 hour') $$, 'then no more');
select at_time('2 hours');
select results_eq(
    $$ select upload_id, document, what from forebay.uploads_to_clean('1 hour') order by upload_id $$,
    $$ values (upload(3), 'uploads/00000000-0000-0000-0000-000000000003.pdf', 'leftovers'),
        (upload(4), 'uploads/00000000-0000-0000-0000-000000000004.pdf', 'leftovers'),
        (upload(8), 'uploads/00000000-0000-0000-0000-000000000008.pdf', 'file') $$,
    'of tasks that ended only what is beside the document; tasks that wait or run keep everything'
);
select throws_ok($$ select forebay.uploads_to_clean(null) $$, '22023', null, 'an age is given');
select throws_ok($$ select forebay.uploads_to_clean('-1 second') $$, '22023', null, 'and not negative');
select throws_ok($$ select forebay.uploads_to_clean('1 hour', 0) $$, '22023', null, 'a limit from 1');
select throws_ok($$ select forebay.uploads_to_clean('1 hour', 10001) $$, '22023', null, 'to 10,000');
select throws_ok($$ select forebay.uploads_to_clean('1 hour', null) $$, '22023', null, 'and not null');
select only_callable_by('{upkeep}', $$ select forebay.uploads_to_clean('1 hour') $$);
select finish();
rollback;
