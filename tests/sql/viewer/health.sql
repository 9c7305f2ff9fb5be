-- health: whether the machinery turns.
begin;
select plan(2);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_concurrent_tasks => 1), forebay.register_agent('b', p_max_tpm => 6000);
    select forebay.enqueue('a', '{"secret": 1}', 9), forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}');
    select forebay.enqueue('b', '{}', p_estimated_tokens => 4000), forebay.enqueue('b', '{}',
        p_estimated_tokens => 2000);
    select forebay.enqueue('a', '{}', p_run_after => noon('1 hour'))
$$);
set local role forebay_viewer;
set local role forebay_owner;
select given($$ select forebay.dequeue('w', '{a}'), forebay.dequeue('w', '{b}') $$);
select given($$ select forebay.pause_agent('b', noon('1 hour')) $$);
select given($$ select forebay.complete(101, '"secret"') $$);
select results_eq(
    $$ select last_claim_at, may_dispatch, schema_version = forebay.schema_version() from forebay.health() $$,
    $$ values (noon(), true, true) $$,
    'health knows the last claim'
);
select only_callable_by('{viewer}', $$ select forebay.health() $$);
select finish();
rollback;
