-- callback: an event has the effect of the call it repeats, any number of times, in any order.
begin;
select plan(28);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 4);
    select forebay.dequeue('w', p_batch_size => 4)
$$);
create function pg_temp.event(p_type text, p_data jsonb) returns jsonb language sql as
$$ select forebay.callback(jsonb_build_object('type', p_type, 'timestamp', '2026-01-01T12:00:00Z', 'data', p_data)) $$;
set local role forebay_agent;
select is(
    forebay.callback('{"type": "task.completed", "timestamp": "2026-01-01T12:00:00Z", "data": {
        "task_id": 1, "attempt_id": "101", "result": {"n": 1}, "confidence": 0.5, "usage": {"call_id": "1"}}}'),
    '{"task_id": 1, "status": "completed", "effect": "completed"}'::jsonb,
    'task.completed completes the task; ids may be strings'
);
set local role forebay_owner;
select results_eq(
    $$ select t.result, t.confidence, u.call_id from forebay.tasks as t, forebay.attempt_usage as u
    where t.task_id = 1 $$,
    $$ values ('{"n": 1}'::jsonb, 0.5, '1') $$,
    'with its result, and records the usage'
);
select is(
    pg_temp.event('task.completed', '{"task_id": 1, "attempt_id": 101, "result": {"n": 1}}') ->> 'effect',
    'none', 'a repetition has no effect'
);
select is(
    pg_temp.event('task.completed', '{"task_id": 1, "attempt_id": 101, "result": {"n": 2}}') ->> 'effect',
    'kept', 'another result is kept'
);
select is(
    pg_temp.event('task.failed', '{"task_id": 1, "attempt_id": 101, "error": {}}') ->> 'effect',
    'none', 'a failure after the end has none'
);
select is(
    pg_temp.event('task.failed', '{"task_id": 2, "attempt_id": 102, "error": {}, "retry_after_seconds": 90}'),
    '{"task_id": 2, "status": "enqueued", "effect": "retrying"}'::jsonb,
    'task.failed puts the task back in line'
);
select results_eq(
    $$ select available_at from forebay.tasks where task_id = 2 $$, array[noon('90 s')], 'after retry_after_seconds'
);
select is(
    pg_temp.event('task.failed',
        '{"task_id": 3, "attempt_id": 103, "error": {"kind": "bad_input"}, "retryable": false}'),
    '{"task_id": 3, "status": "failed", "effect": "failed"}'::jsonb,
    'or fails it'
);
select is(
    pg_temp.event('task.usage', '{"task_id": 4, "attempt_id": 104, "usage": [{"call_id": "1"}]}'),
    '{"task_id": 4, "status": "processing", "effect": "recorded"}'::jsonb,
    'task.usage records usage and changes nothing else'
);
select is(
    pg_temp.event('task.usage', '{"task_id": 4, "attempt_id": 104, "usage": [{"call_id": "1"}]}') ->> 'effect',
    'none', 'and does so once'
);
select is(
    pg_temp.event('task.completed', '{"task_id": 2, "attempt_id": 102, "result": 2}') ->> 'effect',
    'completed', 'a success after the failure is taken while the task waits'
);

-- Refused events.
select throws_ok(
    $$ select pg_temp.event('task.completed', '{"task_id": 3, "attempt_id": 104}') $$,
    'QF304', null, 'task and attempt belong together'
);
select throws_ok(
    $$ select pg_temp.event('task.completed', '{"task_id": 4, "attempt_id": 999}') $$,
    'QF304', null, 'an unknown attempt is refused'
);
select results_eq(
    $$ select status from forebay.tasks where task_id = 4 $$,
    array['processing'],
    'nothing changed by it'
);
select throws_ok($$ select forebay.callback(null) $$, '22023', null, 'an event is given');
select throws_ok($$ select forebay.callback('[]') $$, '22023', null, 'as an object');
select throws_ok($$ select forebay.callback('{"type": "task.completed"}') $$, '22023', null, 'with data');
select throws_ok(
    $$ select pg_temp.event('task.eaten', '{"task_id": 4, "attempt_id": 104}') $$, '22023', null, 'of a known type'
);
select throws_ok(
    $$ select pg_temp.event('task.completed', '{"attempt_id": 104}') $$, '22023', null, 'which names its task'
);
select throws_like(
    $$ select pg_temp.event('task.completed', '{"task_id": 4, "attempt_id": 104, "confidence": "high"}') $$,
    '%"confidence"%', 'a wrong type names its key'
);
select throws_ok(
    $$ select pg_temp.event('task.usage', '{"task_id": 4, "attempt_id": 104}') $$, '22023', null, 'task.usage has usage'
);
select throws_ok(
    $$ select pg_temp.event('task.completed', jsonb_build_object(
        'task_id', 4, 'attempt_id', 104, 'result', repeat('x', 1048576))) $$,
    'QF402', null, 'a result is not above 1 MiB'
);
select throws_ok(
    $$ select pg_temp.event('task.completed', '{"task_id": 4, "attempt_id": 104, "result": 1e309}') $$,
    '22023', null, 'nor are its numbers vast'
);

-- What the provider refused.
select given($$ select forebay.enqueue('a', '{}', 99); select forebay.dequeue('w') $$);
select is(
    pg_temp.event('task.failed',
        '{"task_id": 5, "attempt_id": 105, "error": {"kind": "rate_limited"}, "retry_after_seconds": 30}'),
    '{"task_id": 5, "status": "enqueued", "effect": "retrying"}'::jsonb,
    'what a provider refused goes back in line as well'
);
select results_eq(
    $$ select t.attempt_count, t.deferral_count, r.paused_until
    from forebay.tasks as t cross join forebay.refusals as r where t.task_id = 5 $$,
    $$ values (0, 1, noon('30 s')) $$,
    'without having spent an attempt, and the agent pauses'
);
select only_callable_by('{agent}', $$ select forebay.callback('{}') $$);
select given($$ update forebay.installation set is_branch = true $$);
select throws_ok(
    $$ select pg_temp.event('task.completed', '{"task_id": 4, "attempt_id": 104, "result": 1}') $$,
    'QF401', null, 'a branch takes no events'
);
select results_eq($$ select status from forebay.tasks where task_id = 4 $$, array['processing'], 'and changes nothing');
select finish();
rollback;
