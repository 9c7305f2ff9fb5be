-- dequeue: due tasks become attempts with a lease, best priority first, and no agent hides another's work.
begin;
select plan(39);
select stop_clock();

set local role forebay_operator;
select given($$
    select forebay.register_agent(
        'parse', 'local', p_entry_point => 'parse_document', p_lease => '1 minute', p_timeout => '10 minutes'
    )
$$);
set local role forebay_submitter;
select given($$
    select forebay.open_batch('upload', p_customer => 'acme');
    select forebay.enqueue('parse', '{"n": 1}', 10, p_batch_id => 11, p_estimated_tokens => 500)
$$);
set local role forebay_worker;
select results_eq(
    $$ select
        task_id, attempt_id, attempt_no, agent, launcher, job_id, entry_point, payload, priority, batch_id, customer,
        estimated_tokens, lease_expires_at, deadline_at
    from forebay.dequeue('w', '{parse}') $$,
    $$ values (
        1::bigint, 101::bigint, 1, 'parse', 'local', null::bigint, 'parse_document', '{"n": 1}'::jsonb, 10, 11::bigint,
        'acme', 500::bigint, noon('1 min'), noon('10 min')
    ) $$,
    'a worker gets the task, its agent''s launcher, and a lease'
);
set local role forebay_owner;
select results_eq(
    $$ select status, attempt_id, locked_by, attempt_no, attempt_count from forebay.tasks $$,
    $$ values ('processing', 101::bigint, 'w', 1, 1) $$,
    'the attempt is counted when it is claimed'
);
select results_eq(
    $$ select status, worker, started_at, run_id, launch_token ~ '^fb-[0-9a-f-]{36}$' from forebay.task_attempts $$,
    $$ values ('claimed', 'w', noon(), null, true) $$,
    'the launch token is there before anything is launched'
);
select is_empty($$ select forebay.dequeue('w', '{parse}') $$, 'nothing waits, so nothing comes');

-- The order of the line.
select given($$
    select forebay.register_agent('line', p_lease => '1 hour');
    select forebay.enqueue('line', '{}', n) from unnest(array[0, -10, 10, 0]) as n
$$);
select at_time('-1 minute');
select given($$ select forebay.enqueue('line', '{}', 0) $$);
select at_time('0');
select results_eq(
    $$ select task_id from forebay.dequeue('w', p_batch_size => 10) $$,
    array[4, 6, 2, 5, 3]::bigint[],
    'the most urgent first, then the oldest, then the lowest id'
);

-- Which agents are served.
select given($$
    select forebay.enqueue('parse', '{}'), forebay.enqueue('line', '{}')
$$);
select results_eq(
    $$ select agent from forebay.dequeue('w', p_batch_size => 10) $$,
    array['line'],
    'without agents and launchers those of launcher pull are served'
);
select results_eq(
    $$ select agent from forebay.dequeue('w', p_batch_size => 10, p_launchers => '{local, lakeflow}') $$,
    array['parse'],
    'with launchers those of the launchers'
);
select given($$ select forebay.enqueue('parse', '{}') $$);
select is_empty($$ select forebay.dequeue('w', '{parse}', 1, '{lakeflow}') $$, 'with both those that meet both');
select given($$ select forebay.pause_agent('parse', noon('1 min')) $$);
select is_empty($$ select forebay.dequeue('w', '{parse}') $$, 'a paused agent starts nothing');
select at_time('1 minute');
select isnt_empty($$ select forebay.dequeue('w', '{parse}') $$, 'the pause ends by itself');
select is_empty($$ select forebay.dequeue('w', '{}') $$, 'no agents, no tasks');

-- When a task is due.
select given($$ select forebay.enqueue('line', '{}', p_run_after => noon('5 min')) $$);
select is_empty($$ select forebay.dequeue('w', '{line}') $$, 'a task is not claimed before it is due');
select at_time('5 minutes');
select isnt_empty($$ select forebay.dequeue('w', '{line}') $$, 'a due task is claimed without a sweep');

-- Several agents.
select given($$
    select forebay.register_agent('one', p_max_concurrent_tasks => 1);
    select forebay.register_agent('many');
    select forebay.enqueue('one', '{}', 10) from generate_series(1, 3);
    select forebay.enqueue('many', '{}', 0) from generate_series(1, 3)
$$);
select results_eq(
    $$ select agent from forebay.dequeue('w', '{one, many}', 3) $$,
    array['one', 'many', 'many'],
    'an agent that is full does not hide the work of another'
);
select given($$
    select forebay.register_agent('left');
    select forebay.register_agent('right');
    select forebay.enqueue('left', '{}'), forebay.enqueue('right', '{}') from generate_series(1, 4)
$$);
select results_eq(
    $$ select agent, count(*) from forebay.dequeue('w', '{left, right}', 4) group by agent order by agent $$,
    $$ values ('left', 2::bigint), ('right', 2) $$,
    'agents of equal priority share the batch'
);
select given($$ select forebay.enqueue('right', '{}') from generate_series(1, 3) $$);
select results_eq(
    $$ select agent, count(*) from forebay.dequeue('w', '{left, right}', 6) group by agent order by agent $$,
    $$ values ('left', 2::bigint), ('right', 4) $$,
    'what one leaves of its share goes to the other'
);
select given($$
    select forebay.enqueue('left', '{}', n), forebay.enqueue('right', '{}', n + 1) from unnest(array[0, 10]) as n
$$);
select results_eq(
    $$ select agent, priority from forebay.dequeue('w', '{left, right}', 3) $$,
    $$ values ('right', 11), ('left', 10), ('right', 1) $$,
    'the best waiting priority goes first, whoever''s it is'
);

-- Expired leases do not need a sweep.
select given($$
    select forebay.register_agent('full', p_max_concurrent_tasks => 1, p_lease => '1 minute');
    select forebay.enqueue('full', '{}');
    select forebay.dequeue('dead', '{full}')
$$);
select is_empty($$ select forebay.dequeue('w', '{full}') $$, 'an agent that is full starts nothing');
select at_time('6 minutes');
select results_eq(
    $$ select attempt_no from forebay.dequeue('w', '{full}') $$,
    array[2],
    'a lease that ran out gives its slot and its task to the next worker'
);
select results_eq(
    $$ select status, worker from forebay.task_attempts where agent = 'full' order by attempt_no $$,
    $$ values ('lost', 'dead'), ('claimed', 'w') $$,
    'the earlier attempt is lost'
);
select given($$
    select forebay.register_agent('brief', p_lease => '10 minutes', p_timeout => '2 minutes');
    select forebay.enqueue('brief', '{}')
$$);
select results_eq(
    $$ select lease_expires_at, deadline_at from forebay.dequeue('w', '{brief}') $$,
    $$ values (noon('8 min'), noon('8 min')) $$,
    'a lease does not go beyond the deadline'
);
select results_eq(
    $$ select worker, last_claim_at from forebay.dispatchers order by worker desc $$,
    $$ values ('w', noon('6 min')), ('dead', noon('5 min')) $$,
    'who claims is noted'
);

-- Errors.
select throws_ok($$ select forebay.dequeue(null) $$, '22023', null, 'a worker has a name');
select throws_ok($$ select forebay.dequeue('') $$, '22023', null, 'the name is not empty');
select throws_ok($$ select forebay.dequeue(repeat('w', 201)) $$, '22023', null, 'nor over-long');
select throws_ok($$ select forebay.dequeue('w', null, null) $$, '22023', null, 'a batch size is not null');
select throws_ok($$ select forebay.dequeue('w', null, 0) $$, '22023', null, 'a batch size is 1 at least');
select throws_ok($$ select forebay.dequeue('w', null, 10001) $$, '22023', null, 'a batch size is 10,000 at most');
select lives_ok($$ select forebay.dequeue('w', null, 10000) $$, 'a batch size of 10,000 is allowed');
select throws_ok($$ select forebay.dequeue('w', '{parse, nobody}') $$, 'QF301', null, 'every agent must be there');
select throws_ok($$ select forebay.dequeue('w', '{null}') $$, '22023', null, 'an agent is not null');
select only_callable_by('{worker}', $$ select forebay.dequeue('w') $$);

-- A copy never dispatches the original's tasks.
select given($$
    select forebay.enqueue('line', '{}'), forebay.enqueue('line', '{}');
    update forebay.installation set is_branch = true
$$);
select throws_ok($$ select forebay.dequeue('w') $$, 'QF401', null, 'a branch does not dispatch');
select given($$ select forebay.open_installation('a drill') $$);
select isnt_empty($$ select forebay.dequeue('w') $$, 'a branch that an operator opened does');
select given($$ update forebay.installation set is_branch = false, opened_in = null, system_identifier = 1 $$);
select throws_ok($$ select forebay.dequeue('w') $$, 'QF401', null, 'a copy in another cluster does not dispatch');

-- One task, one attempt at a time.
select results_eq(
    $$ select count(*) from forebay.task_attempts where finished_at is null group by task_id having count(*) > 1 $$,
    array[]::bigint[],
    'no task has two open attempts'
);
select results_eq(
    $$ select count(*) from forebay.tasks as t
    inner join forebay.task_attempts as a on a.attempt_id = t.attempt_id and a.finished_at is null
    where t.status = 'processing' $$,
    $$ select count(*) from forebay.tasks where status = 'processing' $$,
    'every processing task has a lease'
);
select results_eq(
    $$ select count(*) from forebay.task_attempts as a where a.finished_at is null $$,
    $$ select count(*) from forebay.tasks where status = 'processing' $$,
    'and no other has one'
);
select is_empty(
    $$ select attempt_id from forebay.task_attempts group by attempt_id, launch_token having count(*) > 1 $$,
    'no launch token is used twice'
);
select finish();
rollback;
