-- annotate: a note on tasks, in the audit log.
begin;
select plan(9);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}');
    select forebay.cancel('{1}')
$$);
set local role forebay_operator;
select results_eq(
    $$ select * from forebay.annotate('{2, 1, 2, 999, null}', ' asked ann ', 'a call', 'bob') $$,
    $$ values (1::bigint, 'cancelled', 'annotated'), (2, 'enqueued', 'annotated'), (999, null, 'unknown') $$,
    'one row a distinct id, also of a task that ended'
);
select is_empty($$ select * from forebay.annotate('{}', 'nobody') $$, 'without ids it does nothing');
set local role forebay_owner;
select results_eq(
    $$ select task_id, action, actor, reason, details from forebay.audit_log where action = 'annotate' order by task_id $$,
    $$ values (1::bigint, 'annotate', 'bob', 'a call', '{"note": "asked ann"}'::jsonb),
        (2, 'annotate', 'bob', 'a call', '{"note": "asked ann"}') $$,
    'it is told with who wrote it and why, an unknown task is not'
);
set local role forebay_operator;
select throws_ok($$ select forebay.annotate(null, 'x') $$, '22023', null, 'ids are given');
select throws_ok($$ select forebay.annotate('{1}', null) $$, '22023', null, 'a note is given');
select throws_ok($$ select forebay.annotate('{1}', '  ') $$, '22023', null, 'a note says something');
select throws_ok($$ select forebay.annotate('{1}', repeat('x', 2001)) $$, '22023', null, 'a note is no book');
select lives_ok($$ select forebay.annotate('{1}', repeat('x', 2000)) $$, '2,000 characters are allowed');
select only_callable_by('{operator}', $$ select forebay.annotate('{1}', 'x') $$);
select finish();
rollback;
