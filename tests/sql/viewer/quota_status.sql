-- quota_status: each limit with what counts against it, what a call could take, and what tasks in flight will still use.
begin;
select plan(11);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_quota('q', '[
        {"unit": "tokens", "per": "minute", "amount": 1000}, {"unit": "requests", "per": "minute", "amount": 10,
        "kind": "bucket"}, {"unit": "concurrent_calls", "amount": 3}
    ]');
    select forebay.register_quota('bare', '[]'), forebay.register_quota('idle', '[{"unit": "requests", "per": "hour", "amount": 5}]');
    select forebay.register_agent('a', p_quotas => '{q,bare}'), forebay.register_agent('b', p_quotas => '{q}');
    select forebay.enqueue('a', '{}', p_estimated_tokens => 100), forebay.enqueue('b', '{}', p_estimated_tokens => 200);
    select forebay.dequeue('w', null, 2)
$$);
set local role forebay_viewer;
select results_eq(
    $$ select quota, unit, period, kind, amount, effective_amount, agents from forebay.quota_status() $$,
    $$ values
        ('bare', null, null::interval, null, null::bigint, null::numeric, array['a']),
        ('idle', 'requests', '1 hour', 'window', 5, 5, array[]::text[]),
        ('q', 'concurrent_calls', '0', 'count', 3, 3, array['a', 'b']),
        ('q', 'requests', '1 minute', 'bucket', 10, 10, array['a', 'b']),
        ('q', 'tokens', '1 minute', 'window', 1000, 990, array['a', 'b']) $$,
    'a row a limit, also of a quota that nobody uses, and one for a quota that has none'
);
select results_eq(
    $$ select unit, used, room, projected, open_calls, waiting_calls from forebay.quota_status('{q}') $$,
    $$ values ('concurrent_calls', 0::numeric, 3::numeric, 2::numeric, 0::bigint, 0::bigint),
        ('requests', 0, 8, 2, 0, 0), ('tokens', 0, 990, 300, 0, 0) $$,
    'tasks in flight have used nothing yet, and will'
);
select results_eq(
    $$ select quota, unit, task_room from forebay.quota_status() $$,
    $$ values ('bare', null, null::numeric), ('idle', 'requests', 5), ('q', 'concurrent_calls', 1), ('q', 'requests', 6),
        ('q', 'tokens', 690) $$,
    'which leaves less to a new task than to a call'
);
set local role forebay_owner;
select given($$
    select forebay.may_call(a.attempt_id, 60, 0, 'c') from forebay.task_attempts as a where a.agent = 'a';
    select forebay.may_call(a.attempt_id, 940, 0, 'c') from forebay.task_attempts as a where a.agent = 'b'
$$);
set local role forebay_viewer;
select results_eq(
    $$ select unit, used, room, projected, open_calls, waiting_calls from forebay.quota_status('{q}') $$,
    $$ values ('concurrent_calls', 1::numeric, 2::numeric, 2::numeric, 1::bigint, 1::bigint),
        ('requests', 1, 7, 1, 1, 1), ('tokens', 60, 930, 240, 1, 1) $$,
    'what a call was granted is no longer projected, and who waits is counted'
);
select results_eq(
    $$ select unit, task_room from forebay.quota_status('{q}') $$,
    $$ values ('concurrent_calls', 2::numeric), ('requests', 7), ('tokens', 89) $$,
    'an agent that asks is left a tenth more than the calls that wait leave'
);
set local role forebay_owner;
select given($$
    insert into forebay.refusals (agent, quota, in_flight, lowered_at, share, paused_until)
    values ('a', 'q', 1, noon(), 0.5, noon('2 minutes'))
$$);
set local role forebay_viewer;
select results_eq(
    $$ select unit, effective_amount, paused_until from forebay.quota_status('{q}') $$,
    $$ values ('concurrent_calls', 1::numeric, noon('2 minutes')), ('requests', 5, noon('2 minutes')),
        ('tokens', 495, noon('2 minutes')) $$,
    'what the provider refused lowers the limits, and pauses'
);
select is_empty($$ select * from forebay.quota_status('{}') $$, 'no names ask for nothing');
select throws_ok($$ select forebay.quota_status('{nobody}') $$, 'QF305', null, 'a quota must be registered');
select throws_ok($$ select forebay.quota_status('{q,null}') $$, '22023', null, 'and have a name');
select is(
    (select count(*) from forebay.quota_status('{q,q}')), 3::bigint, 'a name said twice is one'
);
select only_callable_by('{viewer}', $$ select forebay.quota_status() $$);
select finish();
rollback;
