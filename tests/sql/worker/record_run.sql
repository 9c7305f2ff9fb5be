-- record_run: an attempt knows its one run, also when it was ended meanwhile, so that the run can be cancelled.
begin;
select plan(15);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('jobs', 'lakeflow', p_job_id => 7);
    select forebay.enqueue('jobs', '{}'), forebay.enqueue('jobs', '{}');
    select forebay.dequeue('w', '{jobs}', 2)
$$);
set local role forebay_worker;
select lives_ok($$ select forebay.record_run(101, 'run 1') $$, 'the launcher tells which run it started');
set local role forebay_owner;
select results_eq(
    $$ select status, run_id from forebay.task_attempts order by attempt_id $$,
    $$ values ('running', 'run 1'), ('claimed', null) $$,
    'the attempt runs'
);
select lives_ok($$ select forebay.record_run(101, 'run 1') $$, 'the same run again is a no-op');
select throws_ok($$ select forebay.record_run(101, 'run 2') $$, 'QF202', null, 'another run is refused');
select results_eq(
    $$ select run_id from forebay.task_attempts where attempt_id = 101 $$, array['run 1'], 'and changes nothing'
);
select given($$ select forebay.cancel('{2}') $$);
select is_empty(
    $$ select forebay.runs_to_cancel('w') $$,
    'an attempt cancelled before its launch has no run to cancel'
);
select lives_ok($$ select forebay.record_run(102, 'run 2') $$, 'its run may become known later');
select results_eq(
    $$ select status, run_id from forebay.task_attempts where attempt_id = 102 $$,
    $$ values ('cancelled', 'run 2') $$,
    'it stays cancelled'
);
select results_eq(
    $$ select run_id from forebay.runs_to_cancel('w') $$, array['run 2'], 'and its run is cancelled'
);
select throws_ok($$ select forebay.record_run(999, 'run') $$, 'QF304', null, 'an unknown attempt is refused');
select throws_ok($$ select forebay.record_run(null, 'run') $$, '22023', null, 'an attempt must be named');
select throws_ok($$ select forebay.record_run(101, null) $$, '22023', null, 'a run has an id');
select throws_ok($$ select forebay.record_run(101, '') $$, '22023', null, 'the id is not empty');
select throws_ok($$ select forebay.record_run(101, repeat('r', 501)) $$, '22023', null, 'nor over-long');
select only_callable_by('{worker}', $$ select forebay.record_run(101, 'run 1') $$);
select finish();
rollback;
