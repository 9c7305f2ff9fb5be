-- collect_announcements: what begins is handed out once, to one caller at a time.
begin;
select plan(28);
select stop_clock();
set local role forebay_owner;
create temporary view collected as
select c.kind, c.subject, c.tries, c.occurred_at - noon() as after from forebay.collect_announcements() as c;
select given($$
    select forebay.register_agent('a', p_max_attempts => 1, p_default_estimated_tokens => 1000),
        forebay.register_agent('b', p_default_estimated_tokens => 1000);
    select forebay.open_batch('march', 'acme', 'ann');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11);
    select forebay.dequeue('w', '{a}', 2)
$$);
select is_empty($$ select * from collected $$, 'at first nothing has to be told');

-- a batch
select given($$ select forebay.complete(101, '1') $$);
select is_empty($$ select * from collected $$, 'a batch of which a task runs is not done');
select at_time('1 s');
select given($$ select forebay.fail(102, '{"kind": "bad_input"}') $$);
select at_time('2 s');
select results_eq(
    $$ select kind, subject, details, occurred_at, tries from forebay.collect_announcements() $$,
    $$ values ('batch.done', '11', '{"batch_id": "11", "name": "march", "owner": "ann", "customer": "acme", "tasks": 2,
        "completed": 1, "failed": 1, "cancelled": 0, "llm_usd": null}'::jsonb, noon('1 s'), 1) $$,
    'a batch is done when its last task ended'
);
select is_empty($$ select * from collected $$, 'it is told once');
select at_time('62 s');
select results_eq(
    $$ select * from collected $$, $$ values ('batch.done', '11', 2, interval '1 s') $$,
    'or again after a minute, while nobody says that it was sent'
);
select given($$ select forebay.announcement_sent(announcement_id) from forebay.announcements $$);
select at_time('1 hour');
select is_empty($$ select * from collected $$, 'what was sent is not told again');
select given($$ select forebay.retry('{2}'); select forebay.dequeue('w', '{a}') $$);
select at_time('61 min');
select given($$ select forebay.complete(103, '1') $$);
select results_eq(
    $$ select * from collected $$, $$ values ('batch.done', '11', 1, interval '61 min') $$,
    'a batch that was retried is done again'
);
select given($$ select forebay.announcement_sent(announcement_id) from forebay.announcements $$);

-- a pause
select given($$ select forebay.pause_agent('b', noon('2 hours'), 'lunch', 'ann') $$);
select results_eq(
    $$ select kind, subject, details, occurred_at, tries from forebay.collect_announcements() $$,
    $$ values ('agent.paused', 'b', jsonb_build_object('agent', 'b', 'until', noon('2 hours'), 'reason', 'lunch'),
        noon('61 min'), 1) $$,
    'an agent is paused'
);
select given($$ select forebay.announcement_sent(announcement_id) from forebay.announcements; select forebay.pause_agent('b') $$);
select is_empty($$ select * from collected $$, 'a longer pause is the same');
select given($$ select forebay.resume_agent('b') $$);
select is_empty($$ select * from collected $$, 'its end is not told');
select given($$ select forebay.pause_agent('b') $$);
select results_eq(
    $$ select kind, subject from collected $$, $$ values ('agent.paused', 'b') $$, 'the next one is'
);
select given($$ select forebay.announcement_sent(announcement_id) from forebay.announcements; select forebay.resume_agent('b') $$);
select is_empty($$ select * from collected $$, 'and then it ended too');

-- a provider's pauses
select given($$
    select forebay.enqueue('a', '{}'); select forebay.dequeue('w', '{a}');
    select forebay.fail(104, '{"kind": "rate_limited"}', p_retry_after => '1 min')
$$);
select results_eq(
    $$ select kind, subject, details ->> 'reason' from forebay.collect_announcements() $$,
    $$ values ('agent.paused', 'a', 'the provider asked to wait') $$,
    'a provider''s pause is one'
);
select at_time('65 min');
select given($$
    select forebay.announcement_sent(announcement_id) from forebay.announcements;
    select forebay.collect_announcements(); select forebay.dequeue('w', '{a}');
    select forebay.fail(105, '{"kind": "rate_limited"}', p_retry_after => '1 min')
$$);
select is_empty($$ select * from collected $$, 'another one a few minutes later is the same');
select at_time('80 min');
select given($$
    select forebay.collect_announcements(); select forebay.dequeue('w', '{a}');
    select forebay.fail(106, '{"kind": "rate_limited"}', p_retry_after => '1 min')
$$);
select results_eq(
    $$ select kind, subject from collected $$, $$ values ('agent.paused', 'a') $$, 'one a while later is another'
);
select given($$
    select forebay.announcement_sent(announcement_id) from forebay.announcements;
    select forebay.cancel('{3}'), forebay.resume_agent('a')
$$);

-- waiting
select given($$ select forebay.enqueue('b', '{}'), forebay.enqueue('a', '{}', p_run_after => noon('90 min')) $$);
select at_time('95 min');
select is_empty($$ select * from collected $$, 'for a quarter of an hour a task may wait');
select at_time('95 min 1 s');
select results_eq(
    $$ select kind, subject, details, occurred_at from forebay.collect_announcements() $$,
    $$ values ('waiting.too_long', 'b', jsonb_build_object('agent', 'b', 'waiting_since', noon('80 min')),
        noon('95 min 1 s')) $$,
    'then it waits too long; one that is due later only since then'
);
select given($$ select forebay.announcement_sent(announcement_id) from forebay.announcements $$);
select is_empty($$ select * from collected $$, 'which is told once');
select results_eq(
    $$ select kind, subject from forebay.collect_announcements('1 min') $$, $$ values ('waiting.too_long', 'a') $$,
    'how long is too long is for the caller to say'
);
select given($$
    select forebay.announcement_sent(announcement_id) from forebay.announcements; select forebay.cancel('{4,5}')
$$);

-- caps
select given($$
    select forebay.register_agent('b', p_max_usd_per_day => 1, p_default_estimated_tokens => 1000),
        forebay.register_customer('b', p_max_usd_per_day => 1);
    select forebay.enqueue('b', '{}', p_customer => 'b'); select forebay.dequeue('w', '{b}');
    select forebay.report_usage(107, '{"call_id": "1", "input_tokens": 1, "output_tokens": 1, "cost_usd": 1}')
$$);
select results_eq(
    $$ select kind, subject, details from forebay.collect_announcements() order by details ? 'customer' $$,
    $$ values
    ('spend_cap.reached', 'b',
        '{"agent": "b", "day": "2026-01-01", "cap_usd": 1, "recorded_usd": 1}'::jsonb),
    ('spend_cap.reached', 'b', '{"customer": "b", "day": "2026-01-01", "cap_usd": 1, "recorded_usd": 1}') $$,
    'a cap is reached, of an agent and of a customer'
);
select given($$
    select forebay.announcement_sent(announcement_id) from forebay.announcements; select forebay.lift_spend_cap('b', p_extra_usd => 1)
$$);
select is_empty($$ select * from collected $$, 'a lifted cap is not');
select given($$ select forebay.report_usage(107, '{"call_id": "2", "input_tokens": 1, "output_tokens": 1, "cost_usd": 1}') $$);
select results_eq(
    $$ select subject, details ->> 'cap_usd' from forebay.collect_announcements() $$, $$ values ('b', '2') $$,
    'until it is reached as well'
);
select given($$
    select forebay.announcement_sent(announcement_id) from forebay.announcements;
    select forebay.register_agent('c', p_max_usd_per_day => 1), forebay.register_agent('d'),
        forebay.register_customer('poor', p_max_usd_per_day => 1), forebay.register_price('m', p_usd_per_m_input => 100);
    select forebay.enqueue('c', '{}', p_estimated_tokens => 100000),
        forebay.enqueue('d', '{}', p_estimated_tokens => 100000, p_customer => 'poor')
$$);
select results_eq(
    $$ select subject, details ->> 'recorded_usd' from forebay.collect_announcements() order by subject $$,
    $$ values ('c', '0'), ('poor', '0') $$,
    'nor may the only task that waits lack what is left'
);
select is_empty($$ select * from collected $$, 'all of which is told once');
select throws_ok($$ select forebay.collect_announcements(null) $$, '22023', null, 'a wait is given');
select throws_ok($$ select forebay.collect_announcements('0') $$, '22023', null, 'and is one');
select throws_ok($$ select forebay.collect_announcements(p_limit => null) $$, '22023', null, 'a number is given');
select only_callable_by('{upkeep}', $$ select forebay.collect_announcements() $$);
select finish();
rollback;
