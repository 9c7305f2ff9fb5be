-- register_agent: the whole definition, each part of it in its range.
begin;
select plan(41);
select stop_clock();
set local role forebay_operator;
select lives_ok(
    $$ select forebay.register_agent('a', p_max_tpm => 100, p_reason => 'new', p_actor => 'ann') $$,
    'a name is enough'
);
set local role forebay_owner;
select results_eq(
    $$ select launcher, tpm_burst, lease, timeout, max_attempts, max_releases, backoff_base, backoff_max, on_lost_lease,
        late_results, default_estimated_tokens, retention, max_waiting, aging, reserve_after, is_fair_by_customer,
        max_usd_per_day, max_deferrals, max_deferral_time, quotas from forebay.agents $$,
    $$ values ('pull', 0.8, '60 s'::interval, '1 hour'::interval, 3, 20, '5 s'::interval, '1 hour'::interval, 'retry',
        'accept', 2000::bigint, '90 days'::interval, null::integer, null::interval, '60 s'::interval, false,
        null::numeric, 100, '24 hours'::interval, '{}'::text[]) $$,
    'what is left out takes its default'
);
select results_eq(
    $$ select actor, reason from forebay.audit_log $$, $$ values ('ann', 'new') $$, 'the log says who and why'
);
select given($$ select forebay.pause_agent('a'); select forebay.register_agent('a') $$);
select results_eq(
    $$ select max_tpm, paused_until from forebay.agents $$,
    $$ values (null::bigint, 'infinity'::timestamptz) $$,
    'also when it is defined anew; a pause stays'
);
select throws_ok($$ select forebay.register_agent(null) $$, '22023', null, 'a name is given');
select throws_ok($$ select forebay.register_agent('') $$, '22023', null, 'not empty');
select throws_ok($$ select forebay.register_agent(repeat('a', 201)) $$, '22023', null, 'nor over-long');
select throws_ok($$ select forebay.register_agent('a', 'rocket') $$, '22023', null, 'a launcher is known');
select throws_ok($$ select forebay.register_agent('a', 'local') $$, '22023', null, 'launcher local has an entry point');
select throws_ok(
    $$ select forebay.register_agent('a', p_max_concurrent_tasks => -1) $$,
    '22023',
    null,
    'no negative slots'
);
select throws_ok($$ select forebay.register_agent('a', p_max_tpm => -1) $$, '22023', null, 'no negative tokens');
select throws_ok($$ select forebay.register_agent('a', p_max_rpm => -1) $$, '22023', null, 'no negative claims');
select throws_ok($$ select forebay.register_agent('a', p_tpm_burst => 0) $$, '22023', null, 'a burst');
select throws_ok($$ select forebay.register_agent('a', p_lease => '0') $$, '22023', null, 'a lease');
select throws_ok($$ select forebay.register_agent('a', p_timeout => '-1 s') $$, '22023', null, 'a timeout');
select throws_ok($$ select forebay.register_agent('a', p_backoff_base => '0') $$, '22023', null, 'a backoff');
select throws_ok($$ select forebay.register_agent('a', p_backoff_max => '1 s') $$, '22023', null, 'a maximum of it');
select throws_ok($$ select forebay.register_agent('a', p_max_attempts => 0) $$, '22023', null, 'one attempt');
select throws_ok($$ select forebay.register_agent('a', p_max_releases => -1) $$, '22023', null, 'releases');
select throws_ok($$ select forebay.register_agent('a', p_on_lost_lease => 'x') $$, '22023', null, 'on_lost_lease');
select throws_ok($$ select forebay.register_agent('a', p_late_results => 'x') $$, '22023', null, 'late_results');
select throws_ok(
    $$ select forebay.register_agent('a', p_default_estimated_tokens => -1) $$,
    '22023',
    null,
    'an estimate'
);
select throws_ok($$ select forebay.register_agent('a', p_retention => null) $$, '22023', null, 'a retention');
select throws_ok($$ select forebay.register_agent('a', p_max_waiting => -1) $$, '22023', null, 'no negative line');
select throws_ok($$ select forebay.register_agent('a', p_aging => '0') $$, '22023', null, 'ages in some time');
select throws_ok($$ select forebay.register_agent('a', p_reserve_after => '-1 s') $$, '22023', null, 'no time before');
select throws_ok($$ select forebay.register_agent('a', p_reserve_after => null) $$, '22023', null, 'a time');
select throws_ok($$ select forebay.register_agent('a', p_fair_by_customer => null) $$, '22023', null, 'fair or not');
select throws_ok($$ select forebay.register_agent('a', p_max_usd_per_day => -1) $$, '22023', null, 'no negative money');
select throws_ok($$ select forebay.register_agent('a', p_max_usd_per_day => 'NaN') $$, '22023', null, 'a number');
select throws_ok($$ select forebay.register_agent('a', p_max_deferrals => -1) $$, '22023', null, 'deferrals');
select throws_ok($$ select forebay.register_agent('a', p_max_deferral_time => '0') $$, '22023', null, 'a time for them');
select throws_ok($$ select forebay.register_agent('a', p_quotas => null) $$, '22023', null, 'quotas are not null');
select throws_ok($$ select forebay.register_agent('a', p_quotas => '{null}') $$, '22023', null, 'nor is one of them');
select throws_ok($$ select forebay.register_agent('a', p_quotas => '{q}') $$, 'QF305', null, 'a quota is registered');
select is_empty($$ select 1 from forebay.agents where max_waiting is not null or quotas <> '{}' $$, 'nothing was written');

-- All of the new definition is kept, and shown in the log.
select given($$
    select forebay.register_quota('p', '[]'), forebay.register_quota('q', '[]');
    select forebay.register_agent(
        'b', p_max_waiting => 9, p_aging => '1 day', p_reserve_after => '0', p_fair_by_customer => true,
        p_max_usd_per_day => 1.5, p_max_deferrals => 0, p_max_deferral_time => '1 month', p_quotas => '{q, p, q}'
    )
$$);
select results_eq(
    $$ select max_waiting, aging, reserve_after, is_fair_by_customer, max_usd_per_day, max_deferrals, max_deferral_time,
        quotas from forebay.agents where agent = 'b' $$,
    $$ values (9, '24:00'::interval, '0'::interval, true, 1.5, 0, '720:00'::interval, '{p,q}'::text[]) $$,
    'each part is kept, times in seconds and quotas by name'
);

-- Customers in turns: what waits and runs is found by its customer.
select given($$
    select forebay.register_agent('turns');
    select forebay.enqueue('turns', '{}') from generate_series(1, 3);
    select forebay.complete(attempt_id, '{}') from forebay.dequeue('w', '{turns}');
    select forebay.dequeue('w', '{turns}');
    select forebay.register_agent('turns', p_fair_by_customer => true)
$$);
select results_eq(
    $$ select status, is_shared from forebay.tasks where agent = 'turns' order by task_id $$,
    $$ values ('completed', false), ('processing', true), ('enqueued', true) $$,
    'fair share begins with the tasks that are there'
);
select given($$ select forebay.enqueue('turns', '{}') $$);
select results_eq(
    $$ select bool_and(is_shared) from forebay.tasks where agent = 'turns' and status = 'enqueued' $$,
    array[true],
    'and goes on with those that come'
);
select given($$
    select forebay.reprocess(array(select task_id from forebay.tasks where agent = 'turns' and status = 'completed'))
$$);
select results_eq(
    $$ select is_shared from forebay.tasks where reprocess_of is not null $$, array[true], 'or are reprocessed'
);
set local role forebay_operator;
select only_callable_by('{operator}', $$ select forebay.register_agent('a') $$);
select finish();
rollback;
