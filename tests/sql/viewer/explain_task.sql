-- explain_task: why a task waits, and until when.
begin;
select plan(38);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_concurrent_tasks => 1), forebay.register_agent('b', p_max_tpm => 6000);
    select forebay.enqueue('a', '{"secret": 1}', 9), forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}');
    select forebay.enqueue('b', '{}', p_estimated_tokens => 4000), forebay.enqueue('b', '{}',
        p_estimated_tokens => 2000);
    select forebay.enqueue('a', '{}', p_run_after => noon('1 hour'))
$$);
set local role forebay_viewer;
select results_eq($$ select reason from forebay.explain_task(1) $$, array['ready'], 'it is next');
select results_eq(
    $$ select reason, ahead from forebay.explain_task(3) $$,
    $$ values ('behind_others', 2::bigint) $$,
    'others come first'
);
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(6) $$,
    $$ values ('delayed', null::timestamptz) $$,
    'it is not due, and then others come first'
);
set local role forebay_owner;
select given($$ select forebay.dequeue('w', '{a}'), forebay.dequeue('w', '{b}') $$);
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(1) $$, $$ values ('running', noon('1 min')) $$, 'it runs'
);
select results_eq($$ select reason from forebay.explain_task(2) $$, array['full'], 'its agent is full');
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(5) $$,
    $$ values ('out_of_tokens', noon('12 s')) $$,
    'tokens are out'
);
select given($$ select forebay.pause_agent('b', noon('1 hour')) $$);
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(5) $$,
    $$ values ('paused', noon('1 hour')) $$,
    'it is paused'
);
select given($$ select forebay.complete(101, '"secret"') $$);
select results_eq($$ select reason from forebay.explain_task(1) $$, array['completed'], 'it has ended');
select given($$
    select forebay.register_agent('c', p_max_concurrent_tasks => 0), forebay.register_agent('d', p_max_rpm => 1);
    select forebay.enqueue('c', '{}'), forebay.enqueue('d', '{}'), forebay.enqueue('d', '{}');
    select forebay.dequeue('w', '{d}')
$$);
select results_eq($$ select reason from forebay.explain_task(7) $$, array['closed'], 'a limit of 0 admits nothing');
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(9) $$,
    $$ values ('out_of_requests', noon('1 min')) $$,
    'claims are out'
);
select at_time('1 min');
select results_eq($$ select reason from forebay.explain_task(8) $$, array['lease_expired'], 'its worker is silent');
select at_time('1 hour');
select given($$
    select forebay.register_price('m', p_usd_per_m_input => 100, p_usd_per_m_output => 100);
    select forebay.register_quota('gpt', '[{"unit": "tokens", "per": "minute", "amount": 60000}]', 0);
    select forebay.register_agent('e', p_quotas => '{gpt}');
    select forebay.enqueue('e', '{}', p_estimated_tokens => 57000);
    select forebay.dequeue('w', '{e}');
    select forebay.report_usage(104, '{"call_id": "1", "input_tokens": 45600, "output_tokens": 11400}');
    select forebay.enqueue('e', '{}', p_estimated_tokens => 5000), forebay.enqueue('e', '{}', p_estimated_tokens => 4000),
        forebay.enqueue('e', '{}', p_estimated_tokens => 3000)
$$);
select results_eq(
    $$ select reason, subject, unit, period, needs, has, amount, ahead from forebay.explain_task(12) $$,
    $$ values ('quota', 'gpt', 'tokens', '1 min'::interval, 4000.0::numeric, 3000.0::numeric, 60000.0::numeric, 1::bigint) $$,
    'a quota has too little, and it says how little'
);
select matches(
    (forebay.explain_task(11)).explanation,
    '^Quota gpt has 3,000 of 60,000 tokens a minute left for new tasks and this task needs 5,000; '
    || 'room is expected at 13:01:\d\d UTC\.$',
    'the sentence names the numbers on both sides'
);
select results_eq($$ select reason, ahead from forebay.explain_task(13) $$, $$ values ('ready', 2::bigint) $$, 'a small task passes');
select at_time('3660 s');
select results_eq(
    $$ select reason, subject, needs, has from forebay.explain_task(13) $$,
    $$ values ('reserved', 'gpt', 5000.0::numeric, 3000.0::numeric) $$,
    'nobody passes a task that has waited long'
);
select matches(
    (forebay.explain_task(13)).explanation,
    '^Task 11 is before it and has waited so long that nobody passes it: quota gpt has 3,000 of .* '
    || 'and that one needs 5,000; .* 2 tasks are before it\.$',
    'the sentence names that task'
);
select given($$
    select forebay.register_customer('acme', p_max_usd_per_day => 1), forebay.register_agent('f');
    select forebay.enqueue('f', '{}', p_customer => 'acme', p_estimated_tokens => 6000),
        forebay.enqueue('f', '{}', p_customer => 'acme', p_estimated_tokens => 6000),
        forebay.enqueue('f', '{}', p_customer => 'acme', p_estimated_tokens => 11000),
        forebay.enqueue('f', '{}');
    select forebay.dequeue('w', '{f}');
    select forebay.report_usage(105, '{"call_id": "1", "model": "m", "input_tokens": 6000, "output_tokens": 0}')
$$);
select results_eq(
    $$ select reason, subject, unit, needs, has, amount, waiting_until from forebay.explain_task(15) $$,
    $$ values ('spend_cap', 'acme', 'usd', 0.6::numeric, 0.4::numeric, 1::numeric, noon('12 hours')) $$,
    'a customer''s cap is reached until the next day in UTC'
);
select results_eq(
    $$ select explanation from forebay.explain_task(16) $$,
    array['The cap of customer acme has 0.4 of 1 US dollars left for today and this task is expected to cost 1.1; '
        || 'an operator can lift the cap for today. 1 task is before it.'],
    'a task dearer than the cap waits for an operator'
);
select results_eq($$ select reason from forebay.explain_task(17) $$, array['ready'], 'others pass it');
select given($$
    select forebay.register_agent('g', p_max_tpm => 1000), forebay.enqueue('g', '{}', p_estimated_tokens => 800);
    select forebay.dequeue('w', '{g}');
    select forebay.fail(106, '{"kind": "rate_limited", "message": "slow down"}', true, '30 s')
$$);
select results_eq(
    $$ select reason from forebay.explain_task(18) $$, array['paused'], 'the provider''s pause holds for the whole agent'
);
select given($$ select forebay.resume_agent('g') $$);
select results_eq($$ select reason from forebay.explain_task(18) $$, array['deferred'], 'a provider has refused the task');
select matches(
    (forebay.explain_task(18)).explanation,
    '^A provider has refused it once since 13:01:00 UTC, which spent no attempt; it is not due before 13:01:30 UTC\.$',
    'and spent no attempt of it'
);
select given($$
    select forebay.register_agent('h', p_max_tpm => 1000), forebay.enqueue('h', '{}', p_estimated_tokens => 800);
    select forebay.enqueue('h', '{}', p_customer => 'acme', p_estimated_tokens => 20000);
    select forebay.dequeue('w', '{h}')
$$);
select results_eq(
    $$ select explanation from forebay.explain_task(20) $$,
    array['Agent h has 0 of 1,000 tokens a minute left and this task needs 20,000; '
        || 'after that, the cap of customer acme has 1 of 1 US dollars left for today and this task is expected to cost 2.'],
    'where time alone does not help it says what comes next'
);
select results_eq(
    $$ select explanation from forebay.explain_task(19) $$,
    array['Attempt 1 runs at worker w since 13:01:00 UTC; its deadline is 14:01:00 UTC.'],
    'what runs says where'
);
select given($$
    select forebay.may_call(107, 3000);
    update forebay.task_attempts set call_quota = 'gpt', call_wait_until = noon('3670 s'), call_input_tokens = 2500,
        call_output_tokens = 500
    where attempt_id = 107
$$);
select results_eq(
    $$ select explanation from forebay.explain_task(19) $$,
    array['Attempt 1 runs at worker w since 13:01:00 UTC; its deadline is 14:01:00 UTC. '
        || 'Its next call, of 3,000 tokens, waits for quota gpt until 13:01:10 UTC.'],
    'and which call of it waits'
);
select results_eq(
    $$ select waiting_until, subject, unit, needs from forebay.explain_task(19) $$,
    $$ values (noon('3670 s'), 'gpt', 'tokens', 3000::numeric) $$,
    'until when, and for what'
);
select given($$
    select forebay.register_quota(
        'slots', '[{"unit": "concurrent_calls", "amount": 1}, {"unit": "tokens", "per": "6 s", "amount": 1000}]', 0.1
    );
    select forebay.register_agent('i', p_quotas => '{slots}');
    select forebay.enqueue('i', '{}', p_estimated_tokens => 500), forebay.enqueue('i', '{}', p_estimated_tokens => 100);
    select forebay.dequeue('w', '{i}')
$$);
select results_eq(
    $$ select explanation from forebay.explain_task(22) $$,
    array['Quota slots has 0 of 1 concurrent calls left for new tasks and this task needs 1; '
        || 'tasks that run have to end first.'],
    'a number of calls has no period'
);
select given($$
    select forebay.register_quota('slots', '[{"unit": "tokens", "per": "6 s", "amount": 1000}]', 0.1);
    select forebay.enqueue('i', '{}', 1, p_estimated_tokens => 450)
$$);
select results_eq(
    $$ select explanation from forebay.explain_task(23) $$,
    array['Quota slots has 400 of 900 tokens in 6 s (configured: 1,000) left for new tasks and this task needs 450; '
        || 'tasks that run have to end first.'],
    'a limit that is lower than configured says so'
);
select given($$
    select forebay.register_agent('j', p_max_concurrent_tasks => 4);
    select forebay.enqueue_many('j', '[{"payload": {}}, {"payload": {}}, {"payload": {}}, {"payload": {}}]');
    select forebay.dequeue('w', '{j}', 10);
    select forebay.fail(110, '{"kind": "rate_limited", "message": "slow down"}', true, '1 s')
$$);
select at_time('3662 s');
select matches(
    (forebay.explain_task(25)).explanation,
    '^Agent j runs 3 of 2 tasks at once \(configured: 4\); room is expected at 13:03:31 UTC\.$',
    'also one that refusals have lowered'
);
select given($$
    select forebay.register_agent('k', p_max_tpm => 1200);
    select forebay.enqueue('k', '{}', p_estimated_tokens => 800), forebay.enqueue('k', '{}', p_estimated_tokens => 400),
        forebay.enqueue('k', '{}', p_estimated_tokens => 400), forebay.enqueue('k', '{}', p_estimated_tokens => 300);
    select forebay.dequeue('w', '{k}')
$$);
select results_eq(
    $$ select reason, waiting_until from forebay.explain_task(31) $$,
    $$ values ('out_of_tokens', noon('3669 s')) $$,
    'a small task may pass before there is room for those before it'
);
select given($$
    select forebay.register_agent('l', p_max_tpm => 1);
    select forebay.enqueue('l', '{}', p_estimated_tokens => 1000000000000), forebay.enqueue('l', '{}');
    select forebay.dequeue('w', '{l}')
$$);
select matches(
    (forebay.explain_task((select max(t.task_id) from forebay.tasks as t))).explanation,
    'tasks that run have to end first\.$', 'a debt of what runs may be given back'
);
select given($$
    select forebay.fail((select max(a.attempt_id) from forebay.task_attempts as a), '{"kind": "bad_input", "message": "no"}', false)
$$);
select matches(
    (forebay.explain_task((select max(t.task_id) from forebay.tasks as t))).explanation,
    '^Agent l has 0 of 1 tokens a minute left and .* unless an operator takes the limit away and sets it again\.$',
    'one of what has ended is not'
);
select given($$
    select forebay.register_agent('m', p_max_concurrent_tasks => 1), forebay.enqueue('m', '{}'), forebay.enqueue('m', '{}');
    select forebay.dequeue('w', '{m}')
$$);
select at_time('3722 s');
select results_eq(
    $$ select e.reason, e.explanation from forebay.explain_task((select max(t.task_id) from forebay.tasks as t)) as e $$,
    $$ values ('full', 'Agent m runs 1 of 1 tasks at once; '
        'the next dequeue takes back 1 of them, whose workers are silent or late.') $$,
    'where a lease has run out, room is near'
);
set local role forebay_owner;
select given($$
    select forebay.register_agent('ends', p_max_attempts => 1);
    select forebay.enqueue('ends', jsonb_build_object('n', n)) from generate_series(1, 3) as n;
    select forebay.dequeue('w', '{ends}', 3);
    select forebay.fail(a.attempt_id, jsonb_build_object('kind', 'bad_input', 'message', m.message))
    from (
        select e.attempt_id, row_number() over (order by e.attempt_id) as place
        from forebay.task_attempts as e where e.agent = 'ends'
    ) as a
    inner join (values (1, 'It is too long.'), (2, 'why?'), (3, '...')) as m (place, message) on m.place = a.place
$$);
select results_eq(
    $$ select regexp_replace(e.explanation, '.* UTC', '')
       from forebay.tasks as t cross join forebay.explain_task(t.task_id) as e where t.agent = 'ends' order by t.task_id $$,
    array[' after 1 attempt: It is too long.', ' after 1 attempt: why?.', ' after 1 attempt.'],
    'what is said of an end is one sentence'
);
select throws_ok($$ select forebay.explain_task(999) $$, 'QF303', null, 'an unknown task');
select throws_ok($$ select forebay.explain_task(null) $$, '22023', null, 'a task is given');
select only_callable_by('{viewer}', $$ select forebay.explain_task(1) $$);
select given($$ update forebay.installation set is_branch = true $$);
select results_eq($$ select reason from forebay.explain_task(2) $$, array['not_open'], 'a branch does not dispatch');
select finish();
rollback;
