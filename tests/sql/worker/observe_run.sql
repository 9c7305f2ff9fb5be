-- observe_run: what follows from a run's state is a row of run_outcomes; what no row names renews, until the deadline.
begin;
select plan(44);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('jobs', 'lakeflow', p_lease => '1 minute', p_max_releases => 1, p_max_tpm => 60000);
    select forebay.enqueue('jobs', '{}', p_estimated_tokens => 10) from generate_series(1, 15);
    select forebay.dequeue('w', '{jobs}', 15);
    select forebay.record_run(attempt_id, 'run ' || attempt_id) from forebay.task_attempts
$$);
select at_time('30 seconds');

-- States of a run that lives.
set local role forebay_worker;
select is(forebay.observe_run(101, '{"life_cycle_state": "RUNNING"}'), 'renew', 'a run that lives renews the lease');
set local role forebay_owner;
select results_eq(
    $$ select lease_expires_at, run_state, run_ended_at from forebay.task_attempts where attempt_id = 101 $$,
    $$ values (noon('90 s'), '{"life_cycle_state": "RUNNING"}'::jsonb, null::timestamptz) $$,
    'and is noted'
);
select results_eq(
    $$ select forebay.observe_run(101, jsonb_build_object('life_cycle_state', word))
    from unnest(array['QUEUED', 'PENDING', 'BLOCKED', 'WAITING_FOR_RETRY', 'TERMINATING']) as word $$,
    array_fill('renew'::text, '{5}'),
    'so does one that waits or is about to end'
);
select is(forebay.observe_run(101, '{"life_cycle_state": "MARTIAN"}'), 'renew', 'and one in a state that no row names');

-- Runs that ended.
select is(
    forebay.observe_run(102, '{"life_cycle_state": "TERMINATED", "result_state": "SUCCESS"}'),
    'renew',
    'a run that ended well may still report'
);
select results_eq(
    $$ select forebay.observe_run(103 + place, '{"life_cycle_state": "TERMINATED"}' || jsonb_build_object('result_state', word))
    from unnest(array['FAILED', 'TIMEDOUT', 'CANCELED', 'NEW_WORD'], array[0, 1, 2, 3]) as ended (word, place) $$,
    array_fill('renew'::text, '{4}'),
    'so may one that ended otherwise, for the report grace'
);
select at_time('1 minute');
select is(
    forebay.observe_run(103, '{"life_cycle_state": "TERMINATED", "result_state": "FAILED", "message": "boom"}'),
    'retry',
    'a run that failed without a report is retried'
);
select results_eq(
    $$ select status, attempt_count, error from forebay.tasks where task_id = 3 $$,
    $$ values ('enqueued', 1,
        '{"kind": "infrastructure", "message": "run seen TERMINATED, FAILED: boom", "run_id": "run 103"}'::jsonb) $$,
    'its attempt is spent, and the task says why'
);
select results_eq(
    $$ select status, finished_at, run_ended_at, is_stop_pending from forebay.task_attempts where attempt_id = 103 $$,
    $$ values ('lost', noon('1 minute'), noon('30 s'), false) $$,
    'the attempt is lost, and nothing is left to cancel'
);
select is(
    forebay.observe_run(104, '{"life_cycle_state": "TERMINATED", "result_state": "TIMEDOUT"}'),
    'retry',
    'so is a timeout'
);
select is(
    forebay.observe_run(105, '{"life_cycle_state": "TERMINATED", "result_state": "CANCELED"}'),
    'retry',
    'a run that somebody cancelled elsewhere'
);
select is(
    forebay.observe_run(106, '{"life_cycle_state": "TERMINATED", "result_state": "NEW_WORD"}'),
    'retry',
    'one that ended in a way nobody knows'
);
select is(forebay.observe_run(107, '{"life_cycle_state": "INTERNAL_ERROR"}'), 'retry', 'one that the platform lost');
select is(forebay.observe_run(108, '{"life_cycle_state": "NOT_FOUND"}'), 'retry', 'and one that is not there');

-- Runs that never started.
select is(
    forebay.observe_run(109, '{"life_cycle_state": "SKIPPED"}'), 'requeue', 'a run that never started spends no attempt'
);
select results_eq(
    $$ select t.attempt_count, t.release_count, a.status, a.charged_tokens
    from forebay.tasks as t inner join forebay.task_attempts as a on a.task_id = t.task_id where t.task_id = 9 $$,
    $$ values (0, 1, 'released', 0::bigint) $$,
    'it counts as a release, and its charge is given back'
);
select is(
    forebay.observe_run(
        110, '{"life_cycle_state": "TERMINATED", "result_state": "MAXIMUM_CONCURRENT_RUNS_REACHED"}'
    ),
    'requeue',
    'nor does one that the job had no room for'
);
select at_time('1 hour');
select given($$
    select forebay.reprioritize('{9}', 10);
    select forebay.dequeue('w', '{jobs}')
$$);
select is(forebay.observe_run(116, '{"life_cycle_state": "SKIPPED"}'), 'requeue', 'after p_max_releases');
select results_eq(
    $$ select attempt_count, release_count from forebay.tasks where task_id = 9 $$,
    $$ values (1, 1) $$,
    'an attempt is spent'
);

-- The table decides, and the row with the fewest * wins.
select given($$
    select forebay.register_agent('jobs', 'lakeflow', p_lease => '1 hour');
    select forebay.enqueue('jobs', '{}', 20) from generate_series(1, 5);
    select forebay.dequeue('w', '{jobs}', 5);
    insert into forebay.run_outcomes values
    ('lakeflow', 'TERMINATED', 'FAILED', 'BROKEN_CODE', 'fail', true, false, 'a test'),
    ('lakeflow', 'TERMINATED', '*', 'LATER', 'requeue', true, false, 'a test')
$$);
select is(
    forebay.observe_run(
        117, '{"life_cycle_state": "TERMINATED", "result_state": "FAILED", "termination_code": "BROKEN_CODE"}'
    ),
    'fail',
    'a new row needs no new code'
);
select results_eq(
    $$ select t.status, a.status from forebay.tasks as t inner join forebay.task_attempts as a on a.task_id = t.task_id
    where a.attempt_id = 117 $$,
    $$ values ('failed', 'failed') $$,
    'its outcome fails the task for good'
);
select is(
    forebay.observe_run(
        118, '{"life_cycle_state": "TERMINATED", "result_state": "FAILED", "termination_code": "LATER"}'
    ),
    'requeue',
    'between equals the termination code wins'
);

-- The report grace.
select is(
    forebay.observe_run(119, '{"life_cycle_state": "TERMINATED", "result_state": "SUCCESS"}'),
    'renew',
    'a run ended well'
);
select at_time('1 hour 29 seconds');
select is(
    forebay.observe_run(119, '{"life_cycle_state": "TERMINATED", "result_state": "SUCCESS"}'),
    'renew',
    'for the report grace it is waited for'
);
select at_time('1 hour 30 seconds');
select is(
    forebay.observe_run(119, '{"life_cycle_state": "TERMINATED", "result_state": "SUCCESS"}'),
    'retry',
    'then it counts as lost'
);
select is(forebay.complete(119, '{}'), 'completed', 'and a report that comes after all still counts');

-- The deadline, at two hours.
select at_time('2 hours');
select is(forebay.observe_run(120, '{"life_cycle_state": "RUNNING"}'), 'retry', 'after the deadline nothing renews');
select results_eq(
    $$ select a.status, a.error ->> 'kind', a.is_stop_pending, t.status
    from forebay.task_attempts as a inner join forebay.tasks as t on t.task_id = a.task_id where a.attempt_id = 120 $$,
    $$ values ('failed', 'timeout', true, 'enqueued') $$,
    'the attempt failed as timeout, retryable, and its run is cancelled'
);
select is(forebay.observe_run(120, '{"life_cycle_state": "RUNNING"}'), 'none', 'an attempt that has ended stays so');
select results_eq(
    $$ select is_stop_pending from forebay.task_attempts where attempt_id = 120 $$,
    array[true],
    'its run is still to cancel'
);
select is(
    forebay.observe_run(120, '{"life_cycle_state": "TERMINATED", "result_state": "CANCELED"}'),
    'none',
    'until it is seen to end'
);
select results_eq(
    $$ select is_stop_pending from forebay.task_attempts where attempt_id = 120 $$, array[false], 'and then no more'
);

-- An agent that does not retry what was lost, and one whose workspace refuses us.
select given($$
    select forebay.register_agent('strict', 'lakeflow', p_on_lost_lease => 'fail');
    select forebay.enqueue('strict', '{}'), forebay.enqueue('strict', '{}');
    select forebay.dequeue('w', '{strict}', 2)
$$);
select is(forebay.observe_run(122, '{"life_cycle_state": "NOT_FOUND"}'), 'fail', 'a run that is gone is a lost lease');
select results_eq(
    $$ select t.status from forebay.tasks as t inner join forebay.task_attempts as a on a.task_id = t.task_id
    where a.attempt_id = 122 $$,
    array['failed'],
    'which an agent may want to fail the task'
);
select is(
    forebay.observe_run(123, '{"life_cycle_state": "UNAUTHORIZED", "message": "403"}'),
    'pause_agent',
    'a refusal pauses the agent'
);
select results_eq(
    $$ select a.paused_until, a.pause_reason, t.status, t.attempt_count
    from forebay.agents as a inner join forebay.tasks as t on t.agent = a.agent
    where a.agent = 'strict' and t.status = 'enqueued' $$,
    $$ values ('infinity'::timestamptz, 'run seen UNAUTHORIZED: 403', 'enqueued', 0) $$,
    'until it is resumed, and the task waits with all of its attempts'
);

-- Errors.
select throws_ok($$ select forebay.observe_run(101, null) $$, '22023', null, 'a run is given');
select throws_ok($$ select forebay.observe_run(101, '[]') $$, '22023', null, 'a run is an object');
select throws_ok($$ select forebay.observe_run(101, '{}') $$, '22023', null, 'a run has a state');
select throws_ok($$ select forebay.observe_run(101, '{"life_cycle_state": 1}') $$, '22023', null, 'which is a word');
select throws_ok(
    $$ select forebay.observe_run(101, '{"life_cycle_state": "RUNNING", "result_state": 1}') $$,
    '22023', null, 'a result state is a word'
);
select throws_ok(
    $$ select forebay.observe_run(null, '{"life_cycle_state": "RUNNING"}') $$, '22023', null, 'an attempt is given'
);
select throws_ok(
    $$ select forebay.observe_run(999, '{"life_cycle_state": "RUNNING"}') $$,
    'QF304',
    null,
    'an unknown attempt is refused'
);
select only_callable_by('{worker}', $$ select forebay.observe_run(101, '{"life_cycle_state": "RUNNING"}') $$);
select finish();
rollback;
