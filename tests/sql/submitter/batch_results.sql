-- batch_results: the batch's owner sees what went in and came out; to anybody else the batch does not exist.
begin;
select plan(11);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('upload', p_owner => 'ann'), forebay.open_batch('other', p_owner => 'bob');
    select forebay.enqueue('a', jsonb_build_object('n', n), 0, case when n = 3 then 12 else 11 end) from generate_series(1, 4) as n;
    select forebay.dequeue('w', p_batch_size => 3);
    select forebay.report_usage(101, '{"call_id": "c", "input_tokens": 5, "output_tokens": 2, "cost_usd": 0.25}');
    select forebay.complete(101, '{"total": 7}', 0.75);
    select forebay.fail(102, '{"kind": "bad_input", "message": "no pages"}', false)
$$);
set local role forebay_submitter;
select results_eq(
    $$ select * from forebay.batch_results(11, 'ann') $$,
    $$ values
        (1::bigint, 'a', 'completed', '{"n": 1}'::jsonb, '{"total": 7}'::jsonb, 0.75, null::jsonb, 5::bigint, 2::bigint,
            0::bigint, 0.25, true, noon(), noon()),
        (2, 'a', 'failed', '{"n": 2}', null, null, '{"kind": "bad_input", "message": "no pages"}', 0, 0, 0, null, false,
            noon(), noon()),
        (4, 'a', 'enqueued', '{"n": 4}', null, null, null, 0, 0, 0, null, true, noon(), null) $$,
    'one row a task, by id'
);
select results_eq(
    $$ select task_id from forebay.batch_results(11, 'ann', '{4, 3, 2, 99, null}') $$,
    array[2, 4]::bigint[], 'of some tasks, those of the batch'
);
select results_eq(
    $$ select task_id from forebay.batch_results(11, 'ann', p_after_task_id => 1, p_limit => 1) $$,
    array[2]::bigint[], 'a page after an id'
);
select throws_ok($$ select forebay.batch_results(11, 'bob') $$, 'QF302', null, 'somebody else''s batch does not exist');
select throws_ok($$ select forebay.batch_results(99, 'ann') $$, 'QF302', null, 'nor does one that was never opened');
select throws_ok($$ select forebay.batch_results(null, 'ann') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.batch_results(11, null) $$, '22023', null, 'an actor is given');
select throws_ok($$ select forebay.batch_results(11, 'ann', p_limit => 0) $$, '22023', null, 'a limit from 1');
select throws_ok($$ select forebay.batch_results(11, 'ann', p_limit => 1001) $$, '22023', null, 'to 1,000');
select throws_ok($$ select forebay.batch_results(11, 'ann', p_limit => null) $$, '22023', null, 'and not null');
select only_callable_by('{submitter}', $$ select forebay.batch_results(11, 'ann') $$);
select finish();
rollback;
