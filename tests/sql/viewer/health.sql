-- health: whether the machinery turns.
begin;
select plan(7);
select stop_clock();
set local application_name = 'forebay listener';
set local role forebay_viewer;
select results_eq(
    $$ select dispatchers, last_claim_at, last_sweep_at, oldest_waiting_at, expired_leases from forebay.health() $$,
    $$ values ('[]'::jsonb, null::timestamptz, null::timestamptz, null::timestamptz, 0::bigint) $$,
    'at first nothing turns'
);
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_lease => '1 min');
    select forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}', p_run_after => noon('1 hour'));
    select forebay.dequeue('claimer')
$$);
select at_time('10 s');
select given($$ select forebay.enqueue('a', '{}'), forebay.sweep(p_worker => 'sweeper') $$);
select at_time('1 min');
set local role forebay_viewer;
select results_eq(
    $$ select
        jsonb_path_query_array(dispatchers, '$[*].worker'), last_claim_at, last_sweep_at, oldest_waiting_at,
        expired_leases
    from forebay.health() $$,
    $$ values ('["sweeper", "claimer"]'::jsonb, noon(), noon('10 s'), noon('10 s'), 1::bigint) $$,
    'then it knows who claims and sweeps, what waits and what was left alone'
);
select results_eq(
    $$ select
        schema_version = forebay.schema_version(), installation_id is not null, is_branch, may_dispatch, listeners,
        oldest_transaction_at, notify_queue_usage between 0 and 1, oldest_transaction_of, connections > 0,
        max_connections = current_setting('max_connections')::integer, database_bytes > 0,
        server_version = current_setting('server_version'), as_of
    from forebay.health() $$,
    $$ values (true, true, false, true, 1, null::timestamptz, true, null, true, true, true, true, noon('1 min')) $$,
    'it knows the database: who listens, and that nobody holds it back'
);
set local role forebay_owner;
select given($$
    select forebay.cancel('{3}');
    select forebay.register_agent('b');
    select forebay.enqueue('b', '{}')
$$);
select at_time('1 day');
select given($$ select forebay.retry('{3}') $$);
set local role forebay_viewer;
select is(
    (select oldest_waiting_at from forebay.health()), noon('1 min'), 'of all agents the task that could start first counts'
);
set local role forebay_owner;
select given($$ select forebay.cancel('{4}') $$);
set local role forebay_viewer;
select is(
    (select oldest_waiting_at from forebay.health()), noon('1 hour'), 'since it could start, not since it was created'
);
set local role forebay_owner;
select given($$ update forebay.installation set is_branch = true $$);
select results_eq(
    $$ select is_branch, may_dispatch from forebay.health() $$, $$ values (true, false) $$, 'a branch does not dispatch'
);
select only_callable_by('{viewer}', $$ select forebay.health() $$);
select finish();
rollback;
