-- monitoring: gauges of what waits and runs, what limits it, and whether the machinery turns.
begin;
select plan(11);
select stop_clock();
set local role forebay_owner;
create temporary view told as
select g.metric || coalesce(' ' || nullif(nullif(g.labels, '{}')::text, '{"agent": "a"}'), '') as what, g.value
from forebay.monitoring() as g;
select set_eq(
    $$ select metric from forebay.monitoring() $$,
    $$ values ('forebay_dispatchers'), ('forebay_listeners'), ('forebay_expired_leases'),
        ('forebay_oldest_transaction_seconds'), ('forebay_notify_queue_ratio'), ('forebay_may_dispatch'),
        ('forebay_schema_info') $$,
    'without agents it tells of the machinery; what has no value has no row'
);
select given($$
    select forebay.register_quota('q', '[{"unit": "tokens", "per": "minute", "amount": 60000}]', 0);
    select forebay.register_agent('a', p_lease => '1 min', p_max_tpm => 60000, p_tpm_burst => 0.5, p_max_rpm => 600,
        p_max_concurrent_tasks => 8, p_max_usd_per_day => 5, p_quotas => '{q}', p_default_estimated_tokens => 1000,
        p_backoff_base => '1 hour');
    select forebay.enqueue('a', '{}', 9), forebay.enqueue('a', '{}', 8), forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}'),
        forebay.enqueue('a', '{}', p_run_after => noon('1 hour'));
    select forebay.dequeue('w', '{a}', 2);
    select forebay.report_usage(101, '{"call_id": "1", "input_tokens": 30, "output_tokens": 5, "cost_usd": 0.25}')
$$);
select at_time('30 s');
select given($$ select forebay.sweep(p_worker => 'w') $$);
select results_eq(
    $$ select what, value from told where what like 'forebay_tasks%' $$,
    $$ values ('forebay_tasks {"agent": "a", "state": "delayed"}', 1::double precision),
        ('forebay_tasks {"agent": "a", "state": "processing"}', 2), ('forebay_tasks {"agent": "a", "state": "waiting"}', 2) $$,
    'it counts the tasks that have not ended'
);
select results_eq(
    $$ select what, value from told
       where what in ('forebay_oldest_waiting_seconds', 'forebay_starts_last_minute', 'forebay_tokens_last_minute',
           'forebay_token_bucket_level', 'forebay_token_bucket_size', 'forebay_token_limit_per_minute',
           'forebay_request_limit_per_minute', 'forebay_concurrency_limit', 'forebay_paused', 'forebay_cost_today_usd',
           'forebay_spend_cap_usd', 'forebay_refusals_last_hour', 'forebay_lost_leases_last_hour')
       order by what collate "C" $$,
    $$ values ('forebay_concurrency_limit', 8::double precision), ('forebay_cost_today_usd', 0.25),
        ('forebay_lost_leases_last_hour', 0), ('forebay_oldest_waiting_seconds', 30), ('forebay_paused', 0),
        ('forebay_refusals_last_hour', 0), ('forebay_request_limit_per_minute', 600), ('forebay_spend_cap_usd', 5),
        ('forebay_starts_last_minute', 2), ('forebay_token_bucket_level', 30000), ('forebay_token_bucket_size', 30000),
        ('forebay_token_limit_per_minute', 60000), ('forebay_tokens_last_minute', 35) $$,
    'it tells how an agent stands'
);
select results_eq(
    $$ select what, value from told where what like 'forebay_quota%' order by what collate "C" $$,
    $$ values ('forebay_quota_limit {"unit": "tokens", "quota": "q", "period": "00:01:00"}', 60000::double precision),
        ('forebay_quota_used {"unit": "tokens", "quota": "q", "period": "00:01:00"}', 35) $$,
    'and a quota'
);
select results_eq(
    $$ select what, value from told
       where what in ('forebay_dispatchers', 'forebay_claim_age_seconds', 'forebay_sweep_age_seconds', 'forebay_may_dispatch')
       order by what collate "C" $$,
    $$ values ('forebay_claim_age_seconds', 30::double precision), ('forebay_dispatchers', 1), ('forebay_may_dispatch', 1),
        ('forebay_sweep_age_seconds', 0) $$,
    'and who claims and sweeps'
);
select results_eq(
    $$ select labels ->> 'version', value from forebay.monitoring() where metric = 'forebay_schema_info' $$,
    $$ select forebay.schema_version(), 1::double precision $$,
    'and which release it is'
);
select at_time('90 s');
select given($$
    select forebay.dequeue('w', '{a}', 1); select forebay.fail(103, '{"kind": "rate_limited"}'); select forebay.sweep();
    select forebay.pause_agent('a')
$$);
select at_time('100 s');
select results_eq(
    $$ select what, value from told
       where what in ('forebay_oldest_waiting_seconds', 'forebay_paused', 'forebay_refusals_last_hour',
           'forebay_lost_leases_last_hour', 'forebay_expired_leases')
       order by what collate "C" $$,
    $$ values ('forebay_expired_leases', 0::double precision), ('forebay_lost_leases_last_hour', 2),
        ('forebay_oldest_waiting_seconds', 100), ('forebay_paused', 1), ('forebay_refusals_last_hour', 1) $$,
    'it tells of refusals, lost leases and pauses'
);
select is_empty($$ select metric from forebay.monitoring() where help is null or labels is null $$, 'each has its words');
select is_empty(
    $$ select words.metric from forebay._gauge_words() as words except select metric from forebay.monitoring() $$,
    'and each that has words is told'
);
select is_empty(
    $$ select metric, labels from forebay.monitoring() group by metric, labels having count(*) > 1 $$, 'once'
);
select only_callable_by('{viewer}', $$ select forebay.monitoring() $$);
select finish();
rollback;
