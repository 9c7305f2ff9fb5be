-- begin_branch: a copy gets an identity of its own, starts nothing, and has no claim on what runs elsewhere.
begin;
select plan(27);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('jobs', 'lakeflow', p_job_id => 7, p_max_attempts => 2, p_max_tpm => 60000),
        forebay.register_agent('here');
    select forebay.enqueue('jobs', '{}', p_estimated_tokens => 1000) from generate_series(1, 3);
    select forebay.dequeue('w', '{jobs}', 3);
    select forebay.record_run(a, a::text) from generate_series(101, 103) as a;
    select forebay.cancel('{3}');
    select forebay.pause_agent('here', p_reason => 'because of Smith');
    select forebay.collect_announcements();
    select forebay.observe_launcher('w', 'lakeflow', 'no');
    update forebay.installation set installation_id = upload(1)
$$);
set local role forebay_upkeep;
select throws_ok($$ select forebay.begin_branch('fix') $$, 'QF405', null, 'an original is never made a branch');
set local role forebay_owner;
select given($$ update forebay.installation set home = '1' $$);
set local role forebay_upkeep;
select throws_ok($$ select forebay.begin_branch('fix') $$, 'QF405', null, 'nor a copy that was not announced');
set local role forebay_owner;
select given($$ update forebay.installation set home = null; select forebay.prepare_branch('fix'), forebay.branch_copied('fix');
    update forebay.installation set home = '1' $$);
select throws_ok($$ select forebay.begin_branch('fix') $$, 'QF405', null, 'nor what is taken for one when the copy is there');
select given($$ update forebay.installation set home = null; select forebay.prepare_branch('fix');
    update forebay.installation set home = '1' $$);
select throws_ok($$ select forebay.begin_branch('other') $$, 'QF405', null, 'nor a copy of another name');
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'a copy names none of the original''s runs');
select is_empty($$ select forebay.collect_announcements() $$, 'it has nothing to tell');
set local role forebay_upkeep;
select results_eq(
    $$ select state, branch_name, branch_of, branched_at from forebay.begin_branch('fix', 'ann') $$,
    $$ values ('unfinished', 'fix', upload(1), noon()) $$,
    'the copy is a branch'
);
select isnt((forebay.branch_state()).installation_id, upload(1), 'with an id of its own');
set local role forebay_owner;
select is(
    (select array_agg(distinct paused_until) from forebay.agents), array['infinity'::timestamptz], 'every agent is paused'
);
select results_eq(
    $$ select attempt_id, status, is_stop_pending, error ->> 'kind' from forebay.task_attempts order by attempt_id $$,
    $$ values (101::bigint, 'lost', false, 'infrastructure'), (102, 'lost', false, 'infrastructure'),
        (103, 'cancelled', false, null) $$,
    'no attempt runs here, and none is to be stopped'
);
select results_eq(
    $$ select task_id, status, attempt_count from forebay.tasks order by task_id $$,
    $$ values (1::bigint, 'enqueued', 0), (2, 'enqueued', 0), (3, 'cancelled', 1) $$,
    'their tasks are back in line, with nothing spent'
);
select is(
    (select sum(tokens) from forebay.agent_settlements), 2000::numeric, 'what they were charged is given back'
);
select is_empty($$ select from forebay.dispatchers $$, 'nobody dispatches');
select is_empty($$ select from forebay.launcher_faults $$, 'no launcher is at fault');
select is_empty($$ select from forebay.announcements $$, 'and nothing is to be told');
select given($$ select forebay.sweep(), at_time('3 h'), forebay.sweep() $$);
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'no run is to be cancelled, whatever time passes');
select throws_ok($$ select forebay.adopt('w', '{lakeflow}') $$, 'QF401', null, 'it adopts nothing');
select throws_ok(
    $$ select forebay.callback('{"type": "task.usage", "data": {"task_id": 1, "attempt_id": 101, "usage": []}}') $$,
    'QF401', null, 'and answers no callback'
);
select cmp_ok(
    (select forebay.enqueue('here', '{}')), '>=', 1000000000000, 'a new task has an id that the original will never give'
);
create temporary table before as select * from forebay.branch_state();
select throws_ok($$ select forebay.begin_branch('other') $$, 'QF405', null, 'it is begun once');
select results_eq($$ select * from forebay.branch_state() $$, $$ select * from before $$, 'by whoever came first');
select given($$ select forebay.mask_data(), forebay.finish_branch(), forebay.open_installation() $$);
select is_empty($$ select forebay.runs_to_cancel('w') $$, 'not even an open branch cancels the original''s runs');
select throws_ok($$ select forebay.begin_branch('other') $$, 'QF405', null, 'nor is one that is open begun');
select given($$
    update forebay.installation set is_branch = false, branch_name = null, opened_in = null, opened_home = null, system_identifier = 1;
    select forebay.open_installation('the old server is gone')
$$);
select throws_ok($$ select forebay.begin_branch('other') $$, 'QF405', null, 'nor a restored copy that took over');
select throws_ok($$ select forebay.begin_branch('') $$, '22023', null, 'a branch has a name');
select throws_ok($$ select forebay.begin_branch(null) $$, '22023', null, 'which is not null');
select only_callable_by('{upkeep}', $$ select forebay.begin_branch('fix') $$);
select finish();
rollback;
