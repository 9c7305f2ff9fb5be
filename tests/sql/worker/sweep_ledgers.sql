-- sweep: what waits for quotas is added up, and what counts no more is removed.
begin;
select plan(6);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_quota('q', '[
        {"unit": "tokens", "per": "minute", "amount": 1000}, {"unit": "tokens", "per": "day", "amount": 10000}
    ]');
    select forebay.register_agent('a', p_quotas => '{q}');
    select forebay.enqueue('a', '{}', p_estimated_tokens => 1) from generate_series(1, 2);
    select forebay.dequeue('w', '{a}', 2);
    select forebay.may_call(101, 300, 100, 'one'), forebay.may_call(102, 300, 100, 'one');
    select forebay.report_usage(101, '{"call_id": "one", "input_tokens": 1, "output_tokens": 1}');
    select forebay.complete(101, '{}')
$$);
select results_eq($$ select count(*) from forebay.quota_settlements $$, array[1]::bigint[], 'a report waits for its quota');
set local role forebay_upkeep;
select lives_ok($$ select forebay.sweep() $$, 'a sweep adds it up');
set local role forebay_owner;
select is_empty($$ select * from forebay.quota_settlements $$, 'so that nothing piles up where nobody claims');
select at_time('2 hours');
select given($$ select forebay.sweep() $$);
select results_eq(
    $$ select period, used from forebay.quota_slots $$, $$ values (interval '1 day', 302::numeric) $$,
    'slots that have left their window are removed'
);
select results_eq(
    $$ select a.status, c.call_id from forebay.attempt_calls as c inner join forebay.task_attempts as a using (attempt_id) $$,
    $$ values ('failed', 'one') $$,
    'a crashed attempt keeps its calls, should it report late'
);
select at_time('25 hours');
select given($$ select forebay.sweep() $$);
select is_empty(
    $$ select slot_at from forebay.quota_slots union all select granted_at from forebay.attempt_calls $$,
    'until they have left every window'
);
select finish();
rollback;
