-- fail: the task goes back in line after a while, or fails; the error is kept as it was told.
begin;
select plan(29);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_backoff_base => '10 seconds', p_backoff_max => '30 seconds',
        p_max_attempts => 9);
    select forebay.enqueue('a', '{}') from generate_series(1, 4);
    select forebay.dequeue('w', p_batch_size => 4)
$$);
set local role forebay_agent;
select is(forebay.fail(101, '{"kind": "infrastructure", "message": "EOF", "x": 1}'), 'enqueued', 'a failure is retried');
set local role forebay_owner;
select results_eq(
    $$ select error, available_at between noon('9 s') and noon('10 s'), is_ready from forebay.tasks
    where task_id = 1 $$,
    $$ values ('{"kind": "infrastructure", "message": "EOF", "x": 1}'::jsonb, true, false) $$,
    'after the agent''s backoff, less up to a tenth, and all of the error is kept'
);
select is(forebay.fail(102, '{"kind": "timeout"}', true, '1 minute'), 'enqueued', 'or after p_retry_after');
select results_eq(
    $$ select available_at from forebay.tasks where task_id = 2 $$, array[noon('1 min')], 'to the moment'
);
select is(forebay.fail(103, '{"kind": "infrastructure"}', false), 'failed', 'a failure not to be retried is the end');
select is(forebay.fail(104, '{"kind": "gremlins"}', true, '0'), 'enqueued', 'any kind is taken');
select results_eq(
    $$ select error from forebay.tasks where task_id = 4 $$,
    array['{"kind": "agent_bug", "reported_kind": "gremlins"}'::jsonb],
    'an unknown one counts as agent_bug, and is kept beside it'
);

-- The backoff doubles up to its maximum.
select at_time('1 hour');
select given($$
    select forebay.dequeue('w', p_batch_size => 4);
    select forebay.fail(attempt_id, '{}') from forebay.tasks where task_id = 1
$$);
select results_eq(
    $$ select available_at - noon('1 hour') between '18 s' and '20 s' from forebay.tasks where task_id = 1 $$,
    array[true],
    'a second failure waits twice as long'
);
select at_time('2 hours');
select given($$
    select forebay.dequeue('w', p_batch_size => 4);
    select forebay.fail(attempt_id, '{}') from forebay.tasks where task_id = 1
$$);
select results_eq(
    $$ select available_at - noon('2 hours') between '27 s' and '30 s' from forebay.tasks where task_id = 1 $$,
    array[true],
    'a third not longer than the maximum'
);

-- The task's own max_attempts goes before the agent's.
select given($$
    select forebay.enqueue('a', '{}', 100, p_max_attempts => 1);
    select forebay.dequeue('w')
$$);
select results_eq(
    $$ select forebay.fail(attempt_id, '{}') from forebay.tasks where task_id = 5 $$,
    array['failed'],
    'a task has as many attempts as it says'
);

-- The kind decides: a final one ends the task, a refusal of the provider spends no attempt and pauses the agent.
select given($$
    select forebay.enqueue('a', '{}', 100 - n, p_max_attempts => 1) from generate_series(1, 4) as n;
    select forebay.dequeue('w', p_batch_size => 4)
$$);
select results_eq(
    $$ select forebay.fail(attempt_id, '{"kind": "content_filtered"}', true) from forebay.tasks where task_id = 6 $$,
    array['failed'],
    'a final kind is not tried again, whatever p_retryable says'
);
select results_eq(
    $$ select forebay.fail(attempt_id, '{"kind": "overloaded"}') from forebay.tasks where task_id = 7 $$,
    array['enqueued'],
    'an overloaded provider is no failure of the task'
);
select results_eq(
    $$ select attempt_count, deferral_count, deferred_since, error ->> 'kind', available_at - noon('2 hours') <= '10 s'
    from forebay.tasks where task_id = 7 $$,
    $$ values (0, 1, noon('2 hours'), 'overloaded', true) $$,
    'it is deferred: no attempt is spent, and it waits for the backoff'
);
select results_eq(
    $$ select forebay.fail(attempt_id, '{"kind": "rate_limited"}') from forebay.tasks where task_id = 8 $$,
    array['enqueued'],
    'nor is a refusal'
);
select results_eq(
    $$ select available_at from forebay.tasks where task_id = 8 $$,
    array[noon('2 hours 1 min')],
    'which waits a minute when no time is named'
);
select results_eq(
    $$ select agent, quota, in_flight, paused_until, share, lowered_at from forebay.refusals $$,
    $$ values ('a', null::text, 2, noon('2 hours 1 min'), 0.5, noon('2 hours')) $$,
    'and is noted: the agent pauses, and then goes on with half of its limits'
);

-- Errors.
select throws_ok($$ select forebay.fail(101, null) $$, '22023', null, 'an error is given');
select throws_ok($$ select forebay.fail(101, '"boom"') $$, '22023', null, 'an error is an object');
select throws_ok($$ select forebay.fail(101, '{"kind": 5}') $$, '22023', null, 'its kind is a word');
select throws_ok($$ select forebay.fail(101, '{"message": 5}') $$, '22023', null, 'its message is a text');
select throws_ok($$ select forebay.fail(101, '{}', null) $$, '22023', null, 'whether to retry is not null');
select throws_ok($$ select forebay.fail(101, '{}', true, '-1 s') $$, '22023', null, 'a delay is not negative');
select throws_ok($$ select forebay.fail(101, '{}', true, '2 years') $$, '22023', null, 'nor above a year');
select throws_ok(
    $$ select forebay.fail(101, jsonb_build_object('message', repeat('x', 1048576))) $$,
    'QF402',
    null,
    'nor the error endless'
);
select throws_ok($$ select forebay.fail(101, '{"n": 1e5000}') $$, '22023', null, 'nor its numbers');
select throws_ok($$ select forebay.fail(null, '{}') $$, '22023', null, 'an attempt is given');
select throws_ok($$ select forebay.fail(999, '{}') $$, 'QF304', null, 'an unknown attempt is refused');
select lives_ok(
    $$ select forebay.fail(101, jsonb_build_object('kind', kind))
    from unnest(array['rate_limited', 'overloaded', 'context_too_long', 'content_filtered', 'bad_input',
        'infrastructure',
        'timeout', 'agent_bug']) as kind $$,
    'the kinds of the contract'
);
select only_callable_by('{agent}', $$ select forebay.fail(101, '{}') $$);
select finish();
rollback;
