-- release: a task handed back costs no attempt and no tokens, until it was handed back too often.
begin;
select plan(34);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent(
        'a', p_max_tpm => 60000, p_max_releases => 2, p_max_attempts => 2, p_default_estimated_tokens => 1000
    );
    select forebay.enqueue('a', '{}');
    select forebay.dequeue('w', '{a}')
$$);
set local role forebay_worker;
select is(forebay.release(101, 'launch refused', '10 seconds'), 'enqueued', 'the task goes back in line');
set local role forebay_owner;
select results_eq(
    $$ select attempt_no, attempt_count, release_count, available_at, error, locked_by from forebay.tasks $$,
    $$ values (1, 0, 1, noon('10 s'), null::jsonb, null::text) $$,
    'after p_retry_in, without spending an attempt'
);
select results_eq(
    $$ select status, error, finished_at from forebay.task_attempts $$,
    $$ values ('released', '{"kind": "released", "message": "launch refused"}'::jsonb, noon()) $$,
    'the attempt keeps the reason'
);
select results_eq(
    $$ select token_level from forebay.agent_status() $$, array[48000.0], 'the whole charge is given back'
);
select is_empty($$ select forebay.dequeue('w', '{a}') $$, 'it waits p_retry_in');
select at_time('10 seconds');
select results_eq(
    $$ select attempt_id, attempt_no from forebay.dequeue('w', '{a}') $$,
    $$ values (102::bigint, 2) $$,
    'attempt_no goes on'
);
select is(forebay.release(102, 'shutdown'), 'enqueued', 'by default it goes back at once');
select results_eq($$ select attempt_id from forebay.dequeue('w') $$, array[103]::bigint[], 'and is claimed again');
select is(forebay.release(103, 'shutdown'), 'enqueued', 'after p_max_releases a release spends an attempt');
select results_eq(
    $$ select attempt_no, attempt_count, release_count, error ->> 'message' from forebay.tasks $$,
    $$ values (3, 1, 2, 'handed back too often: shutdown') $$,
    'and says so'
);
select given($$ select forebay.dequeue('w') $$);
select is(forebay.release(104, 'shutdown'), 'failed', 'so a task that is always handed back ends');
select results_eq(
    $$ select status, finished_at from forebay.tasks $$, $$ values ('failed', noon('10 s')) $$, 'as failed'
);

-- With reported usage the charge is settled, not refunded.
select given($$
    select forebay.enqueue('a', '{}');
    select forebay.dequeue('w');
    select forebay.report_usage(105, '{"call_id": "1", "input_tokens": 300, "output_tokens": 100}');
    select forebay.release(105, 'shutdown')
$$);
select results_eq(
    $$ select token_level from forebay.agent_status() $$, array[47600.0], 'what was used already stays charged'
);

-- An attempt that holds the task no more.
select given($$ select forebay.dequeue('w') $$);
select is(forebay.release(105, 'again'), 'processing', 'a second release changes nothing and answers with the state');
select given($$ select forebay.cancel('{2}') $$);
select is(forebay.release(106, 'stopped'), 'cancelled', 'nor does one of a cancelled attempt');
select results_eq(
    $$ select status, is_stop_pending from forebay.task_attempts where attempt_id = 106 $$,
    $$ values ('cancelled', false) $$,
    'but it is known to have stopped'
);
select given($$
    select forebay.enqueue('a', '{}');
    select forebay.dequeue('w')
$$);
select at_time('2 minutes');
select given($$
    select forebay.sweep();
    select forebay.dequeue('v')
$$);
select is(forebay.release(107, 'late'), 'processing', 'an attempt that lost its lease cannot hand back the task');
select results_eq(
    $$ select attempt_id, release_count from forebay.tasks where task_id = 3 $$,
    $$ values (108::bigint, 0) $$,
    'the attempt that has it keeps it'
);

-- An expired lease that nobody swept yet is still a lease to hand back.
select at_time('4 minutes');
select is(forebay.release(108, 'late'), 'enqueued', 'before the sweep a late release is taken');

-- p_max_releases 0.
select given($$
    select forebay.register_agent('strict', p_max_releases => 0);
    select forebay.enqueue('strict', '{}');
    select forebay.dequeue('w', '{strict}');
    select forebay.release(109, 'shutdown')
$$);
select results_eq(
    $$ select attempt_count, release_count from forebay.tasks where agent = 'strict' $$,
    $$ values (1, 0) $$,
    'with p_max_releases 0 every release spends an attempt'
);
select given($$ select forebay.register_agent('default') $$);
select results_eq(
    $$ select max_releases from forebay.agents where agent = 'default' $$, array[20], 'twenty is the default'
);

-- What the machines of attempts without a run cost.
select given($$
    select forebay.register_agent('jobs', 'lakeflow', p_job_id => 7);
    select forebay.enqueue('jobs', '{}'), forebay.enqueue('jobs', '{}');
    select forebay.dequeue('w', '{jobs}', 2);
    select forebay.record_run(111, 'run');
    select forebay.release(110, 'launch refused'), forebay.release(111, 'shutdown')
$$);
select results_eq(
    $$ select task_id, compute_usd, is_compute_final from forebay.task_attempts where agent = 'jobs' order by attempt_id $$,
    $$ values (5::bigint, 0::numeric, true), (6, null, false) $$,
    'an attempt that never had a run cost nothing; of another one a bill may tell'
);
select results_eq(
    $$ select part, basis, attempts, usd from forebay.cost_sources(p_agents => '{jobs}') where source is null $$,
    $$ values ('llm', 'unused', 2::bigint, 0::numeric), ('compute', 'awaited', 1, null), ('compute', 'final', 1, 0) $$,
    'and it is known, as that they made no call'
);
select results_eq(
    $$ select agent, costed_attempts, llm_usd, llm_sources, compute_usd, compute_sources
    from forebay.customer_costs('2020-01-01', '2030-01-01') where agent = 'jobs' $$,
    $$ values ('jobs', 1::bigint, 0::numeric, '{none}'::text[], 0::numeric, '{none}'::text[]) $$,
    'without a source that would have told it'
);
select given($$
    select forebay.record_compute_usage('[{"record_id": "1", "attempt_id": 110, "usd": 0.5, "is_final": true}]', 'billing', noon())
$$);
select results_eq(
    $$ select compute_usd, is_compute_final from forebay.task_attempts where attempt_id = 110 $$,
    $$ values (0.5, true) $$,
    'unless a bill knows of a run all the same'
);
select given($$
    select forebay.enqueue('jobs', '{}'), forebay.enqueue('jobs', '{}');
    select forebay.dequeue('w', '{jobs}', 4);
    select forebay.release(a.attempt_id, 'launch refused')
    from forebay.task_attempts as a
    where a.agent = 'jobs' and a.finished_at is null
$$);
create temporary table zeros as
select a.attempt_id, row_number() over (order by a.attempt_id) as n
from forebay.task_attempts as a
where a.agent = 'jobs' and a.compute_usd = 0;
select is((select count(*) from zeros), 4::bigint, 'they cost nothing');
select given($$
    select forebay.report_usage(z.attempt_id, '{"call_id": "1", "input_tokens": 3, "output_tokens": 1}') from zeros as z where z.n = 1;
    select forebay.fail(z.attempt_id, '{"message": "x"}') from zeros as z where z.n = 2;
    select forebay.complete(z.attempt_id, '{}') from zeros as z where z.n = 3
$$);
select results_eq(
    $$ select z.n, a.compute_usd from zeros as z inner join forebay.task_attempts as a using (attempt_id) order by z.n $$,
    $$ values (1::bigint, null::numeric), (2, null), (3, null), (4, 0) $$,
    'but of one that tells of its calls, or how it ended, it is unknown: it ran'
);

-- Errors.
select throws_ok($$ select forebay.release(999, 'x') $$, 'QF304', null, 'an unknown attempt is refused');
select throws_ok($$ select forebay.release(null, 'x') $$, '22023', null, 'an attempt is given');
select throws_ok($$ select forebay.release(101, null) $$, '22023', null, 'a reason is given');
select throws_ok($$ select forebay.release(101, 'x', null) $$, '22023', null, 'a delay is not null');
select throws_ok($$ select forebay.release(101, 'x', '-1 s') $$, '22023', null, 'nor negative');
select throws_ok($$ select forebay.release(101, 'x', '2 years') $$, '22023', null, 'nor endless');
select only_callable_by('{worker}', $$ select forebay.release(101, 'x') $$);
select finish();
rollback;
