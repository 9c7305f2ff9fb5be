-- attempts_to_cost: ended attempts whose machine nobody has told the cost of.
begin;
select plan(13);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 4);
    select forebay.dequeue('w', p_batch_size => 4)
$$);
select at_time('30 s');
select given($$ select forebay.complete(102, '{}') $$);
select at_time('40 s');
select given($$ select forebay.release(101, 'stop'), forebay.complete(103, '{}') $$);
select given($$ select forebay.record_compute_usage('[{"record_id": "r", "attempt_id": 103, "usd": 0}]') $$);
set local role forebay_upkeep;
select results_eq(
    $$ select * from forebay.attempts_to_cost() $$,
    $$ values (102::bigint, 2::bigint, 'a', 'pull', null::text, noon(), noon('30 s')),
        (101, 1, 'a', 'pull', null, noon(), noon('40 s')) $$,
    'those that have ended, the first to end first'
);
select results_eq($$ select attempt_id from forebay.attempts_to_cost(1) $$, array[102::bigint], 'no more than p_limit');
select throws_ok($$ select forebay.attempts_to_cost(0) $$, '22023', null, 'p_limit is at least 1');
select throws_ok($$ select forebay.attempts_to_cost(10001) $$, '22023', null, 'and at most 10,000');
select throws_ok($$ select forebay.attempts_to_cost(null) $$, '22023', null, 'and not null');

-- An attempt that was lost and costed, and succeeds in the end, ran until then.
set local role forebay_owner;
select given($$
    select forebay.record_compute_usage('[
        {"record_id": "101", "attempt_id": 101, "usd": 1, "ended_at": "2026-01-01T12:00:40Z"},
        {"record_id": "102", "attempt_id": 102, "usd": 1, "ended_at": "2026-01-01T12:00:30Z"}
    ]');
    update forebay.task_attempts set lease_expires_at = noon() where attempt_id = 104;
    select forebay.sweep();
    select forebay.record_compute_usage('[{"record_id": "104", "attempt_id": 104, "usd": 1, "ended_at": "2026-01-01T12:00:40Z"}]')
$$);
select is_empty($$ select * from forebay.attempts_to_cost() $$, 'of all attempts the cost is estimated, of a lost one too');
select at_time('100 s');
select given($$ select forebay.complete(104, '{}') $$);
select results_eq(
    $$ select attempt_id, finished_at from forebay.attempts_to_cost() $$,
    $$ values (104::bigint, noon('100 s')) $$,
    'one that succeeds late is asked for again, by its true end'
);
select results_eq(
    $$ select compute_usd, costed_attempts, provisional_attempts, run_time from forebay.tasks where task_id = 4 $$,
    $$ values (0::numeric, 0, 0, interval '100 s') $$,
    'its task counts no cost until then'
);
select given($$
    select forebay.record_compute_usage('[{"record_id": "104", "attempt_id": 104, "usd": 1.5, "ended_at": "2026-01-01T12:00:40Z"}]')
$$);
select results_eq(
    $$ select attempt_id from forebay.attempts_to_cost() $$, array[104::bigint], 'an estimate by the old end changes nothing'
);
select given($$
    select forebay.record_compute_usage('[{"record_id": "104", "attempt_id": 104, "usd": 2.5, "ended_at": "2026-01-01T12:01:40Z"}]')
$$);
select is_empty($$ select * from forebay.attempts_to_cost() $$, 'one by the true end counts');
select results_eq(
    $$ select compute_usd, costed_attempts from forebay.tasks where task_id = 4 $$, $$ values (2.5, 1) $$, 'once'
);
select given($$
    select forebay.record_compute_usage('[{"record_id": "104", "attempt_id": 104, "usd": null}]', 'billing')
$$);
select is_empty($$ select * from forebay.attempts_to_cost() $$, 'what a bill tells of without a price is not estimated');
select only_callable_by('{upkeep}', $$ select forebay.attempts_to_cost() $$);
select finish();
rollback;
