-- sweep: what nobody holds any more goes back in line or fails, and what is due is woken.
begin;
select plan(26);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_lease => '1 minute', p_max_attempts => 2);
    select forebay.register_agent('strict', p_lease => '1 minute', p_on_lost_lease => 'fail');
    select forebay.register_agent('slow', p_lease => '2 hours', p_timeout => '1 hour', p_max_attempts => 2,
        p_backoff_base => '100 seconds');
    select forebay.enqueue('a', '{}'), forebay.enqueue('strict', '{}'), forebay.enqueue('slow', '{}');
    select forebay.dequeue('w', '{a}'), forebay.dequeue('w', '{strict}'), forebay.dequeue('w', '{slow}')
$$);
select results_eq($$ select * from forebay.sweep() $$, $$ values (0, 0, 0) $$, 'what is held stays');
select at_time('1 minute');
set local role forebay_worker;
select results_eq(
    $$ select * from forebay.sweep() $$, $$ values (1, 1, 0) $$, 'it says how many went back in line, and failed'
);
set local role forebay_owner;
select results_eq(
    $$ select status, available_at, finished_at, attempt_count, attempt_id
    from forebay.tasks order by task_id limit 2 $$,
    $$ values ('enqueued', noon('1 min'), null::timestamptz, 1, null::bigint),
        ('failed', noon(), noon('1 min'), 1, null) $$,
    'a lost lease goes back at once, or fails the task where the agent says so'
);
select results_eq(
    $$ select status, error ->> 'kind', finished_at from forebay.task_attempts order by attempt_id limit 2 $$,
    $$ values ('lost', 'infrastructure', noon('1 min')), ('lost', 'infrastructure', noon('1 min')) $$,
    'the attempts are lost'
);
select results_eq(
    $$ select error ->> 'message' from forebay.tasks where task_id = 2 $$,
    array['lease expired: worker w stopped renewing it'],
    'the task says why it failed'
);
select results_eq($$ select * from forebay.sweep() $$, $$ values (0, 0, 0) $$, 'a second sweep finds nothing');

-- A task that kills its worker.
select given($$ select forebay.dequeue('w', '{a}') $$);
select at_time('2 minutes');
select results_eq($$ select * from forebay.sweep() $$, $$ values (0, 1, 0) $$, 'with no attempts left the task fails');
select results_eq(
    $$ select status, attempt_count from forebay.tasks where task_id = 1 $$,
    $$ values ('failed', 2) $$,
    'so a task that kills its worker runs out of attempts'
);

-- The deadline.
select at_time('59 minutes 59 seconds');
select results_eq(
    $$ select * from forebay.sweep() $$,
    $$ values (0, 0, 0) $$,
    'before its deadline an attempt runs on'
);
select at_time('1 hour');
select results_eq($$ select * from forebay.sweep() $$, $$ values (1, 0, 0) $$, 'after it the task goes back in line');
select results_eq(
    $$ select status, error ->> 'kind', is_stop_pending from forebay.task_attempts where attempt_id = 103 $$,
    $$ values ('failed', 'timeout', true) $$,
    'the attempt failed as timeout, and has to stop'
);
select results_eq(
    $$ select available_at between noon('1 hour 90 s') and noon('1 hour 100 s') from forebay.tasks where task_id = 3 $$,
    array[true],
    'the retry waits for the agent''s backoff, less up to a tenth of it'
);
select at_time('1 hour 2 minutes');
select results_eq($$ select * from forebay.sweep() $$, $$ values (0, 0, 1) $$, 'a task that became due is woken');
select given($$ select forebay.dequeue('w', '{slow}') $$);
select at_time('3 hours');
select results_eq($$ select * from forebay.sweep() $$, $$ values (0, 1, 0) $$, 'the last timeout fails the task');
select results_eq(
    $$ select status, error ->> 'kind' from forebay.tasks where task_id = 3 $$,
    $$ values ('failed', 'timeout') $$,
    'as such'
);

-- A strict agent retries a timeout.
select given($$
    select forebay.register_agent('strict', p_timeout => '1 minute', p_on_lost_lease => 'fail');
    select forebay.enqueue('strict', '{}');
    select forebay.dequeue('w', '{strict}')
$$);
select at_time('3 hours 1 minute');
select results_eq(
    $$ select * from forebay.sweep() $$, $$ values (1, 0, 0) $$, 'p_on_lost_lease is about leases, a timeout is retried'
);

-- A run that was seen to end without a report.
select given($$
    select forebay.register_agent('jobs', 'lakeflow', p_lease => '1 hour');
    select forebay.enqueue('jobs', '{}');
    select forebay.dequeue('w', '{jobs}');
    select forebay.observe_run(a.attempt_id, '{"life_cycle_state": "TERMINATED", "result_state": "SUCCESS"}')
    from forebay.task_attempts as a where a.agent = 'jobs'
$$);
select at_time('3 hours 1 minute 29 seconds');
select results_eq($$ select requeued from forebay.sweep() $$, array[0], 'a run seen ended has a grace for its report');
select at_time('3 hours 1 minute 30 seconds');
select results_eq($$ select requeued from forebay.sweep() $$, array[1], 'of 30 seconds, and then counts as lost');

-- The limit.
select given($$
    select forebay.register_agent('a', p_lease => '1 minute', p_max_attempts => 5);
    select forebay.enqueue('a', '{}') from generate_series(1, 3);
    select forebay.dequeue('w', '{a}', 3)
$$);
select at_time('4 hours');
select results_eq($$ select requeued from forebay.sweep(2) $$, array[2], 'no more than p_limit at once');
select given($$ select forebay.sweep(1, 'sweeper') $$);
select results_eq(
    $$ select last_claim_at, last_sweep_at from forebay.dispatchers where worker = 'sweeper' $$,
    $$ values (null::timestamptz, noon('4 hours')) $$,
    'who sweeps is noted'
);

-- Errors.
select throws_ok($$ select forebay.sweep(null) $$, '22023', null, 'a limit is not null');
select throws_ok($$ select forebay.sweep(0) $$, '22023', null, 'a limit is 1 at least');
select throws_ok($$ select forebay.sweep(100001) $$, '22023', null, 'a limit is 100,000 at most');
select throws_ok($$ select forebay.sweep(1, '') $$, '22023', null, 'a worker''s name is not empty');
select only_callable_by('{worker, upkeep}', $$ select forebay.sweep() $$);

-- It stays safe in a copy: nothing is launched by it.
select given($$ update forebay.installation set is_branch = true $$);
select lives_ok($$ select forebay.sweep() $$, 'a branch may sweep');
select finish();
rollback;
