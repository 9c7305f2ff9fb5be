-- uploads_cleaned: what was removed does not come again, unless its task leaves something anew.
begin;
select plan(6);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_attempts => 1);
    select forebay.open_upload(upload(n), n || '.pdf', 'ann') from generate_series(1, 5) as n;
    select forebay.finish_upload(upload(n), 10, 1, 100, 'ann') from generate_series(1, 4) as n;
    select forebay.submit_uploads('k', array[upload(1), upload(2), upload(3)], 'a', 'n', 'ann');
    select forebay.dequeue('w', p_batch_size => 2);
    select forebay.fail(101, '{}'), forebay.fail(102, '{}');
    select at_time('1 hour');
    select forebay.retry('{1}');
    select forebay.drop_upload(upload(5), 'ann')
$$);
set local role forebay_upkeep;
select is(
    forebay.uploads_cleaned(array[upload(1), upload(2), upload(3), upload(4), upload(5), upload(99), null]),
    2,
    'only of what was dropped, and of tasks that have ended'
);
select is(forebay.uploads_cleaned(array[upload(2), upload(5)]), 0, 'once more is none');
set local role forebay_owner;
select results_eq(
    $$ select upload_id, cleaned_at from forebay.uploads where cleaned_at is not null order by upload_id $$,
    $$ values (upload(2), noon('1 hour')), (upload(5), noon('1 hour')) $$,
    'since when is kept'
);
select given($$ select forebay.retry('{2}'); select forebay.cancel('{1, 2}') $$);
set local role forebay_upkeep;
select results_eq(
    $$ select upload_id, what from forebay.uploads_to_clean('0') where what = 'leftovers' order by upload_id $$,
    $$ values (upload(1), 'leftovers'), (upload(2), 'leftovers') $$,
    'a task that was retried comes again when it has ended'
);
select throws_ok($$ select forebay.uploads_cleaned(null) $$, '22023', null, 'ids are given');
select only_callable_by('{upkeep}', $$ select forebay.uploads_cleaned('{}') $$);
select finish();
rollback;
