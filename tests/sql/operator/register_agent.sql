-- register_agent: the whole definition, each part of it in its range.
begin;
select plan(23);
select stop_clock();
set local role forebay_operator;
select lives_ok(
    $$ select forebay.register_agent('a', p_max_tpm => 100, p_reason => 'new', p_actor => 'ann') $$,
    'a name is enough'
);
set local role forebay_owner;
select results_eq(
    $$ select launcher, tpm_burst, lease, timeout, max_attempts, max_releases, backoff_base, backoff_max, on_lost_lease,
        late_results, default_estimated_tokens, retention from forebay.agents $$,
    $$ values ('pull', 0.8, '60 s'::interval, '1 hour'::interval, 3, 20, '5 s'::interval, '1 hour'::interval, 'retry',
        'accept', 2000::bigint, '90 days'::interval) $$,
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
select only_callable_by('{operator}', $$ select forebay.register_agent('a') $$);
select finish();
rollback;
