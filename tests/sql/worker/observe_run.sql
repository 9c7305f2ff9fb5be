-- observe_run: what follows from a run's state is a row of run_outcomes; what no row names renews, until the deadline.
begin;
select plan(91);
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
    $$ values ('infinity'::timestamptz, 'the workspace refuses us: an operator must act (run seen UNAUTHORIZED: 403)', 'enqueued', 0) $$,
    'until it is resumed, and the task waits with all of its attempts'
);

-- Every code that the workspace knows has a row of its own, and what it means for the attempt.
select given($$
    select forebay.resume_agent('strict');
    select forebay.register_agent('codes', 'lakeflow', p_timeout => '10 minutes', p_max_attempts => 5);
    select forebay.enqueue('codes', '{}') from generate_series(1, 12);
    select forebay.dequeue('w', '{codes}', 12)
$$);
select results_eq(
    $$ select o.outcome, string_agg(o.termination_code, ' ' order by o.termination_code) from forebay.run_outcomes as o
    where o.life_cycle_state = 'TERMINATED' and o.result_state = '*' and o.note <> 'a test' and o.termination_code <> '*'
    group by o.outcome order by o.outcome $$,
    $$ values
    ('pause_agent', 'BUDGET_POLICY_LIMIT_EXCEEDED DISABLED FEATURE_DISABLED INVALID_CLUSTER_REQUEST '
        || 'INVALID_RUN_CONFIGURATION RESOURCE_NOT_FOUND UNAUTHORIZED_ERROR'),
    ('requeue', 'CLUSTER_REQUEST_LIMIT_EXCEEDED MAX_CONCURRENT_RUNS_EXCEEDED MAX_JOB_QUEUE_SIZE_EXCEEDED '
        || 'MAX_SPARK_CONTEXTS_EXCEEDED SKIPPED WORKSPACE_RUN_LIMIT_EXCEEDED'),
    ('retry', 'BREAKING_CHANGE CANCELED CLOUD_FAILURE CLUSTER_ERROR CLUSTER_TERMINATED_BY_USER DRIVER_ERROR INTERNAL_ERROR '
        || 'LIBRARY_INSTALLATION_ERROR REPOSITORY_CHECKOUT_FAILED RUN_EXECUTION_ERROR STORAGE_ACCESS_ERROR SUCCESS '
        || 'SUCCESS_WITH_FAILURES USER_CANCELED') $$,
    'quotas of the workspace requeue, what an operator has to mend pauses, the rest is retried'
);
select is(
    forebay.observe_run((select a.attempt_id from forebay.task_attempts as a where a.task_id = 23), jsonb_build_object(
        'life_cycle_state', 'INTERNAL_ERROR', 'result_state', 'FAILED', 'termination_code', 'WORKSPACE_RUN_LIMIT_EXCEEDED'
    )),
    'requeue',
    'a workspace that is full spends no attempt'
);
select ok(
    (select t.attempt_count = 0 and t.available_at between noon('2 hours 4 s') and noon('2 hours 5 s')
    from forebay.tasks as t where t.task_id = 23),
    'the task waits'
);
select given($$
    update forebay.tasks set release_count = 5 where task_id = 24;
    select forebay.observe_run(a.attempt_id, '{"life_cycle_state": "SKIPPED"}') from forebay.task_attempts as a where a.task_id = 24
$$);
select ok(
    (select t.available_at between noon('2 hours 144 s') and noon('2 hours 160 s') from forebay.tasks as t where t.task_id = 24),
    'longer each time'
);

-- What became of a launch.
select is(
    forebay.observe_run(
        (select a.attempt_id from forebay.task_attempts as a where a.task_id = 25),
        '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "500", "termination_code": "INTERNAL_ERROR"}'
    ),
    'renew',
    'where a run may exist the attempt is kept, to be launched again'
);
select results_eq(
    $$ select reason, explanation from forebay.explain_task(25) $$,
    $$ values ('unlaunched', 'Attempt 1 has no run yet, and worker w tries again: launch failed with 500, INTERNAL_ERROR.') $$,
    'and the task says so'
);
select at_time('2 hours 9 minutes');
select given($$
    select forebay.observe_run(a.attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "UNREACHABLE"}')
    from forebay.task_attempts as a where a.task_id in (26, 27);
    select forebay.observe_run(a.attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "500"}')
    from forebay.task_attempts as a where a.task_id = 25
$$);
select results_eq(
    $$ select a.task_id, a.deadline_at from forebay.task_attempts as a where a.task_id in (25, 26) order by 1 $$,
    $$ values (25::bigint, noon('2 hours 10 minutes')), (26, noon('2 hours 19 minutes')) $$,
    'while the workspace does not answer, the time of an attempt that could not begin does not pass'
);
select given($$
    select forebay.record_run(a.attempt_id, 'run 27') from forebay.task_attempts as a where a.task_id = 27
$$);
select at_time('2 hours 15 minutes');
select given($$
    select forebay.observe_run(a.attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "UNREACHABLE"}')
    from forebay.task_attempts as a where a.task_id = 27
$$);
select is(
    (select a.deadline_at from forebay.task_attempts as a where a.task_id = 27), noon('2 hours 19 minutes'),
    'that of one with a run does'
);
select is(
    forebay.observe_run(
        (select a.attempt_id from forebay.task_attempts as a where a.task_id = 26),
        '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "400"}'
    ),
    'retry',
    'a launch that is refused alone is retried'
);
select is(
    forebay.observe_run(
        (select a.attempt_id from forebay.task_attempts as a where a.task_id = 27),
        '{"life_cycle_state": "POLL_FAILED", "result_state": "403", "termination_code": "PERMISSION_DENIED"}'
    ),
    'renew',
    'a run that we may not see is left alone'
);
select results_eq(
    $$ select paused_until, pause_reason from forebay.agents where agent = 'codes' $$,
    $$ values ('infinity'::timestamptz, 'the workspace does not let us see the run: give our service principal CAN_MANAGE_RUN '
        || 'on its job (run not seen: 403, PERMISSION_DENIED)') $$,
    'but its agent is paused'
);
select given($$
    select forebay.resume_agent('codes');
    select forebay.dequeue('w', '{codes}', 4)
$$);
select is(
    forebay.observe_run(
        (select max(a.attempt_id) from forebay.task_attempts as a where a.finished_at is null),
        '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "403", "termination_code": "PERMISSION_DENIED", "message": "No."}'
    ),
    'pause_agent',
    'a launch that is forbidden pauses the agent'
);
select results_eq(
    $$ select a.pause_reason, t.status, t.attempt_count
    from forebay.agents as a
    inner join forebay.tasks as t on t.agent = a.agent and t.error is null
    inner join forebay.task_attempts as o on o.task_id = t.task_id
    where a.agent = 'codes' and o.error ->> 'message' like '%No.' $$,
    $$ values ('the workspace does not let us start the job: give our service principal CAN_MANAGE_RUN on it '
        || '(launch failed with 403, PERMISSION_DENIED: No.)', 'enqueued', 0) $$,
    'says what to do, and spends nothing'
);
select results_eq(
    $$ select o.compute_usd, o.is_compute_final from forebay.task_attempts as o where o.error ->> 'message' like '%No.' $$,
    $$ values (0::numeric, true) $$,
    'no machine had anything to do'
);
select is(
    (select count(*) from forebay.audit_log as l where l.agent = 'codes' and l.action = 'pause_agent'), 2::bigint,
    'once'
);

-- A launch that is refused for good had no machine either, whatever becomes of its task.
select given($$
    select forebay.register_agent(
        'refused', 'lakeflow', 7, p_max_attempts => 2, p_max_tpm => 60000, p_default_estimated_tokens => 1000
    );
    select forebay.enqueue('refused', '{}'), forebay.enqueue('refused', '{}')
$$);
create temporary table refused as
select d.attempt_id, row_number() over (order by d.attempt_id) as n from forebay.dequeue('w', '{refused}', 2) as d;
update forebay.task_attempts as a set expected_usd = 2 from refused as r where a.attempt_id = r.attempt_id;
select forebay.record_run(r.attempt_id, 'of the second') from refused as r where r.n = 2;
select results_eq(
    $$ select forebay.observe_run(r.attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "400"}')
    from refused as r order by r.n $$,
    array['retry', 'retry'],
    'a launch that is refused is tried again'
);
select results_eq(
    $$ select a.status, a.compute_usd, a.is_compute_final, a.is_cost_known, a.expected_usd
    from refused as r inner join forebay.task_attempts as a using (attempt_id) order by r.n $$,
    $$ values ('lost', 0::numeric, true, true, 0::numeric), ('lost', null, false, false, 2) $$,
    'and cost nothing, unless there is a run'
);
select results_eq(
    $$ select t.priced_attempts, t.measured_attempts, t.costed_attempts
    from refused as r inner join forebay.task_attempts as a using (attempt_id)
    inner join forebay.tasks as t on t.task_id = a.task_id order by r.n $$,
    $$ values (1, 1, 1), (0, 0, 0) $$,
    'which its task knows'
);
select results_eq(
    $$ select a.charged_tokens from refused as r inner join forebay.task_attempts as a using (attempt_id) order by r.n $$,
    array[0::bigint, 1000],
    'and the tokens of its charge are given back'
);
select given($$ select forebay.record_run(r.attempt_id, 'of the first') from refused as r where r.n = 1 $$);
select results_eq(
    $$ select a.compute_usd, a.is_usage_known, a.is_cost_known, t.priced_attempts, t.measured_attempts, t.costed_attempts
    from refused as r inner join forebay.task_attempts as a using (attempt_id)
    inner join forebay.tasks as t on t.task_id = a.task_id where r.n = 1 $$,
    $$ values (null::numeric, false, false, 0, 0, 0) $$,
    'until it is known to have run after all'
);

-- A run that waits for room spends nothing, but nothing waits for ever.
select given($$
    select forebay.register_agent(
        'queued', 'lakeflow', 7, p_timeout => '10 minutes', p_lease => '10 minutes', p_max_deferral_time => '20 minutes'
    );
    select forebay.enqueue('queued', '{}');
    create temporary table waiting on commit drop as select * from forebay.dequeue('w', '{queued}');
    select forebay.record_run(attempt_id, 'run in line') from waiting
$$);
select at_time('2 hours 20 minutes');
select given($$ select forebay.observe_run(attempt_id, '{"life_cycle_state": "QUEUED"}') from waiting $$);
select results_eq(
    $$ select a.deadline_at from forebay.task_attempts as a inner join waiting using (attempt_id) $$,
    array[noon('2 hours 30 minutes')],
    'while a run waits for room, the time of its attempt does not pass'
);
select at_time('2 hours 29 minutes');
select given($$ select forebay.observe_run(attempt_id, '{"life_cycle_state": "QUEUED"}') from waiting $$);
select at_time('2 hours 38 minutes');
select given($$ select forebay.observe_run(attempt_id, '{"life_cycle_state": "QUEUED"}') from waiting $$);
select results_eq(
    $$ select a.deadline_at from forebay.task_attempts as a inner join waiting using (attempt_id) $$,
    array[noon('2 hours 45 minutes')],
    'for as long as the agent lets a task be deferred'
);
select given($$ select forebay.observe_run(attempt_id, '{"life_cycle_state": "RUNNING"}') from waiting $$);
select results_eq(
    $$ select a.deadline_at from forebay.task_attempts as a inner join waiting using (attempt_id) $$,
    array[noon('2 hours 45 minutes')],
    'once it runs, its time does pass'
);
select given($$
    select forebay.register_agent('hasty', 'lakeflow', 7, p_timeout => '5 seconds');
    select forebay.enqueue('hasty', '{}');
    create temporary table hasty on commit drop as select * from forebay.dequeue('w', '{hasty}');
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "UNREACHABLE"}') from hasty
$$);
select results_eq(
    $$ select a.deadline_at from forebay.task_attempts as a inner join hasty using (attempt_id) $$,
    array[noon('2 hours 39 minutes')],
    'what cannot begin outlives the time until the next look, however short its own'
);

-- Of an agent of which three launches fail nothing more is claimed: its job takes no run.
select given($$
    select forebay.register_agent('stuck', 'lakeflow', 7);
    select forebay.enqueue('stuck', '{}') from generate_series(1, 7);
    select forebay.enqueue('stuck', '{}', p_batch_id => forebay.open_batch('stuck', p_owner => 'owner'));
    create temporary table stuck on commit drop as select * from forebay.dequeue('w', '{stuck}', 4);
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "429"}')
    from (select s.attempt_id from stuck as s order by 1 limit 2) as two
$$);
select is((select count(*) from forebay.dequeue('v', '{stuck}')), 1::bigint, 'two may fail by themselves');
select given($$
    select forebay.observe_run(max(attempt_id), '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "500"}') from stuck
$$);
select is((select count(*) from forebay.dequeue('v', '{stuck}')), 0::bigint, 'while three launches fail nothing more is claimed');
select results_eq(
    $$ select e.reason, e.waiting_until, e.ahead, e.explanation
    from forebay.explain_task((select max(t.task_id) from forebay.tasks as t where t.agent = 'stuck')) as e $$,
    $$ values ('held_up', null::timestamptz, 2::bigint, 'Agent stuck starts no more while its launches fail, which worker w '
        'tries again: launch failed with 429. 2 tasks are before it.') $$,
    'and the tasks say so'
);
select is((select state from forebay.agent_status('{stuck}')), 'held_up', 'as the agent does');
select results_eq(
    $$ select limited_by, time_left from forebay.batch_outlook((select max(b.batch_id) from forebay.batches as b), 'owner') $$,
    $$ values ('Agent stuck starts no more while its launches fail.', null::interval) $$,
    'and whoever waits for them hears that nobody knows when'
);
select given($$ select forebay.record_run(max(attempt_id), 'late') from stuck $$);
select is((select count(*) from forebay.dequeue('v', '{stuck}')), 1::bigint, 'once a run has begun others are claimed');
select given($$
    select forebay.observe_run(max(attempt_id), '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "500"}')
    from stuck where attempt_id not in (select a.attempt_id from forebay.task_attempts as a where a.run_id = 'late');
$$);
select is((select count(*) from forebay.dequeue('v', '{stuck}')), 0::bigint, 'until another one fails');
select given($$ select forebay.register_agent('stuck', 'lakeflow', 8) $$);
select is((select count(*) from forebay.dequeue('v', '{stuck}')), 1::bigint, 'nor while it has a job that nobody tried');
select given($$ select forebay.register_agent('stuck', 'lakeflow', 7) $$);
select at_time('2 hours 41 minutes');
select is((select count(*) from forebay.dequeue('v', '{stuck}')), 1::bigint, 'nor once nobody tries any more');

-- A look that failed says nothing: what was last seen holds.
select given($$
    select forebay.register_agent('unseen', 'lakeflow', 7, p_timeout => '10 minutes', p_lease => '10 minutes');
    select forebay.enqueue('unseen', '{}') from generate_series(1, 3);
    create temporary table unseen on commit drop as
    select row_number() over (order by attempt_id) as place, attempt_id from forebay.dequeue('w', '{unseen}', 3);
    select forebay.record_run(attempt_id, 'unseen run ' || place) from unseen;
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "QUEUED", "message": "no room"}') from unseen where place = 1;
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "RUNNING"}') from unseen where place = 2;
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "503"}') from unseen where place = 3
$$);
select at_time('2 hours 45 minutes');
select results_eq(
    $$ select forebay.observe_run(attempt_id, '{"life_cycle_state": "POLL_FAILED", "result_state": "503", "last_seen": 1}')
    from unseen order by place $$,
    array_fill('renew'::text, '{3}'),
    'a look that failed renews'
);
select at_time('2 hours 50 minutes');
select given($$
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "POLL_FAILED", "result_state": "UNREACHABLE"}') from unseen
$$);
select results_eq(
    $$ select a.deadline_at, a.run_state -> 'last_seen' from forebay.task_attempts as a inner join unseen on a.attempt_id = unseen.attempt_id
    order by unseen.place $$,
    $$ values (noon('3 hours'), '{"life_cycle_state": "QUEUED"}'::jsonb),
    (noon('2 hours 51 minutes'), '{"life_cycle_state": "RUNNING"}'), (noon('2 hours 51 minutes'), null) $$,
    'what waited for room when it was last seen waits on; the time of what ran then, or was never seen, passes'
);
select at_time('2 hours 51 minutes');
select results_eq(
    $$ select forebay.observe_run(attempt_id, '{"life_cycle_state": "POLL_FAILED", "result_state": "503"}') from unseen order by place $$,
    array['renew', 'retry', 'retry'],
    'until its deadline'
);
select given($$ select forebay.observe_run(attempt_id, '{"life_cycle_state": "RUNNING"}') from unseen where place = 1 $$);
select is(
    (select a.run_state from forebay.task_attempts as a inner join unseen on a.attempt_id = unseen.attempt_id where unseen.place = 1),
    '{"life_cycle_state": "RUNNING"}'::jsonb,
    'a look that does not fail is all that counts'
);
select given($$
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "TERMINATED", "result_state": "SUCCESS"}') from unseen where place = 1
$$);
select at_time('2 hours 51 minutes 20 s');
select given($$ select forebay.observe_run(attempt_id, '{"life_cycle_state": "POLL_FAILED"}') from unseen where place = 1 $$);
select is(
    (select a.run_ended_at from forebay.task_attempts as a inner join unseen on a.attempt_id = unseen.attempt_id where unseen.place = 1),
    noon('2 hours 51 minutes'),
    'a run that was seen to have ended has, whatever the next look says'
);
select at_time('2 hours 51 minutes 30 s');
select is(
    (
        select forebay.observe_run(attempt_id, '{"life_cycle_state": "TERMINATED", "result_state": "SUCCESS"}')
        from unseen where place = 1
    ),
    'retry', 'so the report grace is counted from its end'
);
select is(
    (select forebay.observe_run(attempt_id, '{"life_cycle_state": "POLL_FAILED"}') from unseen where place = 1), 'none',
    'and then it is over'
);

-- What waits for the end of an earlier run.
select given($$
    select forebay.register_agent('anew', 'lakeflow', 7, p_timeout => '10 minutes');
    select forebay.enqueue('anew', '{}') from generate_series(1, 4);
    create temporary table anew on commit drop as select * from forebay.dequeue('w', '{anew}', 3)
$$);
select at_time('2 hours 52 minutes');
select given($$
    select forebay.observe_run(
        attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "UNREACHABLE", "termination_code": "EARLIER_RUN"}'
    ) from anew
$$);
select results_eq(
    $$ select distinct a.deadline_at from forebay.task_attempts as a inner join anew on a.attempt_id = anew.attempt_id $$,
    array[noon('3 hours 2 minutes')],
    'is held up too'
);
select is((select count(*) from forebay.dequeue('v', '{anew}')), 0::bigint, 'and while three wait so nothing more is claimed');
select given($$
    select forebay.observe_run(
        attempt_id,
        '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "UNREACHABLE", "is_launcher_away": true}'
    ) from anew limit 1
$$);
select is(
    (select count(*) from forebay.dequeue('v', '{anew}')), 1::bigint, 'but one whose worker cannot launch holds up no other'
);

-- A launch that is refused after one that had no clear answer: a run may exist, and is to be ended first.
select given($$
    select forebay.register_agent('unclear', 'lakeflow', 7, p_max_attempts => 9, p_max_tpm => 10000);
    select forebay.enqueue('unclear', '{}', p_estimated_tokens => 100) from generate_series(1, 5);
    create temporary table unclear on commit drop as
    select row_number() over (order by attempt_id) as place, attempt_id from forebay.dequeue('w', '{unclear}', 5);
    select forebay.record_run(attempt_id, 'unclear run') from unclear where place = 4;
    select forebay.observe_run(
        attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "503", "is_unclear": true}'
    ) from unclear where place = 2
$$);
select results_eq(
    $$ select forebay.observe_run(attempt_id, p_run) from unclear inner join (
        values (1, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "400", "is_unclear": true}'::jsonb),
        (2, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "400"}'),
        (3, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "403", "is_unclear": true}'),
        (4, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "400"}'),
        (5, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "403", "is_unclear": false}')
    ) as said (place, p_run) using (place) order by place $$,
    array['retry', 'retry', 'pause_agent', 'retry', 'pause_agent'],
    'a refusal ends an attempt'
);
select results_eq(
    $$ select a.status, a.is_stop_pending, a.run_ended_at is null, a.is_cost_known, a.compute_usd, a.charged_tokens
    from forebay.task_attempts as a inner join unclear using (attempt_id) order by unclear.place $$,
    $$ values ('lost', true, true, false, null::numeric, 100::bigint), ('lost', true, true, false, null, 100),
    ('released', true, true, false, null, 100), ('lost', true, true, false, null, 100),
    ('released', false, false, true, 0, 0) $$,
    'what may have a run is to be cancelled, and what it cost is not known, unless every try was refused'
);
select given($$
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "403"}') from unclear
$$);
select results_eq(
    $$ select a.is_stop_pending from forebay.task_attempts as a inner join unclear using (attempt_id) order by unclear.place $$,
    array[true, true, true, true, false],
    'that its token is refused too does not say that there is none'
);
select given($$
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "404"}') from unclear
    where place in (1, 4)
$$);
select at_time('27 hours');
select given($$
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "400"}') from unclear
    where place <> 1
$$);
select results_eq(
    $$ select a.is_stop_pending, forebay._never_ran(a)
    from forebay.task_attempts as a inner join unclear using (attempt_id) order by unclear.place $$,
    $$ values (false, false), (false, false), (false, false), (true, false), (false, true) $$,
    'it is looked for until its job is not there, or for a day; one that is known to its end'
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
