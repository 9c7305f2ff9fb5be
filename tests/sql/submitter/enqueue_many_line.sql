-- enqueue_many keeps an agent's line as short as its definition says, and adds a customer's boost to the priority.
begin;
select plan(21);
select stop_clock();
set local role forebay_owner;

-- How many may wait.
select given($$
    select forebay.register_agent('a', p_max_waiting => 3);
    select forebay.register_agent('none', p_max_waiting => 0);
    select forebay.register_agent('any')
$$);
select lives_ok(
    $$ select forebay.enqueue_many('a', '[{"payload": 1}, {"payload": 2, "idempotency_key": "k"}]') $$,
    'as many as may wait are taken'
);
select throws_ok(
    $$ select forebay.enqueue_many('a', '[{"payload": 3}, {"payload": 4}]') $$,
    'QF403',
    'agent "a" has no room in its line: at most 3 of its tasks may wait',
    'more are refused'
);
select results_eq($$ select count(*) from forebay.tasks $$, array[2]::bigint[], 'all of them');
select throws_ok(
    $$ select forebay.enqueue_many('a', '[{"payload": 3}, {"payload": 4, "run_after": "2027-01-01T00:00:00Z"}]') $$,
    'QF403', null, 'a task that is not due yet waits too'
);
select lives_ok(
    $$ select forebay.enqueue_many('a', '[{"payload": 3, "run_after": "2027-01-01T00:00:00Z"}]') $$,
    'one more is taken'
);
select throws_ok($$ select forebay.enqueue('a', '4') $$, 'QF403', null, 'then none');
select lives_ok(
    $$ select forebay.enqueue('a', '2', p_idempotency_key => 'k') $$,
    'a key that is known adds nothing, so it is answered'
);
select throws_ok(
    $$ select forebay.enqueue_many('a', '[{"payload": 2, "idempotency_key": "k"}, {"payload": 5, "idempotency_key": "l"}]') $$,
    'QF403', null, 'a new one beside it does'
);
select lives_ok($$ select forebay.enqueue_many('a', '[]') $$, 'and so is nothing at all');
select given($$ select forebay.dequeue('w', '{a}') $$);
select lives_ok($$ select forebay.enqueue('a', '4') $$, 'a task that starts makes room');
select given($$
    select forebay.release(max(attempt_id), 'try again') from forebay.task_attempts;
    select forebay.cancel('{2}')
$$);
select results_eq(
    $$ select count(*) from forebay.tasks where agent = 'a' and status = 'enqueued' $$,
    array[3]::bigint[],
    'a task that comes back is never refused'
);
select throws_ok($$ select forebay.enqueue('a', '5') $$, 'QF403', null, 'but it takes its place');
select given($$ select forebay.register_agent('a', p_max_waiting => 1) $$);
select throws_ok($$ select forebay.enqueue('a', '5') $$, 'QF403', null, 'a lower limit lets the line run down');
select isnt_empty($$ select forebay.dequeue('w', '{a}') $$, 'and keeps nothing from starting');
select throws_ok($$ select forebay.enqueue('none', '1') $$, 'QF403', null, 'a limit of 0 lets nobody wait');
select lives_ok($$ select forebay.enqueue('any', '1') from generate_series(1, 10) $$, 'without a limit any number waits');

-- A customer's boost.
select given($$
    select forebay.register_customer('premium', 100);
    select forebay.register_customer('late', -10000);
    select forebay.register_customer('plain');
    select forebay.enqueue_many('any', '[
        {"payload": 1, "customer": "premium"}, {"payload": 1, "customer": "premium", "priority": 5},
        {"payload": 1, "customer": "plain", "priority": 5}, {"payload": 1, "customer": "unknown", "priority": 5},
        {"payload": 1, "priority": 5}, {"payload": 1, "customer": "premium", "priority": 32700},
        {"payload": 1, "customer": "late", "priority": -32000}
    ]')
$$);
select results_eq(
    $$ select priority::integer from (select * from forebay.tasks order by task_id desc limit 7) as t order by task_id $$,
    array[100, 105, 5, 5, 5, 32767, -32768],
    'is added to the priority, within the range of priorities'
);
select given($$
    select forebay.open_batch('upload', 'premium');
    select forebay.enqueue('any', '1', 1, p_batch_id => 11)
$$);
select results_eq(
    $$ select priority::integer from forebay.tasks order by task_id desc limit 1 $$,
    array[101],
    'a batch''s customer counts'
);
select given($$ select forebay.reprioritize(array[max(task_id)], 1) from forebay.tasks $$);
select results_eq(
    $$ select priority::integer from forebay.tasks order by task_id desc limit 1 $$,
    array[1],
    'an operator''s priority is taken as it is'
);
select given($$
    select forebay.register_customer('premium', 0);
    select forebay.enqueue('any', '1', 2, p_customer => 'premium')
$$);
select results_eq(
    $$ select priority::integer from forebay.tasks where customer = 'premium' order by task_id $$,
    array[100, 105, 32767, 1, 2],
    'a boost that changes counts for what comes'
);
select only_callable_by('{submitter}', $$ select forebay.enqueue_many('a', '[]') $$);
select finish();
rollback;
