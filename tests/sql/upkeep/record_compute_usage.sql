-- record_compute_usage: a record counts once, and the same record again replaces its numbers.
begin;
select plan(41);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 2);
    select forebay.dequeue('w', p_batch_size => 2);
    select forebay.complete(101, '{}'), forebay.complete(102, '{}')
$$);
create temporary view told as
select
    t.compute_usd,
    t.costed_attempts,
    t.provisional_attempts
from forebay.tasks as t
order by t.task_id;
set local role forebay_upkeep;
select is(
    forebay.record_compute_usage(
        '[{"record_id": "1", "attempt_id": "101", "usd": "0.5", "seconds": 60, "is_final": false,
            "started_at": "2026-01-01T12:00:00Z", "ended_at": "2026-01-01T12:01:00Z", "x": 1},
        {"record_id": "2", "attempt_id": 101, "usd": 0.25}]',
        'bill', noon('-1 h')
    ),
    2,
    'two records are new'
);
set local role forebay_owner;
select results_eq(
    $$ select * from told $$,
    $$ values (0.75, 1, 1), (0::numeric, 0, 0) $$,
    'they are added up, and provisional while one of them is'
);
set local role forebay_upkeep;
select is(
    forebay.record_compute_usage('[{"record_id": "2", "attempt_id": 101, "usd": 0.250}]', 'bill'), 0, 'a reload changes nothing'
);
select is(
    forebay.record_compute_usage('[{"record_id": "1", "attempt_id": 101, "usd": 0.4}]', 'bill'), 1, 'another number replaces it'
);
set local role forebay_owner;
select results_eq($$ select * from told $$, $$ values (0.65, 1, 0), (0::numeric, 0, 0) $$, 'and may make it final');
set local role forebay_upkeep;
select is(
    forebay.record_compute_usage('[{"record_id": "1", "attempt_id": 102, "usd": 0.4}]', 'bill'), 1, 'another attempt too'
);
set local role forebay_owner;
select results_eq($$ select * from told $$, $$ values (0.25, 1, 0), (0.4, 1, 0) $$, 'which takes it from the first');
set local role forebay_upkeep;
select is(
    forebay.record_compute_usage('[{"record_id": "1", "attempt_id": 102, "usd": 9}, {"record_id": "3", "attempt_id": 101, "usd": 9}]'),
    2,
    'the local estimate is recorded'
);
set local role forebay_owner;
select results_eq(
    $$ select * from told $$, $$ values (0.25, 1, 0), (0.4, 1, 0) $$, 'and gives way to what another source says'
);
set local role forebay_upkeep;
select is(
    forebay.record_compute_usage('[{"record_id": "1", "usd": 1}, {"record_id": "9", "attempt_id": 999, "usd": 1}]', 'bill'),
    2,
    'a record may belong to nothing that is known'
);
set local role forebay_owner;
select results_eq(
    $$ select source, record_id, attempt_id from forebay.compute_usage where usd = 1 order by record_id $$,
    $$ values ('bill', '1', null::bigint), ('bill', '9', null) $$,
    'and is kept all the same'
);
select results_eq($$ select * from told $$, $$ values (0.25, 1, 0), (9::numeric, 1, 0) $$, 'then the estimate counts again');
select results_eq(
    $$ select source, as_of from forebay.compute_sources order by source $$,
    $$ values ('bill', noon()), ('local', noon()) $$,
    'each source has been read as of a time, which does not go back'
);
set local role forebay_upkeep;
select is(forebay.record_compute_usage('[]', 'bill', noon('9 years')), 0, 'a source may be read without a record');
set local role forebay_owner;
select results_eq(
    $$ select as_of from forebay.compute_sources where source = 'bill' $$,
    $$ values (noon()) $$,
    'a time to come is taken for now'
);
update forebay.compute_sources set as_of = noon('9 years') where source = 'bill';
set local role forebay_upkeep;
select is(forebay.record_compute_usage('[]', 'bill', noon('-1 h')), 0, 'an older reading changes nothing');
set local role forebay_owner;
select results_eq(
    $$ select as_of from forebay.compute_sources where source = 'bill' $$,
    $$ values (noon()) $$,
    'but that a time to come does not stay'
);
set local role forebay_upkeep;
select is(forebay.record_compute_usage('[]', 'empty'), 0, 'no record is nothing');
select throws_ok($$ select forebay.record_compute_usage(null) $$, '22023', null, 'p_rows is not null');
select throws_ok($$ select forebay.record_compute_usage('{}') $$, '22023', null, 'it is an array');
select throws_ok($$ select forebay.record_compute_usage('[]', '') $$, '22023', null, 'a source has a name');
select throws_ok($$ select forebay.record_compute_usage('[]', null) $$, '22023', null, 'which is not null');
select throws_like(
    $$ select forebay.record_compute_usage('[{"record_id": "x", "usd": 1}, {"usd": 1}]') $$,
    'record 2: "record_id" and "usd" are required',
    'a bad record is named'
);
select throws_like(
    $$ select forebay.record_compute_usage('[{"record_id": "x", "usd": -1}]') $$, 'record 1: %negative%', 'no estimate is negative'
);
select throws_like(
    $$ select forebay.record_compute_usage('[{"record_id": "x", "usd": 1}, {"record_id": "x", "usd": 2}]') $$,
    'record 2: it is there twice',
    'nor is a record there twice'
);
select throws_like(
    $$ select forebay.record_compute_usage('[{"record_id": "x", "usd": 1, "seconds": -1}]', 'bill') $$, 'record 1: %negative%',
    'nor are seconds'
);
select throws_like(
    $$ select forebay.record_compute_usage('[{"record_id": "x", "usd": 1, "attempt_id": 101, "product": "SQL"}]', 'bill') $$,
    'record 1: %shared%', 'what is shared is no attempt''s'
);
set local role forebay_owner;
select is_empty($$ select * from forebay.compute_usage where record_id = 'x' $$, 'and nothing is half-done');
set local role forebay_upkeep;
select is(
    forebay.record_compute_usage(
        '[{"record_id": "c", "attempt_id": 101, "usd": "-0.000000000000000001"}, {"record_id": "s", "usd": 3, "product": "SQL"}]',
        'bill'
    ),
    2,
    'a bill may take something back, and tell of what no run has to itself'
);
select is(
    forebay.record_compute_usage('[{"record_id": "s", "usd": 3, "product": "SQL"}]', 'bill'), 0, 'which a reload does not change'
);
select is(
    forebay.record_compute_usage('[{"record_id": "s", "usd": 3, "product": "APPS"}]', 'bill'), 1, 'and another product does'
);
set local role forebay_owner;
select results_eq(
    $$ select compute_usd from told $$, $$ values (0.249999999999999999), (9::numeric) $$, 'to the last digit'
);
set local role forebay_upkeep;
select is(
    forebay.record_compute_usage('[{"record_id": "n", "attempt_id": 101, "usd": null, "is_final": true}]', 'bill'), 1,
    'what was used may have no known price'
);
set local role forebay_owner;
select results_eq(
    $$ select compute_usd, costed_attempts, provisional_attempts from told $$,
    $$ values (0::numeric, 0, 0), (9, 1, 0) $$,
    'then the cost is unknown, and no part of it is told as all'
);
select results_eq(
    $$ select is_final from forebay.compute_usage where record_id = 'n' $$, array[false], 'and may become known'
);
set local role forebay_upkeep;
select is(
    forebay.record_compute_usage('[{"record_id": "n", "attempt_id": 101, "usd": 1}]', 'bill'), 1, 'as soon as a price is'
);
set local role forebay_owner;
select results_eq(
    $$ select compute_usd, costed_attempts from told $$, $$ values (1.249999999999999999, 1), (9, 1) $$, 'all of it counts'
);
set local role forebay_upkeep;
select throws_like(
    $$ select forebay.record_compute_usage('[{"record_id": "x", "usd": null}]') $$, 'record 1: %unknown',
    'no estimate is unknown'
);
select throws_like(
    $$ select forebay.record_compute_usage('[{"record_id": "x", "usd": 1000000000.01}]', 'bill') $$, 'record 1: %10^9',
    'more than a billion is a mistake'
);
select throws_like(
    $$ select forebay.record_compute_usage('[{"record_id": "x", "usd": -1e300}]', 'bill') $$, 'record 1: %10^9', 'and less too'
);
select only_callable_by('{upkeep}', $$ select forebay.record_compute_usage('[]') $$);
select finish();
rollback;
