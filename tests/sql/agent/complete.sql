-- complete: the attempt's success is the task's; a result that is no good is refused whole.
begin;
select plan(14);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 3);
    select forebay.dequeue('w', p_batch_size => 3)
$$);
set local role forebay_agent;
select is(forebay.complete(101, '{"pages": 3}', 0.9), 'completed', 'an attempt reports its result');
set local role forebay_owner;
select results_eq(
    $$ select status, result, confidence, finished_at, attempt_id, locked_by from forebay.tasks where task_id = 1 $$,
    $$ values ('completed', '{"pages": 3}'::jsonb, 0.9, noon(), null::bigint, null::text) $$,
    'and the task has it'
);
select is(forebay.complete(101, '{"pages": 3}', 0.9), 'completed', 'the same report again has the same effect');
select is(forebay.complete(102, null), 'completed', 'a task may have no result');
select throws_ok($$ select forebay.complete(103, '{}', 1.1) $$, '22023', null, 'a confidence is 1 at most');
select throws_ok($$ select forebay.complete(103, '{}', -0.1) $$, '22023', null, 'and not negative');
select throws_ok($$ select forebay.complete(103, '{}', 'NaN') $$, '22023', null, 'and a number');
select throws_ok(
    $$ select forebay.complete(103, to_jsonb(repeat('x', 1048576))) $$, 'QF402', null, 'a result is not above 1 MiB'
);
select throws_ok(
    $$ select forebay.complete(103, '{"pages": [{"width": -1e309}]}') $$, '22023', null, 'none of its numbers is vast'
);
select results_eq(
    $$ select status from forebay.tasks where task_id = 3 $$, array['processing'], 'nothing is half-done'
);
select given($$ update forebay.installation set max_result_bytes = 10 $$);
select throws_ok($$ select forebay.complete(103, '"123456789"') $$, 'QF402', null, 'which is a setting');
select throws_ok($$ select forebay.complete(null, '{}') $$, '22023', null, 'an attempt is given');
select throws_ok($$ select forebay.complete(999, '{}') $$, 'QF304', null, 'an unknown attempt is refused');
select only_callable_by('{agent}', $$ select forebay.complete(103, '{}') $$);
select finish();
rollback;
