-- reprioritize: a task that has not ended takes another priority.
begin;
select plan(5);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}', 9), forebay.enqueue('a', '{}', 8), forebay.enqueue('a', '{}', 10);
    select forebay.cancel('{1}')
$$);
set local role forebay_operator;
select results_eq(
    $$ select * from forebay.reprioritize('{1, 2, 3, 999}', 10) $$,
    $$ values (1::bigint, 'cancelled', 'none'), (2, 'enqueued', 'reprioritized'), (3, 'enqueued', 'none'),
        (999, null, 'unknown') $$,
    'one row a distinct id'
);
set local role forebay_owner;
select results_eq($$ select task_id from forebay.dequeue('w') $$, array[2]::bigint[], 'and the line follows it');
select throws_ok($$ select forebay.reprioritize(null, 1) $$, '22023', null, 'ids are given');
select throws_ok($$ select forebay.reprioritize('{2}', null) $$, '22023', null, 'a priority is given');
select only_callable_by('{operator}', $$ select forebay.reprioritize('{2}', 1) $$);
select finish();
rollback;
