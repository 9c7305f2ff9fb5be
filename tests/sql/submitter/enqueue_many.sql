-- enqueue_many: all tasks or none; one row a task, and one bad task is named by its ordinal.
begin;
select plan(40);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('upload', 'acme', 'ann')
$$);
set local role forebay_submitter;
select results_eq(
    $$ select * from forebay.enqueue_many('a', '[{"payload": 1}, {"payload": 2}, {"payload": 3}]', 11) $$,
    $$ values (1, 1::bigint, true), (2, 2, true), (3, 3, true) $$,
    'one row a task, ordinal from 1, in the order given'
);
select is_empty($$ select forebay.enqueue_many('a', '[]') $$, 'no tasks, no rows');
set local role forebay_owner;
select results_eq(
    $$ select payload, batch_id, customer from forebay.tasks order by task_id $$,
    $$ values ('1'::jsonb, 11::bigint, 'acme'), ('2', 11, 'acme'), ('3', 11, 'acme') $$,
    'the batch has them, and its customer is theirs'
);

-- Numbers may be strings, unknown keys are ignored, null is absent.
select given($$
    select forebay.enqueue_many('a', '[
        {"payload": {}, "priority": "10", "estimated_tokens": "500", "max_attempts": "2", "colour": "red",
         "run_after": "2026-01-01T14:00:00+01:00", "customer": "c"},
        {"payload": {}, "priority": null, "customer": null, "idempotency_key": null, "run_after": null,
         "estimated_tokens": null, "max_attempts": null}
    ]')
$$);
select results_eq(
    $$ select priority, estimated_tokens, max_attempts, available_at, customer
    from forebay.tasks where task_id > 3 order by task_id $$,
    $$ values (10::smallint, 500::bigint, 2, noon('1 hour'), 'c'), (0::smallint, null, null, noon(), null) $$,
    'numbers may be strings, other keys are ignored, and null is absent'
);

-- Keys within one call, and over calls.
select results_eq(
    $$ select * from forebay.enqueue_many('a', '[
        {"payload": 1, "idempotency_key": "x"}, {"payload": 2, "idempotency_key": "b"},
        {"payload": 1, "idempotency_key": "x"}, {"payload": 3}
    ]') $$,
    $$ values (1, 6::bigint, true), (2, 7, true), (3, 6, false), (4, 9, true) $$,
    'a key twice in one call is one task'
);
select results_eq(
    $$ select * from forebay.enqueue_many('a', '[{"payload": 2, "idempotency_key": "b"}, {"payload": 5}]') $$,
    $$ values (1, 7::bigint, false), (2, 11, true) $$,
    'a key of an earlier call is not created again'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 5}, {"payload": 1, "idempotency_key": "b"}]') $$,
    'task 2: %',
    'another payload under a known key is named by its ordinal'
);
select throws_ok(
    $$ select forebay.enqueue_many('a', '[{"payload": 5}, {"payload": 1, "idempotency_key": "b"}]') $$,
    'QF201', null, 'and has its code'
);
select throws_ok(
    $$ select forebay.enqueue_many('a',
        '[{"payload": 1, "idempotency_key": "n"}, {"payload": 2, "idempotency_key": "n"}]') $$,
    'QF201', null, 'the same within one call'
);
select results_eq($$ select count(*) from forebay.tasks $$, array[9]::bigint[], 'nothing is half-done');

-- A bad task.
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1}, {"payload": 2}, {"priority": 3}]') $$,
    'task 3: %"payload"%',
    'a bad task is named by its ordinal, and the key in it'
);
select results_eq($$ select count(*) from forebay.tasks $$, array[9]::bigint[], 'and spoils the whole call');
select throws_ok($$ select forebay.enqueue_many('a', '[1]') $$, '22023', null, 'a task is an object');
select throws_ok($$ select forebay.enqueue_many('a', '[null]') $$, '22023', null, 'and not null');
select throws_ok($$ select forebay.enqueue_many('a', '[{"payload": null}]') $$, '22023', null, 'its payload neither');
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "priority": "high"}]') $$, 'task 1: "priority"%', 'priority'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "priority": 1.5}]') $$,
    'task 1: "priority"%',
    'priority, whole'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "priority": 40000}]') $$,
    'task 1: "priority"%',
    'priority, small'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "customer": 5}]') $$, 'task 1: "customer"%', 'customer'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "idempotency_key": ""}]') $$,
    'task 1: "idempotency_key"%',
    'key'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "idempotency_key": 5}]') $$,
    'task 1: "idempotency_key"%',
    'its type'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "run_after": "soon"}]') $$, 'task 1: "run_after"%', 'run_after'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "run_after": "2026-01-01T12:00:00"}]') $$,
    'task 1: "run_after"%',
    'a time without a zone is refused, since it would mean the session''s'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "run_after": "2026-02-30T12:00:00Z"}]') $$,
    'task 1: "run_after"%',
    'so is a day that does not exist'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "estimated_tokens": -1}]') $$,
    'task 1: "estimated_tokens"%',
    'estimated_tokens'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "estimated_tokens": 1e30}]') $$,
    'task 1: "estimated_tokens"%',
    'a number that no integer holds'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "max_attempts": 0}]') $$,
    'task 1: "max_attempts"%',
    'max_attempts'
);
select throws_like(
    $$ select forebay.enqueue_many('a', '[{"payload": 1, "max_attempts": true}]') $$,
    'task 1: "max_attempts"%',
    'its type'
);
select throws_ok(
    $$ select forebay.enqueue_many('a', jsonb_build_array('{"payload": 1}'::jsonb, jsonb_build_object('payload',
        repeat('x', 1048576)))) $$,
    'QF402', null, 'a payload is not above 1 MiB'
);
select throws_like(
    $$ select forebay.enqueue_many('a', jsonb_build_array('{"payload": 1}'::jsonb, jsonb_build_object('payload',
        repeat('x', 1048576)))) $$,
    'task 2: %', 'and is named by its ordinal'
);

-- The call itself.
select throws_ok($$ select forebay.enqueue_many('a', null) $$, '22023', null, 'the tasks are given');
select throws_ok($$ select forebay.enqueue_many('a', '{"payload": 1}') $$, '22023', null, 'in an array');
select throws_ok($$ select forebay.enqueue_many(null, '[]') $$, '22023', null, 'an agent is given');
select throws_ok($$ select forebay.enqueue_many('nobody', '[]') $$, 'QF301', null, 'the agent must be registered');
select throws_ok($$ select forebay.enqueue_many('a', '[]', 999) $$, 'QF302', null, 'the batch must be there');
select throws_ok(
    $$ select forebay.enqueue_many('a', (select jsonb_agg('{"payload": 1}'::jsonb) from generate_series(1, 10001))) $$,
    '22023', null, '10,000 tasks at most'
);
select results_eq(
    $$ select count(*)
    from forebay.enqueue_many('a', (select jsonb_agg('{"payload": 1}'::jsonb) from generate_series(1, 10000))) $$,
    array[10000]::bigint[],
    'and not fewer'
);
select results_eq(
    $$ select count(distinct task_id) from forebay.tasks
    where payload = '1' and created_at = noon() and batch_id is null $$,
    array[10001]::bigint[],
    'each is a task of its own'
);
select ok(
    (select min(o.task_id) from forebay.tasks as o) = 1, 'ids count up from the first'
);
select only_callable_by('{submitter}', $$ select forebay.enqueue_many('a', '[]') $$);
select finish();
rollback;
