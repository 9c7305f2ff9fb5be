-- agent_status: what waits and runs, and what the limits leave.
begin;
select plan(3);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b', p_max_concurrent_tasks => 1);
    select forebay.open_batch('upload', 'acme', 'ann');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11), forebay.enqueue('b', '{}',
        p_customer => 'c');
    select forebay.dequeue('w');
    select forebay.complete(101, '1')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select agent, state, waiting, in_use from forebay.agent_status() $$,
    $$ values ('a', 'open', 1::bigint, 0::bigint), ('b', 'open', 1, 0) $$,
    'an agent says what waits'
);
select throws_ok($$ select forebay.agent_status('{nobody}') $$, 'QF301', null, 'so is an agent');
select only_callable_by('{viewer}', $$ select forebay.agent_status() $$);
select finish();
rollback;
