-- agent_status: what waits and runs, and what the limits leave, with the numbers that dequeue decides by.
begin;
select plan(14);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b', p_max_concurrent_tasks => 1);
    select forebay.open_batch('upload', 'acme', 'ann');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11), forebay.enqueue('b', '{}',
        p_customer => 'c');
    select forebay.dequeue('w');
    select forebay.complete(101, '1')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select agent, state, waiting, in_use from forebay.agent_status() $$,
    $$ values ('a', 'open', 1::bigint, 0::bigint), ('b', 'open', 1, 0) $$,
    'an agent says what waits'
);
set local role forebay_owner;
select given($$
    select forebay.register_price('m', p_usd_per_m_input => 100, p_usd_per_m_output => 100);
    select forebay.register_quota('gpt', '[{"unit": "tokens", "per": "minute", "amount": 60000}]', 0);
    select forebay.register_quota('none', '[]');
    select forebay.register_agent(
        'c', p_max_concurrent_tasks => 4, p_max_tpm => 10000, p_quotas => '{gpt,none}', p_max_usd_per_day => 5,
        p_aging => '1 min', p_max_deferrals => 7
    );
    select forebay.enqueue('c', '{}', p_estimated_tokens => 6000), forebay.enqueue('c', '{}', p_estimated_tokens => 6000);
    select forebay.enqueue('c', '{}', p_run_after => noon('1 hour'));
    select forebay.dequeue('w', '{c}', 10);
    select forebay.report_usage(102, '{"call_id": "1", "model": "m", "input_tokens": 1000, "output_tokens": 500}')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select state, waiting, delayed, in_use, oldest_waiting_at from forebay.agent_status('{c}') $$,
    $$ values ('out_of_tokens', 1::bigint, 1::bigint, 1::bigint, noon()) $$,
    'the first that waits does not fit'
);
select results_eq(
    $$ select agent, hindrance from forebay.agent_status() $$,
    $$ values ('a', null), ('b', null),
        ('c', 'Task 5 waits: agent c has 2,000 of 10,000 tokens a minute left and this task needs 6,000.') $$,
    'and it says what that one lacks'
);
select results_eq(
    $$ select token_level, token_burst, in_flight_tokens, projected_tpm from forebay.agent_status('{c}') $$,
    $$ values (2000.0::numeric, 8000.0::numeric, 6000::bigint, 4500::bigint) $$,
    'what is left, and what the task in flight will still use'
);
select results_eq(
    $$ select starts_last_minute, tokens_last_minute, usd_today, usd_projected from forebay.agent_status('{c}') $$,
    $$ values (1::bigint, 1500::bigint, 0.15::numeric, 0.45::numeric) $$,
    'what was started and used, and what it costs'
);
select results_eq(
    $$ select learned_samples, learned_ratio, learned_input_ratio, typical_tokens, typical_calls, effective_share
       from forebay.agent_status('{c}') $$,
    $$ values (0, 1.0::numeric, 0.8::numeric, null::bigint, null::numeric, 1::numeric) $$,
    'nothing is learned yet'
);
select results_eq(
    $$ select q ->> 'quota', q ->> 'unit', (q ->> 'used')::numeric
       from forebay.agent_status('{c}') as s cross join jsonb_array_elements(s.quotas) as q $$,
    $$ values ('gpt', 'tokens', 1500::numeric), ('none', null, null) $$,
    'its quotas stand beside it'
);
select results_eq(
    $$ select aging, max_deferrals, quota_names, tpm_burst, retention from forebay.agent_status('{c}') $$,
    $$ values ('1 min'::interval, 7, '{gpt,none}'::text[], 0.8::numeric, '90 days'::interval) $$,
    'it shows its definition'
);
set local role forebay_owner;
select at_time('61 s');
select given($$ select forebay.fail(102, '{"kind": "rate_limited"}', true, '30 s') $$);
set local role forebay_viewer;
select results_eq(
    $$ select starts_last_minute, tokens_last_minute from forebay.agent_status('{c}') $$,
    $$ values (0::bigint, 0::bigint) $$,
    'a minute later nothing was started'
);
select results_eq(
    $$ select state, paused_until, pause_reason like '%provider%' from forebay.agent_status('{c}') $$,
    $$ values ('paused', noon('91 s'), true) $$,
    'a provider''s refusal pauses it'
);
select ok(
    (select s.effective_tpm < s.max_tpm and s.effective_share < 1 and s.effective_tpm = floor(s.max_tpm * s.effective_share)
     from forebay.agent_status('{c}') as s),
    'and lowers its limits'
);
select throws_ok($$ select forebay.agent_status('{nobody}') $$, 'QF301', null, 'so is an agent');
select throws_ok($$ select forebay.agent_status(array[null]) $$, '22023', null, 'an agent has a name');
select only_callable_by('{viewer}', $$ select forebay.agent_status() $$);
select finish();
rollback;
