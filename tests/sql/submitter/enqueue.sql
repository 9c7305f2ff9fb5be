-- enqueue: one task in line; the same idempotency key means the same task, for as long as that is in the table.
begin;
select plan(37);
select stop_clock();
set local role forebay_owner;
select given($$ select forebay.register_agent('a'), forebay.register_agent('b') $$);
set local role forebay_submitter;
select is(forebay.enqueue('a', '{"n": 1}'), 1::bigint, 'an agent and a payload are enough');
select is(
    forebay.enqueue(
        p_agent => 'a',
        p_payload => '{"n": 2}',
        p_priority => 10,
        p_customer => 'acme',
        p_idempotency_key => 'k',
        p_run_after => noon('1 hour'),
        p_estimated_tokens => 500,
        p_max_attempts => 7
    ),
    2::bigint,
    'every argument has a name'
);
set local role forebay_owner;
select results_eq(
    $$ select agent, status, payload, priority, customer, idempotency_key, available_at, is_ready, estimated_tokens,
        max_attempts, attempt_count, attempt_no, created_at
    from forebay.tasks order by task_id $$,
    $$ values
        ('a', 'enqueued', '{"n": 1}'::jsonb, 0::smallint, null, null, noon(), true, null::bigint, null::integer, 0,
            0, noon()),
        ('a', 'enqueued', '{"n": 2}', 10::smallint, 'acme', 'k', noon('1 hour'), false, 500, 7, 0, 0, noon()) $$,
    'what is not given takes its default'
);

-- The idempotency key.
select is(
    forebay.enqueue('a', '{"n": 2}', p_idempotency_key => 'k', p_priority => -10, p_estimated_tokens => 1),
    2::bigint,
    'the same key answers with the first task: the payload alone is compared'
);
select is(forebay.enqueue('a', '{ "n":2 }', p_idempotency_key => 'k'), 2::bigint, 'as a document, not as text');
select results_eq(
    $$ select priority, estimated_tokens from forebay.tasks where task_id = 2 $$,
    $$ values (10::smallint, 500::bigint) $$,
    'and the first task stays as it was'
);
select throws_ok(
    $$ select forebay.enqueue('a', '{"n": 3}', p_idempotency_key => 'k') $$,
    'QF201', null, 'another payload under the same key is an error'
);
select isnt(forebay.enqueue('b', '{"n": 3}', p_idempotency_key => 'k'), 2::bigint, 'the key is the agent''s own');
select isnt(forebay.enqueue('a', '{"n": 2}', p_idempotency_key => 'K'), 2::bigint, 'and is compared letter by letter');
select given($$
    select forebay.cancel('{2}')
$$);
select is(
    forebay.enqueue('a', '{"n": 2}', p_idempotency_key => 'k'),
    2::bigint,
    'a task that has ended answers for its key as well'
);
select given($$ delete from forebay.tasks where task_id = 2 $$);
select cmp_ok(
    forebay.enqueue('a', '{"n": 3}', p_idempotency_key => 'k'),
    '>',
    2::bigint,
    'one that is gone from the table does not'
);
select isnt(
    forebay.enqueue('a', '{"n": 1}'), forebay.enqueue('a', '{"n": 1}'), 'without a key every call is a task'
);

-- Errors.
select throws_ok($$ select forebay.enqueue('a', '{}', p_idempotency_key => '') $$, '22023', null, 'a key is not empty');
select throws_ok(
    $$ select forebay.enqueue('a', '{}', p_idempotency_key => repeat('k', 501)) $$, '22023', null, 'nor over-long'
);
select throws_ok($$ select forebay.enqueue(null, '{}') $$, '22023', null, 'an agent is given');
select throws_ok($$ select forebay.enqueue('nobody', '{}') $$, 'QF301', null, 'the agent must be registered');
select throws_ok($$ select forebay.enqueue('A', '{}') $$, 'QF301', null, 'under this very name');
select throws_ok($$ select forebay.enqueue('a', null) $$, '22023', null, 'a payload is given');
select throws_ok($$ select forebay.enqueue('a', 'null') $$, '22023', null, 'a JSON null is no payload');
select lives_ok($$ select forebay.enqueue('a', '[]') $$, 'any other document is one');
select throws_ok($$ select forebay.enqueue('a', '{}', 32768) $$, '22023', null, 'a priority is a smallint');
select throws_ok($$ select forebay.enqueue('a', '{}', -32769) $$, '22023', null, 'on both sides');
select lives_ok($$ select forebay.enqueue('a', '{}', 32767), forebay.enqueue('a', '{}', -32768) $$, 'any smallint');
select lives_ok($$ select forebay.enqueue('a', '{}', null) $$, 'null is the normal priority');
select throws_ok($$ select forebay.enqueue('a', '{}', p_batch_id => 999) $$, 'QF302', null, 'the batch must be there');
select throws_ok($$ select forebay.enqueue('a', '{}', p_customer => '') $$, '22023', null, 'a customer is not empty');
select throws_ok(
    $$ select forebay.enqueue('a', '{}', p_customer => repeat('c', 201)) $$, '22023', null, 'nor over-long'
);
select throws_ok(
    $$ select forebay.enqueue('a', '{}', p_estimated_tokens => -1) $$, '22023', null, 'an estimate is not negative'
);
select throws_ok($$ select forebay.enqueue('a', '{}', p_max_attempts => 0) $$, '22023', null, 'one attempt at least');
select throws_ok(
    $$ select forebay.enqueue('a', to_jsonb(repeat('x', 1048576))) $$, 'QF402', null, 'a payload is not above 1 MiB'
);
select throws_ok($$ select forebay.enqueue('a', '[1, 1e309]') $$, '22023', null, 'and has no vast numbers');
select lives_ok($$ select forebay.enqueue('a', '[1, -1.7e308, 1e-400, "1e309"]') $$, 'large ones may be');
select throws_ok(
    $$ select forebay.enqueue('a', (repeat('[', 501) || '1' || repeat(']', 501))::jsonb) $$,
    '22023', 'task 1: the payload is nested more than 500 levels deep', 'nor is it deeper than parsers can read'
);
select lives_ok($$ select forebay.enqueue('a', (repeat('[', 500) || '1' || repeat(']', 500))::jsonb) $$, '500 levels may be');
select lives_ok(
    $$ select forebay.enqueue('a', to_jsonb(repeat('x', 1048574))) $$,
    'with its quotes it may have just that'
);
select given($$ select forebay.enqueue('a', '{"past": 1}', p_run_after => noon('-1 day')) $$);
select results_eq(
    $$ select available_at, is_ready from forebay.tasks where payload ? 'past' $$,
    $$ values (noon(), true) $$,
    'a time in the past means now'
);
select only_callable_by('{submitter}', $$ select forebay.enqueue('a', '{}') $$);
select finish();
rollback;
