-- record_bill: a reading records, and withdraws, unless a later one has recorded.
begin;
select plan(16);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}');
    select forebay.dequeue('w');
    select forebay.complete(101, '{}')
$$);
create temporary view recorded as
select
    u.record_id,
    u.usd
from forebay.compute_usage as u
where u.source = 'billing'
order by u.record_id;
set local role forebay_upkeep;
select is(
    forebay.record_bill('[
        {"record_id": "1", "attempt_id": 101, "usd": 5},
        {"record_id": "2", "usd": 1, "product": "SQL", "started_at": "2026-01-01T00:00:00Z"},
        {"record_id": "3", "usd": 2, "product": "APPS", "started_at": "2026-01-01T00:00:00Z"},
        {"record_id": "4", "usd": 3, "product": "APPS", "started_at": "2026-01-02T00:00:00Z"}]', noon()),
    4,
    'what a reading tells is recorded'
);
set local role forebay_owner;
select results_eq(
    $$ select compute_usd, costed_attempts from forebay.tasks $$, $$ values (5::numeric, 1) $$, 'and counts'
);
select results_eq(
    $$ select as_of, read_at from forebay.compute_sources $$, $$ values (null::timestamptz, noon()) $$,
    'nothing is read to its end before end_bill says so'
);
set local role forebay_upkeep;
select is(
    forebay.record_bill(
        '[{"record_id": "2", "usd": 1, "product": "SQL", "started_at": "2026-01-01T00:00:00Z"}]', noon(), p_shared_day => '2026-01-01'
    ),
    1,
    'what a day had beside it is withdrawn'
);
set local role forebay_owner;
select results_eq($$ select * from recorded $$, $$ values ('1', 5::numeric), ('2', 1), ('4', 3) $$, 'what was shared on other days, and runs, stay');
set local role forebay_upkeep;
select is(
    forebay.record_bill('[{"record_id": "2", "usd": 1, "product": "SQL", "started_at": "2026-01-01T00:00:00Z"}]', noon(),
        p_shared_day => '2026-01-01'),
    0,
    'once'
);
select is(forebay.record_bill('[]', noon(), p_shared_day => '2026-01-01'), 1, 'a day may have had nothing');
select at_time('1 h');
select is(forebay.record_bill('[{"record_id": "1", "attempt_id": 101, "usd": 9}]', noon('1 s')), 1, 'a later reading records');
select throws_ok(
    $$ select forebay.record_bill('[{"record_id": "1", "attempt_id": 101, "usd": 5}]', noon()) $$, 'QF206',
    'this bill has been read since by somebody else', 'then an earlier one does not any more'
);
select is(forebay.record_bill('[]', noon(), 'other'), 0, 'of another source it does');
set local role forebay_owner;
update forebay.compute_sources set read_at = noon('9 years') where source = 'billing';
set local role forebay_upkeep;
select is(forebay.record_bill('[]', noon('2 s')), 0, 'a reading in a time to come holds nobody up');
select throws_ok($$ select forebay.record_bill('[]', null) $$, '22023', null, 'a reading began at a time');
select throws_ok($$ select forebay.record_bill('[]', noon(), null) $$, '22023', null, 'a source has a name');
select throws_ok($$ select forebay.record_bill(null, noon('3 s')) $$, '22023', null, 'p_rows is not null');
select throws_like(
    $$ select forebay.record_bill('[{"usd": 1}]', noon('3 s')) $$, 'record 1: "record_id" and "usd" are required',
    'a bad record is named'
);
select only_callable_by('{upkeep}', $$ select forebay.record_bill('[]', now()) $$);
select finish();
rollback;
