-- What a report means depends on the attempt and its task alone: the table of it, row by row; usage always counts.
begin;
select plan(40);
select stop_clock();
set local role forebay_owner;

-- Row 1: the attempt is current, its task is processing.
select given($$
    select forebay.register_agent('current');
    select forebay.enqueue('current', '{}'), forebay.enqueue('current', '{}');
    select forebay.enqueue('current', '{}', p_max_attempts => 1), forebay.enqueue('current', '{}');
    select forebay.dequeue('w', '{current}', 4)
$$);
select results_eq(
    $$ select * from forebay.complete_many('{101}', '{"{\"is\": 1}"}') $$,
    $$ values (101::bigint, 'completed', 'completed') $$,
    'a success of the current attempt completes the task'
);
select is(forebay.fail(102, '{"kind": "infrastructure"}'), 'enqueued', 'a failure of the current attempt is retried');
select is(forebay.fail(103, '{"kind": "infrastructure"}'), 'failed', 'a failure of the last attempt fails the task');
select is(forebay.fail(104, '{"kind": "bad_input"}', false), 'failed', 'a failure not to be retried fails the task');
select results_eq(
    $$ select task_id, status, result, error ->> 'kind', attempt_id from forebay.tasks order by task_id $$,
    $$ values (1::bigint, 'completed', '{"is": 1}'::jsonb, null, null::bigint),
        (2, 'enqueued', null, 'infrastructure', null), (3, 'failed', null, 'infrastructure', null),
        (4, 'failed', null, 'bad_input', null) $$,
    'the task has the result or the error, and no attempt any more'
);
select results_eq(
    $$ select attempt_id, status, reported_at, finished_at from forebay.task_attempts order by attempt_id $$,
    $$ values (101::bigint, 'succeeded', noon(), noon()), (102, 'failed', noon(), noon()),
        (103, 'failed', noon(), noon()), (104, 'failed', noon(), noon()) $$,
    'the attempt has its verdict and the time'
);

-- Row 2: the attempt was lost, its task is enqueued (5, 6) or processing under another attempt (7, 8).
select given($$
    select forebay.register_agent('lost', 'lakeflow', p_job_id => 7, p_lease => '1 minute');
    select forebay.enqueue('lost', '{}', 10 - n) from generate_series(1, 4) as n;
    select forebay.dequeue('w', '{lost}', 4)
$$);
select at_time('3 minutes');
select given($$
    select forebay.sweep();
    select forebay.reprioritize('{7, 8}', 20);
    select forebay.dequeue('v', '{lost}', 2);
    select forebay.record_run(109, 'run 109')
$$);
select results_eq(
    $$ select task_id, status, attempt_id from forebay.tasks where agent = 'lost' order by task_id $$,
    $$ values (5::bigint, 'enqueued', null::bigint), (6, 'enqueued', null),
        (7, 'processing', 109), (8, 'processing', 110) $$,
    'four attempts were lost, and two of their tasks run again'
);
select is(forebay.fail(106, '{"kind": "timeout"}'), 'enqueued', 'after a failure of a lost attempt the task waits on');
select is(forebay.fail(108, '{"kind": "timeout"}'), 'processing', 'or runs on');
select results_eq(
    $$ select status, error ->> 'message', attempt_count from forebay.tasks where task_id in (6, 8) order by task_id $$,
    $$ values ('enqueued', 'lease expired: worker w stopped renewing it', 1),
        ('processing', 'lease expired: worker w stopped renewing it', 2) $$,
    'the tasks are untouched by it'
);
select results_eq(
    $$ select status, error from forebay.task_attempts where attempt_id in (106, 108) order by attempt_id $$,
    $$ values ('lost', '{"kind": "timeout"}'::jsonb), ('lost', '{"kind": "timeout"}') $$,
    'the failure is recorded on the lost attempts'
);
select results_eq(
    $$ select * from forebay.complete_many('{105, 107}', '{5, 7}') $$,
    $$ values (105::bigint, 'completed', 'completed'), (107, 'completed', 'completed') $$,
    'a success of a lost attempt completes a waiting task, and one that runs again: the work is real'
);
select results_eq(
    $$ select result from forebay.tasks where task_id in (5, 7) order by task_id $$,
    $$ values ('5'::jsonb), ('7') $$,
    'the task has the late result'
);
select results_eq(
    $$ select status, finished_at from forebay.task_attempts where attempt_id in (105, 107, 109) order by attempt_id $$,
    $$ values ('succeeded', noon('3 min')), ('succeeded', noon('3 min')), ('superseded', noon('3 min')) $$,
    'the late attempt succeeded, and the other one is superseded'
);
select results_eq(
    $$ select attempt_id, run_id from forebay.runs_to_cancel('w') $$,
    $$ values (109::bigint, 'run 109') $$,
    'the run of the superseded attempt is cancelled'
);
select results_eq(
    $$ select state from forebay.renew_leases('v', '{109}') $$,
    $$ values ('cancel_requested') $$,
    'the worker of the superseded attempt is asked to stop'
);

-- Row 2 with late results rejected: the result stays on the attempt.
select given($$
    select forebay.register_agent('strict', p_lease => '1 minute', p_late_results => 'reject');
    select forebay.enqueue('strict', '{}'), forebay.enqueue('strict', '{}');
    select forebay.dequeue('w', '{strict}', 2)
$$);
select at_time('6 minutes');
select given($$
    select forebay.sweep();
    select forebay.dequeue('v', '{strict}', 1)
$$);
select results_eq(
    $$ select * from forebay.complete_many('{111, 112}', '{9, 10}', '{0.5, 0.6}') $$,
    $$ values (111::bigint, 'processing', 'kept'), (112, 'enqueued', 'kept') $$,
    'an agent that rejects late results keeps them'
);
select results_eq(
    $$ select a.status, a.result, a.confidence, t.result
    from forebay.task_attempts as a inner join forebay.tasks as t on t.task_id = a.task_id
    where a.attempt_id in (111, 112) order by a.attempt_id $$,
    $$ values ('lost', '9'::jsonb, 0.5, null::jsonb), ('lost', '10', 0.6, null) $$,
    'they are on the attempts only'
);
select is(forebay.complete(113, '11'), 'completed', 'the attempt that has the lease is the one that counts');

-- Row 3: the attempt reported a failure before, its task is enqueued (11) or processing (12) again.
select given($$
    select forebay.register_agent('sorry', p_late_results => 'reject');
    select forebay.enqueue('sorry', '{}'), forebay.enqueue('sorry', '{}');
    select forebay.dequeue('w', '{sorry}', 2);
    select forebay.fail(114, '{"kind": "infrastructure"}', true, '1 hour');
    select forebay.fail(115, '{"kind": "infrastructure"}', true, '0');
    select forebay.dequeue('w', '{sorry}')
$$);
select is(
    forebay.fail(114, '{"kind": "bad_input"}', false),
    'enqueued',
    'a second failure is a no-op for a waiting task'
);
select is(forebay.fail(115, '{"kind": "bad_input"}', false), 'processing', 'nor to one that runs again');
select results_eq(
    $$ select error, attempt_count, available_at from forebay.tasks where task_id in (11, 12) order by task_id $$,
    $$ values ('{"kind": "infrastructure"}'::jsonb, 1, noon('66 min')), ('{"kind": "infrastructure"}', 2, noon('6 min')) $$,
    'nothing changed by it'
);
select results_eq(
    $$ select * from forebay.complete_many('{114, 115}', '{11, 12}') $$,
    $$ values (114::bigint, 'completed', 'completed'), (115, 'completed', 'completed') $$,
    'a success after all completes the task'
);
select results_eq(
    $$ select a.status from forebay.task_attempts as a where a.agent = 'sorry' order by a.attempt_id $$,
    array['succeeded', 'succeeded', 'superseded'],
    'the attempt that changed its mind succeeded, and the one that ran again is superseded'
);

-- Row 4: the task has ended: completed by this attempt (1) or another (7), failed by its last (3) or a lost lease (13).
select given($$
    select forebay.register_agent('once', p_lease => '1 minute', p_on_lost_lease => 'fail');
    select forebay.enqueue('once', '{}');
    select forebay.dequeue('w', '{once}')
$$);
select at_time('8 minutes');
select given('select forebay.sweep()');
select results_eq(
    $$ select * from forebay.complete_many('{101}', '{"{\"is\": 1}"}') $$,
    $$ values (101::bigint, 'completed', 'none') $$,
    'the same success again is a no-op'
);
select results_eq(
    $$ select * from forebay.complete_many('{101, 103, 109, 117}', '{2, 2, 2, 2}') $$,
    $$ values (101::bigint, 'completed', 'kept'), (103, 'failed', 'kept'),
        (109, 'completed', 'kept'), (117, 'failed', 'kept') $$,
    'another result for a task that has ended is kept and changes nothing'
);
select results_eq(
    $$ select * from forebay.complete_many('{101, 103, 109, 117}', '{2, 2, 2, 2}') $$,
    $$ values (101::bigint, 'completed', 'none'), (103, 'failed', 'none'),
        (109, 'completed', 'none'), (117, 'failed', 'none') $$,
    'and is kept once'
);
select results_eq(
    $$ select task_id, status, result from forebay.tasks where task_id in (1, 3, 7, 13) order by task_id $$,
    $$ values (1::bigint, 'completed', '{"is": 1}'::jsonb), (3, 'failed', null),
        (7, 'completed', '7'), (13, 'failed', null) $$,
    'the tasks keep their state and their result'
);
select results_eq(
    $$ select a.result from forebay.task_attempts as a where a.attempt_id in (101, 103, 109, 117) $$,
    array['2', '2', '2', '2']::jsonb[],
    'the attempts hold the other result for audit'
);
select is(forebay.fail(101, '{"kind": "timeout"}'), 'completed', 'a failure after the success is a no-op');
select is(forebay.fail(109, '{"kind": "timeout"}'), 'completed', 'a failure of a superseded attempt is a no-op');
select is(forebay.fail(103, '{"kind": "timeout"}'), 'failed', 'a failure after the last failure is a no-op');
select results_eq(
    $$ select t.error ->> 'kind' from forebay.tasks as t where t.task_id in (1, 3, 7) order by t.task_id $$,
    array[null, 'infrastructure', null],
    'the tasks'' errors are what they were'
);

-- Row 5: the task is cancelled (14), or was retried since and waits (15) or runs (16).
select given($$
    select forebay.register_agent('stop');
    select forebay.enqueue('stop', '{}', 10 - n) from generate_series(1, 3) as n;
    select forebay.dequeue('w', '{stop}', 3);
    select forebay.cancel('{14, 15, 16}');
    select forebay.retry('{15, 16}');
    select forebay.reprioritize('{16}', 20);
    select forebay.dequeue('w', '{stop}')
$$);
select results_eq(
    $$ select * from forebay.complete_many('{118, 119, 120}', '{1, 2, 3}') $$,
    $$ values (118::bigint, 'cancelled', 'kept'), (119, 'enqueued', 'kept'), (120, 'processing', 'kept') $$,
    'a success of a cancelled attempt is kept and changes nothing'
);
select results_eq(
    $$ select a.result from forebay.task_attempts as a where a.attempt_id between 118 and 120 order by a.attempt_id $$,
    array['1', '2', '3']::jsonb[],
    'the results are on the attempts'
);
select is(
    array[forebay.fail(118, '{}'), forebay.fail(119, '{}'), forebay.fail(120, '{}')],
    '{cancelled, enqueued, processing}',
    'a failure of a cancelled attempt is a no-op'
);
select results_eq(
    $$ select status, result, error, attempt_count from forebay.tasks where agent = 'stop' order by task_id $$,
    $$ values ('cancelled', null::jsonb, null::jsonb, 1), ('enqueued', null, null, 0), ('processing', null, null, 1) $$,
    'the tasks are untouched by both'
);
select is(forebay.complete(121, '16'), 'completed', 'the attempt after the retry is the one that counts');

-- Usage, in every row of the table.
select is(
    array[
        forebay.report_usage(101, '{"call_id": "x"}'), forebay.report_usage(105, '{"call_id": "x"}'),
        forebay.report_usage(109, '{"call_id": "x"}'), forebay.report_usage(114, '{"call_id": "x"}'),
        forebay.report_usage(117, '{"call_id": "x"}'), forebay.report_usage(118, '{"call_id": "x"}')
    ],
    '{1, 1, 1, 1, 1, 1}',
    'usage is recorded whatever became of the attempt'
);
select is(forebay.report_usage(118, '{"call_id": "x"}'), 0, 'and once a call');

select finish();
rollback;
