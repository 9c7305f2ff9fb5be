-- shared_costs: what no run has to itself is shown, and in no figure of a task.
begin;
select plan(6);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.record_compute_usage('[
        {"record_id": "1", "usd": 2, "product": "SQL", "started_at": "2026-01-01T00:00:00Z", "ended_at": "2026-01-02T00:00:00Z"},
        {"record_id": "2", "usd": -0.5, "product": "SQL", "is_final": false, "started_at": "2026-01-02T00:00:00Z",
            "ended_at": "2026-01-03T00:00:00Z"},
        {"record_id": "3", "usd": 9, "product": "APPS", "started_at": "2026-01-02T00:00:00Z"},
        {"record_id": "4", "usd": 7}]', 'billing')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select * from forebay.shared_costs() $$,
    $$ values ('billing', 'APPS', 9::numeric, true, timestamptz '2026-01-02T00:00:00Z', null::timestamptz, noon()),
        ('billing', 'SQL', 1.5, false, '2026-01-01T00:00:00Z', '2026-01-03T00:00:00Z', noon()) $$,
    'by product, the dearest first, with when that was read'
);
select results_eq(
    $$ select product, usd from forebay.shared_costs('2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z') $$,
    $$ values ('SQL', 2::numeric) $$,
    'of a range'
);
set local role forebay_owner;
select given($$
    select forebay.record_compute_usage('[{"record_id": "5", "usd": null, "product": "APPS", "started_at": "2026-01-01T00:00:00Z"}]',
        'billing')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select product, usd, is_final from forebay.shared_costs() $$,
    $$ values ('SQL', 1.5, false), ('APPS', null::numeric, false) $$,
    'what has a part without a price is unknown, and comes last'
);
select is_empty($$ select * from forebay.shared_costs(noon('9 days')) $$, 'which may be empty');
select results_eq(
    $$ select compute_usd, costed_attempts from forebay.metrics() $$, $$ values (0::numeric, 0::bigint) $$, 'it is no task''s'
);
select only_callable_by('{viewer}', $$ select forebay.shared_costs() $$);
select finish();
rollback;
