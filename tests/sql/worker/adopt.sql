-- adopt: an attempt outlives its driver where its run does: the lease moves, attempt and launch token stay.
begin;
select plan(32);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('jobs', 'lakeflow', 7, 'parse_document', p_lease => '1 minute');
    select forebay.register_agent('own', 'local', p_entry_point => 'own', p_lease => '1 minute');
    select forebay.enqueue('jobs', '{"n": 1}', 10, p_customer => 'acme', p_estimated_tokens => 5);
    select forebay.enqueue('jobs', '{"n": 2}');
    select forebay.dequeue('dead', '{jobs}', 2);
    select forebay.record_run(102, 'run 2');
    select forebay.enqueue('own', '{}');
    select forebay.dequeue('dead', '{own}')
$$);
select given($$ create temporary table tokens on commit drop as select launch_token from forebay.task_attempts $$);
select is_empty($$ select forebay.adopt('v', '{lakeflow}') $$, 'a lease that is held is not taken over');
select at_time('1 minute');
select is_empty($$ select forebay.adopt('v', '{local, pull}') $$, 'runs inside a driver end with it');
select is_empty($$ select forebay.adopt('v', '{}') $$, 'no launchers, no attempts');
set local role forebay_worker;
select results_eq(
    $$ select
        task_id, attempt_id, attempt_no, agent, launcher, job_id, entry_point, payload, priority, customer,
        estimated_tokens, lease_expires_at, deadline_at, run_id
    from forebay.adopt('v', '{lakeflow}', 1) $$,
    $$ values (
        1::bigint, 101::bigint, 1, 'jobs', 'lakeflow', 7::bigint, 'parse_document', '{"n": 1}'::jsonb, 10, 'acme',
        5::bigint, noon('2 min'), noon('1 hour'), null::text
    ) $$,
    'dequeue''s row comes back, no more than p_limit of them'
);
select results_eq(
    $$ select attempt_id, run_id from forebay.adopt('v', '{lakeflow}') $$,
    $$ values (102::bigint, 'run 2') $$,
    'with the run where one was recorded'
);
set local role forebay_owner;
select results_eq(
    $$ select worker, lease_expires_at from forebay.task_attempts order by attempt_id $$,
    $$ values ('v', noon('2 min')), ('v', noon('2 min')), ('dead', noon('1 min')) $$,
    'the lease moved to the caller'
);
select set_eq(
    $$ select launch_token from forebay.task_attempts $$,
    $$ select launch_token from tokens $$,
    'the launch tokens stay'
);
select results_eq(
    $$ select locked_by, attempt_id, attempt_count from forebay.tasks where agent = 'jobs' order by task_id $$,
    $$ values ('v', 101::bigint, 1), ('v', 102, 1) $$,
    'the task is the caller''s, and no attempt was spent'
);
select results_eq(
    $$ select state from forebay.renew_leases('dead', '{101}') $$, array['lost'], 'the earlier driver has lost it'
);
select results_eq(
    $$ select state from forebay.renew_leases('v', '{101}') $$, array['renewed'], 'and the caller renews it'
);
select is_empty($$ select forebay.adopt('u', '{lakeflow}') $$, 'it is taken over once');

-- The adoption grace, after a lease that ran out at 2 minutes.
select at_time('3 minutes 59 seconds');
select results_eq(
    $$ select requeued from forebay.sweep() $$, array[1], 'a sweep takes back only what ended with its driver'
);
select given($$ select forebay.enqueue('jobs', '{}') $$);
select results_eq(
    $$ select task_id from forebay.dequeue('w', '{jobs}', 5) $$, array[4]::bigint[], 'and so does a dequeue'
);
select results_eq(
    $$ select attempt_id from forebay.adopt('u', '{lakeflow}', 1) $$,
    array[101]::bigint[],
    'what may live on is left for adoption'
);
select at_time('4 minutes');
select results_eq(
    $$ select requeued from forebay.sweep() $$, array[1], 'two minutes after the lease ran out it goes back in line'
);
select is_empty($$ select forebay.adopt('u', '{lakeflow}') $$, 'and cannot be adopted any more');
select at_time('1 hour 4 minutes');
select is_empty($$ select forebay.adopt('u', '{lakeflow}') $$, 'nor can an attempt whose deadline has passed');

-- Where and what an attempt runs is as it was at its claim.
select given($$
    select forebay.observe_launcher('one', 'lakeflow', p_place => 'workspace 1');
    select forebay.observe_launcher('two', 'lakeflow', p_place => 'workspace 2');
    select forebay.register_agent('jobs', 'lakeflow', 7, p_lease => '1 minute', p_max_attempts => 9);
    select forebay.enqueue('jobs', '{}', 100);
    create temporary table claimed on commit drop as select * from forebay.dequeue('one', '{jobs}');
    select forebay.register_agent('jobs', 'lakeflow', 8, p_lease => '1 minute', p_max_attempts => 9)
$$);
select at_time('1 hour 5 minutes 30 seconds');
select is_empty(
    $$ select from forebay.adopt('two', '{lakeflow}') inner join claimed using (attempt_id) $$,
    'a run in another workspace is left to who is there'
);
select results_eq(
    $$ select a.job_id from forebay.adopt('v', '{lakeflow}') as a inner join claimed using (attempt_id) $$,
    array[7::bigint],
    'who does not know yet where it is adopts it, with the job of its claim'
);
select given($$ select forebay.observe_launcher('v', 'lakeflow', p_place => 'workspace 2') $$);
select results_eq(
    $$ select r.state from claimed, forebay.renew_leases('v', array[claimed.attempt_id]) as r $$,
    array['lost'],
    'and lets go of it once it knows'
);
select given($$
    select forebay.observe_launcher('x', 'lakeflow', p_place => e'1\nhttps://one');
    select forebay.observe_launcher('y', 'lakeflow', p_place => 'https://one');
    select forebay.observe_launcher('z', 'lakeflow', p_place => e'2\nhttps://two');
    update forebay.task_attempts as a set place = 'https://one' from claimed where a.attempt_id = claimed.attempt_id
$$);
select is_empty(
    $$ select from forebay.adopt('z', '{lakeflow}') inner join claimed using (attempt_id) $$,
    'of a workspace that goes by two names neither is that of another one'
);
select results_eq(
    $$ select a.job_id from forebay.adopt('x', '{lakeflow}') as a inner join claimed using (attempt_id) $$,
    array[7::bigint],
    'but who is there adopts a run that is known by any of them'
);
select given($$
    select forebay.observe_launcher('x', 'lakeflow', p_place => e'1\nhttps://one');
    select forebay.enqueue('jobs', '{}', 200);
    create temporary table named on commit drop as select * from forebay.dequeue('x', '{jobs}')
$$);
select results_eq(
    $$ select r.state from claimed, forebay.renew_leases('x', array[claimed.attempt_id]) as r $$,
    array['renewed'],
    'and keeps it when it says so again'
);
select is(
    (select a.place from forebay.task_attempts as a inner join named on a.attempt_id = named.attempt_id), '1',
    'what it claims is known by the first of them'
);

-- Errors.
select throws_ok($$ select forebay.adopt(null, '{lakeflow}') $$, '22023', null, 'a worker has a name');
select throws_ok($$ select forebay.adopt('v', null) $$, '22023', null, 'the launchers are not null');
select throws_ok($$ select forebay.adopt('v', '{lakeflow}', null) $$, '22023', null, 'a limit is not null');
select throws_ok($$ select forebay.adopt('v', '{lakeflow}', 0) $$, '22023', null, 'a limit is 1 at least');
select throws_ok($$ select forebay.adopt('v', '{lakeflow}', 10001) $$, '22023', null, 'a limit is 10,000 at most');
select only_callable_by('{worker}', $$ select forebay.adopt('v', '{lakeflow}') $$);
select given($$ update forebay.installation set is_branch = true $$);
select throws_ok($$ select forebay.adopt('v', '{lakeflow}') $$, 'QF401', null, 'a branch adopts nothing');
select given($$ select forebay.open_installation() $$);
select lives_ok($$ select forebay.adopt('v', '{lakeflow}') $$, 'unless an operator opened it');
select finish();
rollback;
