-- runs_to_cancel: a run outside the driver that nobody wants any more is cancelled, until it is seen to have ended.
begin;
select plan(27);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('jobs', 'lakeflow', 7, p_lease => '1 minute', p_timeout => '1 hour');
    select forebay.register_agent('own', 'local', p_entry_point => 'own');
    select forebay.enqueue('jobs', '{}') from generate_series(1, 6);
    select forebay.enqueue('own', '{}');
    select forebay.dequeue('w', '{jobs}', 6), forebay.dequeue('w', '{own}');
    select forebay.record_run(attempt_id, 'run ' || attempt_id) from forebay.task_attempts where attempt_id <> 102
$$);
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'a run that is wanted is left alone');
select given($$ select forebay.cancel('{1, 2, 7}') $$);
set local role forebay_worker;
select results_eq(
    $$ select attempt_id, task_id, agent, launcher, job_id, run_id, launch_token like 'fb-%'
    from forebay.runs_to_cancel('w') $$,
    $$ values (101::bigint, 1::bigint, 'jobs', 'lakeflow', 7::bigint, 'run 101', true) $$,
    'the run of a cancelled attempt is handed out; one without a run, or inside the driver, is not'
);
set local role forebay_owner;
select is_empty($$ select forebay.runs_to_cancel('v') $$, 'it is handed out once');
select at_time('9.9 seconds');
select is_empty($$ select forebay.runs_to_cancel('v') $$, 'in ten seconds');
select at_time('10 seconds');
select results_eq($$ select run_id from forebay.runs_to_cancel('v') $$, array['run 101'], 'and then to whoever asks');
select given($$ select forebay.observe_run(101, '{"life_cycle_state": "TERMINATING"}') $$);
select at_time('20 seconds');
select results_eq($$ select run_id from forebay.runs_to_cancel('v') $$, array['run 101'], 'while it goes on');
select given($$
    select forebay.observe_run(101, '{"life_cycle_state": "TERMINATED", "result_state": "CANCELED"}')
$$);
select at_time('30 seconds');
select is_empty($$ select forebay.runs_to_cancel('v') $$, 'until it is seen to end');
select given($$ select forebay.record_run(102, 'run 102') $$);
select results_eq(
    $$ select run_id from forebay.runs_to_cancel('w') $$, array['run 102'], 'a run that becomes known late is cancelled'
);
select given($$ select forebay.complete(102, '{}') $$);
select at_time('40 seconds');
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'a report shows that it has ended');

-- Lost, late and superseded.
select at_time('3 minutes');
select given($$ select forebay.sweep() $$);
select results_eq(
    $$ select run_id from forebay.runs_to_cancel('w', 2) $$,
    array['run 103', 'run 104'],
    'runs of lost attempts, a few at once'
);
select results_eq(
    $$ select run_id from forebay.runs_to_cancel('w', 2) $$, array['run 105', 'run 106'], 'and the next of them'
);
select given($$
    select forebay.dequeue('w', '{jobs}');
    select forebay.record_run(108, 'run 108');
    select forebay.complete(103, '{}')
$$);
select results_eq(
    $$ select run_id from forebay.runs_to_cancel('w') $$, array['run 108'], 'the run of a superseded attempt'
);
select given($$
    select forebay.register_agent('jobs', 'lakeflow', 7, p_lease => '1 hour', p_timeout => '1 minute');
    select forebay.dequeue('w', '{jobs}');
    select forebay.record_run(109, 'run 109')
$$);
select at_time('4 minutes');
select given($$ select forebay.sweep() $$);
select results_eq(
    $$ select run_id from forebay.runs_to_cancel('w') where run_id = 'run 109' $$,
    array['run 109'],
    'and that of an attempt that reached its deadline'
);

-- What does not end is asked for more seldom, and holds up no other one.
select at_time('5 hours');
select given($$ select forebay.runs_to_cancel('w') $$);
select at_time('5 hours 5 minutes');
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'after hours in vain a run is not asked for every ten seconds');
select given($$
    select forebay.register_agent('jobs', 'lakeflow', 7, p_lease => '1 minute', p_timeout => '1 hour', p_max_attempts => 9);
    select forebay.enqueue('jobs', '{}');
    select forebay.dequeue('w', '{jobs}', 9);
    select forebay.record_run(attempt_id, 'run ' || attempt_id) from forebay.task_attempts where finished_at is null;
    select forebay.cancel(array(select task_id from forebay.tasks where status = 'processing'))
$$);
select at_time('5 hours 16 minutes');
select results_eq(
    $$ select attempt_id >= 110 from forebay.runs_to_cancel('w', 1) $$,
    array[true],
    'what was never asked for comes before what was'
);

-- A run that nobody recorded, of a daemon that died between the launch and that.
select given($$
    update forebay.task_attempts set is_stop_pending = false;
    select forebay.enqueue('jobs', '{}', 100);
    select forebay.observe_launcher('dead', 'lakeflow', p_place => e'one\nhttps://one');
    create temporary table unknown on commit drop as select * from forebay.dequeue('dead', '{jobs}');
    select forebay.register_agent('jobs', 'lakeflow', 8, p_lease => '1 minute', p_max_attempts => 9);
    select forebay.cancel(array(select task_id from unknown))
$$);
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'its daemon may yet say what became of it');
select at_time('5 hours 17 minutes');
select given($$ select forebay.observe_launcher('x', 'lakeflow', p_place => e'two\nhttps://one') $$);
select is_empty($$ select forebay.runs_to_cancel('x') $$, 'a run in another workspace is not named');
select results_eq(
    $$ select r.attempt_id, r.run_id, r.job_id, r.launch_token = u.launch_token
    from forebay.runs_to_cancel('w') as r inner join unknown as u using (attempt_id) $$,
    $$ select attempt_id, null::text, 7::bigint, true from unknown $$,
    'then it is named without an id, with its token and the job of its claim'
);
select given($$
    select forebay.observe_run(attempt_id, '{"life_cycle_state": "LAUNCH_FAILED", "result_state": "404"}') from unknown
$$);
select is(
    (select pause_reason from forebay.agents where agent = 'jobs'), null, 'what became of it pauses no agent'
);
select at_time('5 hours 30 minutes');
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'one that cannot be is not asked for again');
select given($$ update forebay.task_attempts set is_stop_pending = true where attempt_id in (select attempt_id from unknown) $$);
select at_time('30 hours');
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'nor is one that nobody found for a day');

-- Errors.
select throws_ok($$ select forebay.runs_to_cancel(null) $$, '22023', null, 'a worker has a name');
select throws_ok($$ select forebay.runs_to_cancel('') $$, '22023', null, 'the name is not empty');
select throws_ok($$ select forebay.runs_to_cancel('w', null) $$, '22023', null, 'a limit is not null');
select throws_ok($$ select forebay.runs_to_cancel('w', 0) $$, '22023', null, 'a limit is 1 at least');
select throws_ok($$ select forebay.runs_to_cancel('w', 10001) $$, '22023', null, 'a limit is 10,000 at most');
select only_callable_by('{worker}', $$ select forebay.runs_to_cancel('w') $$);
select finish();
rollback;
