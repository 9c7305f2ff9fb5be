-- act_on_matching: one act to all tasks that the filters let through, if they are as many as was confirmed.
begin;
select plan(26);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_attempts => 1), forebay.register_agent('b');
    select forebay.open_batch('march invoices', 'acme', 'ann');
    select forebay.enqueue('a', '{}', 9), forebay.enqueue('a', '{}', 8), forebay.enqueue('b', '{}', p_customer => 'c'),
        forebay.enqueue('b', '{}', p_batch_id => 11);
    select forebay.dequeue('w', '{a}', 2);
    select forebay.complete(101, '{}', 0.4), forebay.fail(102, '{"kind": "bad_input"}')
$$);
set local role forebay_operator;
select throws_matching(
    $$ select forebay.act_on_matching('cancel', 1, p_statuses => '{enqueued}') $$, '2 tasks match now, not 1',
    'another count is refused, with both numbers'
);
select throws_ok(
    $$ select forebay.act_on_matching('cancel', 3, p_statuses => '{enqueued}') $$, 'QF204', null, 'fewer are refused too'
);
select results_eq(
    $$ select * from forebay.act_on_matching('annotate', 4, p_note => 'all') $$,
    $$ values ('annotated', 4::bigint) $$,
    'without a filter it acts on every task'
);
select results_eq(
    $$ select * from forebay.act_on_matching('reprioritize', 2, p_agents => '{b}', p_priority => 5) $$,
    $$ values ('reprioritized', 2::bigint) $$,
    'it reprioritizes'
);
select results_eq(
    $$ select * from forebay.act_on_matching('reprioritize', 4, p_priority => 5) $$,
    $$ values ('none', 4::bigint) $$,
    'and says of how many tasks nothing changed'
);
select results_eq(
    $$ select * from forebay.act_on_matching('retry', 1, p_statuses => '{failed}', p_reason => 'mended', p_actor => 'bob') $$,
    $$ values ('retried', 1::bigint) $$,
    'it retries'
);
select results_eq(
    $$ select * from forebay.act_on_matching('reprocess', 1, p_max_confidence => 0.4) $$,
    $$ values ('reprocessed', 1::bigint) $$,
    'it reprocesses'
);
select results_eq(
    $$ select * from forebay.act_on_matching('cancel', 1, p_search => 'march') $$,
    $$ values ('cancelled', 1::bigint) $$,
    'it cancels what a search finds'
);
select results_eq(
    $$ select * from forebay.act_on_matching('cancel', 1, p_batch_id => 11) $$,
    $$ values ('none', 1::bigint) $$,
    'and what a batch holds'
);
select results_eq(
    $$ select * from forebay.act_on_matching('cancel', 1, p_customers => '{c}') $$,
    $$ values ('cancelled', 1::bigint) $$,
    'and what a customer has'
);
select is_empty(
    $$ select * from forebay.act_on_matching('cancel', 0, p_from => noon('1 s')) $$, 'none of none is nothing'
);
select is_empty($$ select * from forebay.act_on_matching('cancel', 0, p_to => noon()) $$, 'at either end of a range');
set local role forebay_owner;
select results_eq(
    $$ select task_id, status, priority::integer, reprocess_of from forebay.tasks order by task_id $$,
    $$ values (1::bigint, 'completed', 9, null::bigint), (2, 'enqueued', 8, null), (3, 'cancelled', 5, null),
        (4, 'cancelled', 5, null), (5, 'enqueued', 10, 1) $$,
    'each did what the act of that name does'
);
select results_eq(
    $$ select action, count(*), max(reason), max(actor) from forebay.audit_log where task_id is not null
       group by action order by action $$,
    $$ values ('annotate', 4::bigint, null, null), ('cancel', 2, null, null), ('reprioritize', 2, null, null),
        ('reprocess', 1, null, null), ('retry', 1, 'mended', 'bob') $$,
    'and each task that changed is told of, with who and why'
);
select given($$ update forebay.installation set max_batch_size = 4 $$);
set local role forebay_operator;
select throws_ok(
    $$ select forebay.act_on_matching('cancel', 5) $$, 'QF404', null, 'too many are refused, however many were confirmed'
);
select throws_ok($$ select forebay.act_on_matching('cancel', 4) $$, 'QF404', null, 'also when too few were');
select throws_ok($$ select forebay.act_on_matching('explode', 1, p_statuses => '{completed}') $$, '22023', null, 'an act is one of five');
select throws_ok($$ select forebay.act_on_matching(null, 1, p_statuses => '{completed}') $$, '22023', null, 'an act is given');
select throws_ok($$ select forebay.act_on_matching('cancel', null) $$, '22023', null, 'a count is given');
select throws_ok(
    $$ select forebay.act_on_matching('annotate', 1, p_statuses => '{completed}') $$, '22023', null, 'a note needs words'
);
select throws_ok(
    $$ select forebay.act_on_matching('reprioritize', 1, p_statuses => '{completed}') $$, '22023', null,
    'a priority is given'
);
select throws_ok(
    $$ select forebay.act_on_matching('cancel', 0, p_statuses => '{done}') $$, '22023', null, 'a status is one of five'
);
select throws_ok(
    $$ select forebay.act_on_matching('cancel', 0, p_max_confidence => 2) $$, '22023', null, 'a confidence is at most 1'
);
select throws_ok($$ select forebay.act_on_matching('cancel', 0, p_agents => '{z}') $$, 'QF301', null, 'the agent exists');
select throws_ok($$ select forebay.act_on_matching('cancel', 0, p_batch_id => 99) $$, 'QF302', null, 'the batch exists');
select only_callable_by('{operator}', $$ select forebay.act_on_matching('cancel', 0) $$);
select finish();
rollback;
