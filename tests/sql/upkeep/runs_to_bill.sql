-- runs_to_bill: which runs are ours, and of which a bill may still tell something else.
begin;
select plan(18);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('here'), forebay.register_agent('jobs', 'lakeflow', p_job_id => 7);
    select forebay.enqueue('here', '{}') from generate_series(1, 1);
    select forebay.enqueue('jobs', '{}') from generate_series(1, 3);
    select forebay.dequeue('w', '{here}', 1);
    select forebay.dequeue('w', '{jobs}', 3);
    select forebay.record_run(101, '41'), forebay.record_run(102, '42'), forebay.record_run(103, '43');
    select forebay.complete(102, '{}')
$$);
set local role forebay_upkeep;
select results_eq(
    $$ select * from forebay.runs_to_bill('{42,43,41,99}') $$,
    $$ values (102::bigint, '42', noon(), noon(), false), (103, '43', noon(), null::timestamptz, false) $$,
    'those that a launcher outside started'
);
select results_eq(
    $$ select attempt_id from forebay.runs_to_bill('{42,43}', p_after_attempt_id => 102) $$, array[103::bigint], 'page by page'
);
select is_empty($$ select * from forebay.runs_to_bill('{}') $$, 'of none there is none');
select is_empty($$ select * from forebay.runs_to_bill() $$, 'nothing was told before');
select given($$
    select forebay.record_compute_usage(
        '[{"record_id": "1", "attempt_id": 102, "usd": 1, "is_final": false}, {"record_id": "2", "attempt_id": 103, "usd": 1}]', 'billing'
    )
$$);
select results_eq(
    $$ select attempt_id from forebay.runs_to_bill() $$, array[102::bigint], 'what was told and is not final may still change'
);
select given($$ select forebay.record_compute_usage('[{"record_id": "2", "attempt_id": 103, "usd": null}]', 'billing') $$);
select results_eq(
    $$ select attempt_id from forebay.runs_to_bill() $$, array[102::bigint, 103], 'and what has no price'
);
select is_empty($$ select * from forebay.runs_to_bill(p_source => 'other') $$, 'by its source alone');
set local role forebay_owner;
select given($$
    update forebay.compute_usage set is_final = usd is not null;
    select forebay.complete(104, '{}');
    update forebay.task_attempts set run_id = '44' where attempt_id = 104
$$);
set local role forebay_upkeep;
select results_eq(
    $$ select attempt_id from forebay.runs_to_bill() $$, array[103::bigint, 104], 'and an ended one that it told nothing of'
);
set local role forebay_owner;
select at_time('1 day');
set local role forebay_upkeep;
select results_eq(
    $$ select attempt_id, is_settled from forebay.runs_to_bill('{42,43}') $$,
    $$ values (102::bigint, true), (103, false) $$,
    'one that ended as long ago as bills take is settled, and none that runs'
);
set local role forebay_owner;
update forebay.task_attempts set run_id = '42' where attempt_id = 104;
set local role forebay_upkeep;
select results_eq(
    $$ select attempt_id from forebay.runs_to_bill('{42}') $$, array[104::bigint], 'a run is paid for once, by the latest attempt that has it'
);

-- The same id is another run in another workspace.
set local role forebay_owner;
select given($$ select forebay.observe_launcher('v', 'lakeflow', p_place => 'there') $$);
select given($$
    select forebay.enqueue('jobs', '{}');
    select forebay.dequeue('v', '{jobs}', 1);
    select forebay.record_run(105, '42');
    select forebay.complete(105, '{}');
    update forebay.task_attempts set place = 'one' where attempt_id = 102;
    update forebay.task_attempts set run_id = '44' where attempt_id = 104
$$);
set local role forebay_upkeep;
select results_eq(
    $$ select attempt_id from forebay.runs_to_bill('{42,43}', p_places => '{one,https://one}') $$, array[102::bigint, 103],
    'a bill tells of runs of its workspace, and of those that may be of it'
);
select results_eq(
    $$ select attempt_id from forebay.runs_to_bill('{42,43}', p_places => '{there}') $$, array[103::bigint, 105],
    'so does another one of its own'
);
select results_eq(
    $$ select attempt_id from forebay.runs_to_bill(p_places => '{there}') $$, array[103::bigint, 104, 105],
    'and of what it may tell more'
);
select results_eq(
    $$ select attempt_id from forebay.runs_to_bill('{42,43}') $$, array[103::bigint, 105], 'without a place of all of them'
);
select throws_ok($$ select forebay.runs_to_bill(p_source => null) $$, '22023', null, 'a source is given');
select throws_ok($$ select forebay.runs_to_bill(p_after_attempt_id => null) $$, '22023', null, 'and an attempt');
select throws_ok($$ select forebay.runs_to_bill(p_limit => null) $$, '22023', null, 'and a limit');
select only_callable_by('{upkeep}', $$ select forebay.runs_to_bill() $$);
select finish();
rollback;
