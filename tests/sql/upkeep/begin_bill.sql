-- begin_bill: what came since a bill was read last is read again, with an overlap, and nothing before the first run.
begin;
select plan(16);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('here'), forebay.register_agent('jobs', 'lakeflow', p_job_id => 7);
    select forebay.enqueue('here', '{}'), forebay.enqueue('jobs', '{}');
    select forebay.dequeue('w', '{here}', 1);
    select forebay.dequeue('w', '{jobs}', 1);
    select forebay.record_run(101, 'process 1')
$$);
set local role forebay_upkeep;
select results_eq(
    $$ select * from forebay.begin_bill() $$,
    $$ values (null::date, noon(), noon('-24 h'), '{}'::date[], 10000) $$,
    'without a run outside there is nothing to read'
);
set local role forebay_owner;
select at_time('1 day');
select given($$ select forebay.record_run(102, '42') $$);
select at_time('90 days');
set local role forebay_upkeep;
select results_eq(
    $$ select day, began_at from forebay.begin_bill() $$,
    $$ values (date '2025-12-29', noon('90 days')) $$,
    'at first from the first run on, and the overlap before'
);
select given($$ select forebay.record_bill('[]', noon('79 days')) $$);
select results_eq(
    $$ select day from forebay.begin_bill() $$, array[date '2025-12-29'], 'one that was not read to its end begins there again'
);
select given($$ select forebay.end_bill(noon('80 days')), forebay.record_compute_usage('[]', 'billing', noon('80 days')) $$);
select results_eq(
    $$ select day from forebay.begin_bill() $$, array[date '2026-03-19'], 'then from the last reading on, and the overlap before'
);
select results_eq(
    $$ select day from forebay.begin_bill(p_overlap => '10 days') $$, array[date '2026-03-12'], 'which may be longer'
);
select results_eq(
    $$ select day from forebay.begin_bill('other') $$, array[date '2025-12-29'], 'each source has its own'
);
select results_eq(
    $$ select day from forebay.begin_bill(p_settings => 'with a tag') $$, array[date '2025-12-29'],
    'who reads it in another way reads all of it'
);
select given($$ select forebay.end_bill(noon('81 days'), p_settings => 'with a tag') $$);
select results_eq(
    $$ select day from forebay.begin_bill(p_settings => 'with a tag') $$, array[date '2026-03-20'], 'once'
);
select given($$
    select forebay.end_bill(noon('81 days'));
    select forebay.record_bill('[
        {"record_id": "1", "usd": null, "product": "SQL", "started_at": "2026-01-03T00:00:00Z"},
        {"record_id": "2", "usd": 1, "product": "APPS", "is_final": false, "started_at": "2026-01-02T00:00:00Z"},
        {"record_id": "3", "usd": 1, "product": "APPS", "started_at": "2026-01-04T00:00:00Z"},
        {"record_id": "4", "usd": 1, "is_final": false, "started_at": "2026-01-05T00:00:00Z"}]', noon('81 days'))
$$);
select results_eq(
    $$ select shared_days from forebay.begin_bill() $$, $$ values ('{2026-01-02,2026-01-03}'::date[]) $$,
    'days of which what is shared is not final, or has no price, are read again'
);
set local role forebay_owner;
update forebay.compute_sources set as_of = noon('9 years') where source = 'billing';
set local role forebay_upkeep;
select results_eq(
    $$ select day from forebay.begin_bill() $$, array[date '2026-03-29'], 'a reading in a time to come was one of now'
);
set local role forebay_owner;
update forebay.installation set billing_latency = '2 days';
set local role forebay_upkeep;
select results_eq(
    $$ select settled_until from forebay.begin_bill() $$, array[noon('88 days')], 'what is final says a setting'
);
select throws_ok($$ select forebay.begin_bill('') $$, '22023', null, 'a source has a name');
select throws_ok($$ select forebay.begin_bill(null) $$, '22023', null, 'which is not null');
select throws_ok($$ select forebay.begin_bill(p_overlap => '-1 s') $$, '22023', null, 'no overlap is negative');
select throws_ok($$ select forebay.begin_bill(p_overlap => null) $$, '22023', null, 'or null');
select only_callable_by('{upkeep}', $$ select forebay.begin_bill() $$);
select finish();
rollback;
