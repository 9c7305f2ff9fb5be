-- runs_before: before a task is launched anew, the runs of its earlier attempts are cancelled, whoever else means to.
begin;
select plan(9);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('jobs', 'lakeflow', 7, p_lease => '1 minute', p_timeout => '1 hour');
    select forebay.enqueue('jobs', '{}') from generate_series(1, 2);
    select forebay.dequeue('dead', '{jobs}', 2);
    select forebay.record_run(101, 'run 101'), forebay.record_run(102, 'run 102')
$$);
select at_time('4 minutes');
select given($$
    select forebay.sweep();
    select forebay.runs_to_cancel('dying');
    select forebay.dequeue('w', '{jobs}', 2)
$$);
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'another one has taken the runs a moment ago');
set local role forebay_worker;
select results_eq(
    $$ select attempt_id, task_id, agent, launcher, job_id, run_id from forebay.runs_before('w', '{103}') $$,
    $$ values (101::bigint, 1::bigint, 'jobs', 'lakeflow', 7::bigint, 'run 101') $$,
    'who launches the task anew gets them all the same'
);
select is_empty($$ select forebay.runs_before('w', '{101, 4711}') $$, 'a first attempt has none before it');
set local role forebay_owner;
select given($$
    update forebay.task_attempts set place = 'one';
    select forebay.observe_launcher('w', 'lakeflow', p_place => 'two')
$$);
select is_empty($$ select forebay.runs_before('w', '{103}') $$, 'runs in another workspace are left to who is there');
select given($$
    select forebay.observe_launcher('w', 'lakeflow', p_place => e'1\none');
    select forebay.observe_run(101, '{"life_cycle_state": "TERMINATED", "result_state": "CANCELED"}')
$$);
select is_empty($$ select forebay.runs_before('w', '{103}') $$, 'a run that was seen to end is none');
select throws_ok($$ select forebay.runs_before(null, '{103}') $$, '22023', null, 'a worker has a name');
select throws_ok($$ select forebay.runs_before('w', null) $$, '22023', null, 'the attempts are not null');
select only_callable_by('{worker}', $$ select forebay.runs_before('w', '{103}') $$);
select given($$ update forebay.installation set is_branch = true $$);
select is_empty($$ select forebay.runs_before('w', '{104}') $$, 'a branch cancels nothing');
select finish();
rollback;
