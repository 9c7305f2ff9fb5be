-- schema_version: every caller may ask it.
begin;
select plan(1);
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
select only_callable_by(
    '{submitter, worker, agent, operator, viewer, reader, upkeep}', $$ select forebay.schema_version() $$
);
select finish();
rollback;
