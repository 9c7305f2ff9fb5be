-- task_result: the one function that shows documents and results.
begin;
select plan(4);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{"n": 1}');
    select forebay.dequeue('w');
    select forebay.complete(101, '1', 0.5), forebay.complete(101, '2')
$$);
set local role forebay_reader;
select results_eq(
    $$ select status, payload, result, confidence, kept_results from forebay.task_result(1) $$,
    $$ values ('completed', '{"n": 1}'::jsonb, '1'::jsonb, 0.5,
        '[{"attempt_id": 101, "result": 2, "confidence": null}]'::jsonb) $$,
    'with the results that were kept'
);
select throws_ok($$ select forebay.task_result(999) $$, 'QF303', null, 'an unknown task');
select throws_ok($$ select forebay.task_result(null) $$, '22023', null, 'a task is given');
select only_callable_by('{reader}', $$ select forebay.task_result(1) $$);
select finish();
rollback;
