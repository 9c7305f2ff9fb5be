-- batch_tasks: the batch's owner sees its tasks; to anybody else the batch does not exist.
begin;
select plan(18);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('upload', p_owner => 'ann'), forebay.open_batch('nobody''s');
    select forebay.enqueue('a', '{"n": 1}', 10, 11), forebay.enqueue('a', '{"n": 2}', 5, 11), forebay.enqueue('a',
        '{}', 0, 12);
    select forebay.enqueue('a', '{"n": 3}', 0, 11);
    select forebay.dequeue('w', p_batch_size => 2);
    select forebay.report_progress(101, 3, 10);
    select forebay.fail(102, '{"kind": "bad_input", "message": "no pages"}', false)
$$);
select given($$
    select forebay.report_usage(101, '{"call_id": "c", "input_tokens": 5, "output_tokens": 2, "cached_tokens": 3, "cost_usd": 0.25}')
$$);
set local role forebay_submitter;
select results_eq(
    $$ select task_id, agent, status, priority, payload, attempt_count, progress_done, progress_total, confidence, fields,
        error, reprocess_of, created_at, started_at, finished_at
    from forebay.batch_tasks(11, 'ann') $$,
    $$ values
        (1::bigint, 'a', 'processing', 10, '{"n": 1}'::jsonb, 1, 3, 10, null::numeric, null::jsonb, null::jsonb,
            null::bigint, noon(), noon(), null::timestamptz),
        (2, 'a', 'failed', 5, '{"n": 2}', 1, null, null, null, null, '{"kind": "bad_input", "message": "no pages"}',
            null, noon(), null, noon()),
        (4, 'a', 'enqueued', 0, '{"n": 3}', 0, null, null, null, null, null, null, noon(), null, null) $$,
    'one row a task, by id, with its progress and its error'
);
select results_eq(
    $$ select task_id, used_input_tokens, used_output_tokens, used_cached_tokens, llm_usd, is_cost_known
    from forebay.batch_tasks(11, 'ann') $$,
    $$ values (1::bigint, 5::bigint, 2::bigint, 3::bigint, 0.25, true), (2, 0, 0, 0, null, false),
        (4, 0, 0, 0, null, true) $$,
    'with what it used, a cost of which nothing is known as null'
);
select results_eq(
    $$ select task_id from forebay.batch_tasks(11, 'ann', p_statuses => '{enqueued, failed}') $$,
    array[2, 4]::bigint[], 'of some statuses only'
);
select results_eq(
    $$ select task_id from forebay.batch_tasks(11, 'ann', p_after_task_id => 1, p_limit => 1) $$,
    array[2]::bigint[], 'a page after an id'
);
set local role forebay_owner;
select given($$ select forebay.complete(101, '{"fields": {"total": "1.00"}, "text": "long"}', 0.5) $$);
set local role forebay_submitter;
select results_eq(
    $$ select confidence, fields from forebay.batch_tasks(11, 'ann', '{completed}') $$,
    $$ values (0.5, '{"total": "1.00"}'::jsonb) $$,
    'a result shows its fields, and nothing else of it'
);
select isnt_empty($$ select forebay.batch_tasks(11, 'ANN') $$, 'whoever writes the name in capitals is the same person');
select throws_ok($$ select forebay.batch_tasks(11, 'bob') $$, 'QF302', null, 'somebody else''s batch does not exist');
select throws_ok($$ select forebay.batch_tasks(999, 'ann') $$, 'QF302', null, 'nor does one that was never opened');
select throws_like($$ select forebay.batch_tasks(11, 'bob') $$, 'batch 11 does not exist', 'both in');
select throws_like($$ select forebay.batch_tasks(999, 'ann') $$, 'batch 999 does not exist', 'the same words');
select throws_ok($$ select forebay.batch_tasks(12, 'ann') $$, 'QF302', null, 'a batch without an owner is nobody''s');
select throws_ok($$ select forebay.batch_tasks(null, 'ann') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.batch_tasks(12, null) $$, '22023', null, 'an actor is given');
select throws_ok(
    $$ select forebay.batch_tasks(11, 'ann', '{lost}') $$, '22023', null, 'a status is one of the five'
);
select throws_ok($$ select forebay.batch_tasks(11, 'ann', p_limit => 0) $$, '22023', null, 'a limit from 1');
select throws_ok($$ select forebay.batch_tasks(11, 'ann', p_limit => 10001) $$, '22023', null, 'to 10,000');
select throws_ok($$ select forebay.batch_tasks(11, 'ann', p_limit => null) $$, '22023', null, 'and not null');
select only_callable_by('{submitter}', $$ select forebay.batch_tasks(11, 'ann') $$);
select finish();
rollback;
