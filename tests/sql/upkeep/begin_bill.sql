-- begin_bill: what came since a bill was read last is read again, with an overlap, and nothing before the first run.
begin;
select plan(12);
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
    $$ select day, began_at, settled_until from forebay.begin_bill() $$,
    $$ values (null::date, noon(), noon('-24 h')) $$,
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
select given($$ select forebay.record_compute_usage('[]', 'billing', noon('80 days')) $$);
select results_eq(
    $$ select day from forebay.begin_bill() $$, array[date '2026-03-19'], 'then from the last reading on, and the overlap before'
);
select results_eq(
    $$ select day from forebay.begin_bill(p_overlap => '10 days') $$, array[date '2026-03-12'], 'which may be longer'
);
select results_eq(
    $$ select day from forebay.begin_bill('other') $$, array[date '2025-12-29'], 'each source has its own'
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
