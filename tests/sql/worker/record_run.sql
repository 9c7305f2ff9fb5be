-- record_run: an attempt knows its one run, also when it was ended meanwhile, so that the run can be cancelled.
begin;
select plan(23);
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

-- An attempt that was taken to have had no machine.
select given($$
    select forebay.register_customer('c');
    select forebay.enqueue('jobs', '{}', p_customer => 'c'), forebay.enqueue('jobs', '{}', p_customer => 'c');
    select forebay.dequeue('w', '{jobs}', 2);
    select forebay.release(103, 'launch refused'), forebay.release(104, 'launch refused')
$$);
select results_eq(
    $$ select tasks, costed_attempts, compute_usd from forebay.cost_by('customer', p_customers => '{c}') $$,
    $$ values (2::bigint, 2::bigint, 0::numeric) $$,
    'of attempts that were handed back it is known that they cost nothing'
);
select lives_ok($$ select forebay.record_run(103, 'run 3') $$, 'but the run of one was there, its answer was lost');
select results_eq(
    $$ select compute_usd, is_compute_final from forebay.task_attempts where attempt_id = 103 $$,
    $$ values (null::numeric, false) $$,
    'then what it cost is unknown'
);
select results_eq(
    $$ select costed_attempts, provisional_attempts from forebay.tasks where customer = 'c' order by task_id $$,
    $$ values (0, 0), (1, 0) $$,
    'on its task too'
);
select results_eq(
    $$ select tasks, costed_attempts, compute_usd from forebay.cost_by('customer', p_customers => '{c}') $$,
    $$ values (2::bigint, 1::bigint, 0::numeric) $$,
    'and in the rollups'
);
select results_eq(
    $$ select basis, attempts, usd from forebay.cost_sources(p_customers => '{c}') where part = 'compute' $$,
    $$ values ('awaited', 1::bigint, null::numeric), ('final', 1, 0) $$,
    'a bill is awaited'
);
select results_eq(
    $$ select run_id from forebay.runs_to_bill('{run 3}') $$, array['run 3'], 'and asked for'
);
select given($$
    select forebay.record_compute_usage('[{"record_id": "1", "attempt_id": 103, "usd": 0.5}]', 'billing')
$$);
select results_eq(
    $$ select tasks, costed_attempts, compute_usd from forebay.cost_by('customer', p_customers => '{c}') $$,
    $$ values (2::bigint, 2::bigint, 0.5) $$,
    'until it tells'
);
select throws_ok($$ select forebay.record_run(999, 'run') $$, 'QF304', null, 'an unknown attempt is refused');
select throws_ok($$ select forebay.record_run(null, 'run') $$, '22023', null, 'an attempt must be named');
select throws_ok($$ select forebay.record_run(101, null) $$, '22023', null, 'a run has an id');
select throws_ok($$ select forebay.record_run(101, '') $$, '22023', null, 'the id is not empty');
select throws_ok($$ select forebay.record_run(101, repeat('r', 501)) $$, '22023', null, 'nor over-long');
select only_callable_by('{worker}', $$ select forebay.record_run(101, 'run 1') $$);
select finish();
rollback;
