-- list_uploads: what a person can submit, still there after the page was loaded anew.
begin;
select plan(5);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_upload(upload(n), n || '.pdf', 'ann') from generate_series(1, 5) as n;
    select forebay.open_upload(upload(6), '6.pdf', 'bob');
    select forebay.finish_upload(upload(6), 10, 1, 100, 'bob');
    select forebay.finish_upload(upload(n), 10, 1, 100, 'ann') from generate_series(1, 2) as n;
    select forebay.submit_uploads('k', array[upload(1)], 'a', 'n', 'ann');
    select forebay.drop_upload(upload(2), 'ann');
    select at_time('2 minutes');
    select forebay.finish_upload(upload(3), 20, 2, 200, 'ann');
    select at_time('1 minute');
    select forebay.finish_upload(upload(4), 30, null, null, 'ann')
$$);
set local role forebay_submitter;
select results_eq(
    $$ select * from forebay.list_uploads('ann') $$,
    $$ values
        (upload(4), '4.pdf', 'uploads/00000000-0000-0000-0000-000000000004.pdf', 30::bigint, null::integer, null::bigint,
            noon(), noon('1 minute')),
        (upload(3), '3.pdf', 'uploads/00000000-0000-0000-0000-000000000003.pdf', 20, 2, 200, noon(), noon('2 minutes')) $$,
    'stored, neither submitted nor dropped, and the person''s own; the first stored first'
);
select results_eq(
    $$ select name from forebay.list_uploads('ANN') $$, array['4.pdf', '3.pdf'], 'in whatever case the name is written'
);
select is_empty($$ select forebay.list_uploads('eve') $$, 'nothing for somebody who uploaded nothing');
select throws_ok($$ select forebay.list_uploads(null) $$, '22023', null, 'an actor is given');
select only_callable_by('{submitter}', $$ select forebay.list_uploads('ann') $$);
select finish();
rollback;
