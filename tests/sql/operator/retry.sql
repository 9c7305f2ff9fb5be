-- retry: a failed or cancelled task starts afresh, and its history stays.
begin;
select plan(9);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_attempts => 1);
    select forebay.enqueue('a', '{}', 9), forebay.enqueue('a', '{}', 8), forebay.enqueue('a', '{}');
    select forebay.dequeue('w', p_batch_size => 2);
    select forebay.complete(101, '1'), forebay.fail(102, '{}');
    select forebay.cancel('{3}');
    update forebay.tasks set release_count = 1, deferral_count = 2, deferred_since = noon() where task_id = 2
$$);
set local role forebay_operator;
select results_eq(
    $$ select * from forebay.retry('{3, 2, 1, 999}', 10, 'again', 'ann') $$,
    $$ values (1::bigint, 'completed', 'none'), (2, 'enqueued', 'retried'), (3, 'enqueued', 'retried'),
        (999, null, 'unknown') $$,
    'one row a distinct id'
);
set local role forebay_owner;
select results_eq(
    $$ select attempt_count, attempt_no, priority, error, finished_at from forebay.tasks where task_id = 2 $$,
    $$ values (0, 1, 10::smallint, null::jsonb, null::timestamptz) $$,
    'attempt_count is zero again, attempt_no goes on'
);
select results_eq(
    $$ select release_count, deferral_count, deferred_since from forebay.tasks where task_id = 2 $$,
    $$ values (0, 0, null::timestamptz) $$,
    'and so are releases and deferrals'
);
select results_eq(
    $$ select attempt_no from forebay.dequeue('w') $$, array[2], 'the next attempt has the next number'
);
select results_eq(
    $$ select status from forebay.task_attempts where task_id = 2 order by attempt_no $$,
    array['failed', 'claimed'],
    'the earlier attempt is still there'
);
select given($$
    select forebay.cancel('{2}');
    select forebay.register_agent('a', p_fair_by_customer => true);
    select forebay.retry('{2}')
$$);
select results_eq(
    $$ select is_shared from forebay.tasks where task_id = 2 $$,
    array[true],
    'a task comes back into the line as its agent keeps it now'
);
select throws_ok($$ select forebay.retry(null) $$, '22023', null, 'ids are given');
select throws_ok($$ select forebay.retry('{2}', 40000) $$, '22023', null, 'a priority is a smallint');
select only_callable_by('{operator}', $$ select forebay.retry('{2}') $$);
select finish();
rollback;
