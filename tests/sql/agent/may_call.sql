-- may_call: a call goes where every limit of the agent's quotas has room for it; else it is told when to ask again.
begin;
select plan(32);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_quota('q', '[
        {"unit": "input_tokens", "per": "minute", "amount": 1000}, {"unit": "output_tokens", "per": "minute", "amount": 100},
        {"unit": "requests", "per": "minute", "amount": 10, "kind": "bucket"}, {"unit": "concurrent_calls", "amount": 3}
    ]', 0);
    select forebay.register_agent('a'), forebay.register_agent('free');
    select forebay.enqueue('a', '{}', p_estimated_tokens => 1) from generate_series(1, 3);
    select forebay.enqueue('free', '{}');
    select forebay.dequeue('w', '{a}', 3);
    select forebay.dequeue('w', '{free}');
    select forebay.register_agent('a', p_quotas => '{q}')
$$);
set local role forebay_agent;
select is((forebay.may_call(101, 600, 40, 'c')).decision, 'go', 'a call that fits goes');
select is((forebay.may_call(101, 600, 40, 'c')).decision, 'go', 'while it is open, it may be asked for again');
set local role forebay_owner;
select results_eq(
    $$ select call_no, call_id, granted_at, input_tokens, output_tokens from forebay.attempt_calls $$,
    $$ values (1, 'c', noon(), 560::bigint, 40::bigint) $$,
    'it is granted once, with its output apart'
);
select results_eq(
    $$ select unit, used, open_calls from forebay.quota_status() $$,
    $$ values ('concurrent_calls', 1::numeric, 1::bigint), ('input_tokens', 560, 1), ('output_tokens', 40, 1),
        ('requests', 1, 1) $$,
    'and charged to every limit in its unit'
);

-- Wait
set local role forebay_agent;
select results_eq(
    $$ select decision, wait_until, waits, quota, unit, needs, has, reason from forebay.may_call(102, 500, 0) $$,
    $$ values ('wait', noon('0.5 seconds'), interval '0.5 seconds', 'q', 'input_tokens', 500::numeric, 440::numeric,
        'the quota has no room for it now') $$,
    'one that does not fit waits, and hears for what and how long'
);
select is((forebay.may_call(102, 500, 0)).unit, 'input_tokens', 'and again');
set local role forebay_owner;
select results_eq(
    $$ select asks_first, call_asked_at, call_wait_until, call_quota, call_input_tokens, call_output_tokens
    from forebay.task_attempts order by attempt_id limit 2 $$,
    $$ values (true, null::timestamptz, null::timestamptz, null::text, null::bigint, null::bigint),
        (true, noon(), noon('0.5 seconds'), 'q', 500, 0) $$,
    'it is known since when it waits, for how much, and that its agent asks'
);
select results_eq(
    $$ select distinct used, waiting_calls from forebay.quota_status() where unit = 'input_tokens' $$,
    $$ values (560::numeric, 1::bigint) $$,
    'it is charged nothing'
);
select at_time('61.5 seconds');
select is((forebay.may_call(102, 500, 0)).decision, 'go', 'it goes once there is room');
select results_eq(
    $$ select call_asked_at, call_wait_until, call_quota, held_up from forebay.task_attempts where attempt_id = 102 $$,
    $$ values (null::timestamptz, null::timestamptz, null::text, interval '0') $$,
    'one that asks again so late counts as new'
);
select is((forebay.may_call(103, 600, 0)).decision, 'wait', 'the next waits');
select at_time('65 seconds');
select given($$ select forebay.report_usage(102, '{"call_id": "x", "input_tokens": 0, "output_tokens": 0}') $$);
select is((forebay.may_call(103, 600, 0)).decision, 'go', 'usage gives back what was not used, under any id where none was said');
select results_eq(
    $$ select held_up from forebay.task_attempts where attempt_id = 103 $$, array[interval '3.5 seconds'],
    'how long it waited is kept'
);

-- What the agent has learned
select is((forebay.may_call(103, 100)).decision, 'go', 'the output may be left open');
select results_eq(
    $$ select input_tokens, output_tokens from forebay.attempt_calls where attempt_id = 103 order by call_no desc limit 1 $$,
    $$ values (80::bigint, 20::bigint) $$,
    'then it is the share that the agent has learned: a fifth, until there is something to learn from'
);
select results_eq(
    $$ select decision, unit, wait_until from forebay.may_call(103, 0) $$,
    $$ values ('wait', 'concurrent_calls', noon('65.05 seconds')) $$,
    'when an open call will end is not known: it asks again soon'
);

-- Stop
select given($$ select forebay.complete(103, '{}') $$);
select results_eq(
    $$ select decision, reason, wait_until from forebay.may_call(103, 1) $$,
    $$ values ('stop', 'the attempt has ended: succeeded', null::timestamptz) $$,
    'an attempt that has ended makes no more calls'
);
select results_eq(
    $$ select used from forebay.quota_status() where unit = 'concurrent_calls' $$, array[1]::numeric[],
    'and its open calls take no place'
);

-- No quotas, no room
select is((forebay.may_call(104, 1000000000000)).decision, 'go', 'an agent without quotas is not held up');
select results_eq(
    $$ select count(*) from forebay.attempt_calls where attempt_id = 104 $$, array[0]::bigint[], 'and nothing is noted'
);
select given($$
    insert into forebay.refusals (agent, in_flight, lowered_at, share, paused_until)
    values ('free', 1, noon(), 0.5, noon('2 minutes'))
$$);
select results_eq(
    $$ select decision, waits, quota from forebay.may_call(104, 1) $$,
    $$ values ('wait', interval '5 seconds', null::text) $$,
    'while the provider pauses the agent, its calls wait, and ask now and then'
);

-- What is refused
set local role forebay_agent;
select throws_ok($$ select forebay.may_call(null, 1) $$, '22023', null, 'an attempt is named');
select throws_ok($$ select forebay.may_call(999, 1) $$, 'QF304', null, 'a known one');
select throws_ok($$ select forebay.may_call(101, null) $$, '22023', null, 'tokens are given');
select throws_ok($$ select forebay.may_call(101, -1) $$, '22023', null, 'and not negative');
select throws_ok($$ select forebay.may_call(101, 1000000000001) $$, '22023', null, 'nor endless');
select throws_ok($$ select forebay.may_call(101, 1, 2) $$, '22023', null, 'output is part of them');
select throws_ok($$ select forebay.may_call(101, 1, -1) $$, '22023', null, 'and not negative either');
select throws_ok($$ select forebay.may_call(101, 1, 0, '') $$, '22023', null, 'a call id is not empty');
select throws_ok($$ select forebay.may_call(101, 1, 0, repeat('x', 501)) $$, '22023', null, 'nor too long');
select throws_ok(
    $$ select forebay.may_call(102, 1, 0, 'x') $$, '22023', 'call "x" of attempt 102 was reported already',
    'nor that of a call that was reported: the usage of the second would be lost'
);
select only_callable_by('{agent}', $$ select forebay.may_call(101, 1) $$);
select finish();
rollback;
