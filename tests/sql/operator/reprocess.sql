-- reprocess: a finished task is done again as a new one, and the old result stays.
begin;
select plan(7);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b');
    select forebay.enqueue('a', '{"n": 1}', p_customer => 'acme'), forebay.enqueue('a', '{}');
    select forebay.dequeue('w');
    select forebay.complete(101, '1')
$$);
set local role forebay_operator;
select results_eq(
    $$ select * from forebay.reprocess('{1, 2, 999}', 'b') $$,
    $$ values (1::bigint, 'completed', 'reprocessed', 3::bigint), (2, 'enqueued', 'none', null),
        (999, null, 'unknown', null) $$,
    'one row a distinct id, with the new task'
);
set local role forebay_owner;
select results_eq(
    $$ select agent, status, payload, priority, customer, result, reprocess_of from forebay.tasks where task_id <> 2
    order by task_id $$,
    $$ values ('a', 'completed', '{"n": 1}'::jsonb, 0::smallint, 'acme', '1'::jsonb, null::bigint),
        ('b', 'enqueued', '{"n": 1}', 10::smallint, 'acme', null, 1) $$,
    'the new one is linked, and the old result stays'
);
select throws_ok($$ select forebay.reprocess(null) $$, '22023', null, 'ids are given');
select throws_ok($$ select forebay.reprocess('{1}', p_priority => null) $$, '22023', null, 'a priority is given');
select throws_ok($$ select forebay.reprocess('{1}', p_priority => 40000) $$, '22023', null, 'and a smallint');
select throws_ok($$ select forebay.reprocess('{1}', 'nobody') $$, 'QF301', null, 'the agent must be registered');
select only_callable_by('{operator}', $$ select forebay.reprocess('{1}') $$);
select finish();
rollback;
