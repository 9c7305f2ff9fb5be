-- list_tasks: the newest first, a page at a time, by any of the filters and a search.
begin;
select plan(37);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b', p_max_concurrent_tasks => 1);
    select forebay.open_batch('March 100%', 'Acme', 'ann');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11), forebay.enqueue('b', '{}',
        p_customer => 'c', p_idempotency_key => 'key 3');
    select forebay.dequeue('w', '{a}', 1), forebay.dequeue('w', '{b}', 1);
    select forebay.record_run(101, 'run 7');
    select forebay.report_usage(101, '{"call_id": "1", "input_tokens": 30, "output_tokens": 5, "cached_tokens": 10,
        "cost_usd": 0.25}');
    select forebay.report_progress(102, 2, 5)
$$);
select at_time('10 s');
select given($$ select forebay.complete(101, '1', 0.5); select forebay.enqueue('a', '{}', p_customer => 'acme gmbh') $$);
set local role forebay_viewer;
select results_eq($$ select task_id from forebay.list_tasks() $$, array[4, 3, 2, 1]::bigint[], 'the newest first');
select results_eq(
    $$ select task_id from forebay.list_tasks(p_before_task_id => 4, p_limit => 1) $$,
    array[3]::bigint[],
    'a page at a time'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_before_task_id => 1000) $$, array[4, 3, 2, 1]::bigint[],
    'a page before an id that no task has is that before where it would stand'
);
select is_empty($$ select task_id from forebay.list_tasks(p_before_task_id => 1) $$, 'nothing is before the first');
select is_empty($$ select task_id from forebay.list_tasks(p_before_task_id => 0) $$, 'nor before none');
select results_eq(
    $$ select task_id from forebay.list_tasks(p_batch_id => 11) $$, array[2, 1]::bigint[], 'those of a batch'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_from => noon('10 s')) $$, array[4]::bigint[], 'those since a time'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_to => noon('10 s')) $$, array[3, 2, 1]::bigint[], 'those before a time'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_statuses => '{enqueued,completed,enqueued}') $$, array[4, 2, 1]::bigint[],
    'those of some statuses, each once'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_agents => '{a,a}') $$, array[4, 2, 1]::bigint[], 'those of an agent, each once'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_customers => '{c,Acme,c}', p_limit => 2) $$, array[3, 2]::bigint[],
    'those of customers, each once, a page at a time'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_customers => '{c,Acme}', p_agents => '{a}', p_statuses => '{enqueued}') $$,
    array[2]::bigint[],
    'filters hold together'
);
set local role forebay_owner;
select given($$ select forebay.enqueue('b', '{}') $$);
set local role forebay_viewer;
select results_eq(
    $$ select task_id from forebay.list_tasks(p_customers => '{""}') $$, array[5]::bigint[], 'those of no customer'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_customers => '{"",c}', p_agents => '{b}') $$, array[5, 3]::bigint[],
    'or of some or none'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_customers => '{"",c}', p_search => '5') $$, array[5]::bigint[],
    'also where a search finds them'
);
select is_empty($$ select task_id from forebay.list_tasks(p_customers => '{}') $$, 'of none of all there are none');
set local role forebay_owner;
select given($$ delete from forebay.tasks where task_id = 5 $$);
set local role forebay_viewer;
select results_eq(
    $$ select task_id from forebay.list_tasks(p_max_confidence => 0.5) $$, array[1]::bigint[], 'those that are no surer'
);
select is_empty($$ select task_id from forebay.list_tasks(p_max_confidence => 0.49) $$, 'which others are not');
select results_eq($$ select task_id from forebay.list_tasks(p_search => ' 3 ') $$, array[3]::bigint[], 'a task by its number');
select results_eq(
    $$ select task_id from forebay.list_tasks(p_search => '11') $$, array[2, 1]::bigint[], 'a batch''s by its number'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_search => '102') $$, array[3]::bigint[], 'one by an attempt''s number'
);
select results_eq($$ select task_id from forebay.list_tasks(p_search => 'run 7') $$, array[1]::bigint[], 'one by its run');
select results_eq(
    $$ select task_id from forebay.list_tasks(p_search => 'key 3') $$, array[3]::bigint[], 'one by its idempotency key'
);
select is_empty($$ select task_id from forebay.list_tasks(p_search => 'key') $$, 'which has to be whole');
set local role forebay_owner;
select results_eq(
    $$ select p.task_id from forebay.task_attempts as a cross join forebay.list_tasks(p_search => a.launch_token) as p
       where a.attempt_id = 102 $$,
    array[3]::bigint[],
    'one by its launch token'
);
set local role forebay_viewer;
select results_eq(
    $$ select task_id from forebay.list_tasks(p_search => '100%') $$, array[2, 1]::bigint[],
    'those of a batch by part of its name, whatever that is made of'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_search => 'ACME') $$, array[4, 2, 1]::bigint[],
    'those of customers by part of their names, each once'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_search => 'acme', p_batch_id => 11, p_statuses => '{enqueued}') $$,
    array[2]::bigint[],
    'within the other filters'
);
select results_eq(
    $$ select task_id from forebay.list_tasks(p_search => ' ') $$, array[4, 3, 2, 1]::bigint[], 'blanks search for nothing'
);
select results_eq(
    $$ select task_id, batch_name, used_input_tokens, used_output_tokens, used_cached_tokens, is_usage_known, cost_usd,
           is_cost_known, run_time, progress_done, progress_total
       from forebay.list_tasks(p_to => noon('1 s')) $$,
    $$ values
    (3::bigint, null, null::bigint, null::bigint, null::bigint, false, null::numeric, false, null::interval, 2, 5),
    (2, 'March 100%', null, null, null, false, null, false, null, null, null),
    (1, 'March 100%', 30, 5, 10, true, 0.25, true, '10 s', null, null) $$,
    'a row tells what is known of tokens and cost, and no number where nothing is'
);
select throws_ok($$ select forebay.list_tasks(p_limit => 0) $$, '22023', null, 'a page is not empty');
select throws_ok($$ select forebay.list_tasks(p_limit => null) $$, '22023', null, 'nor without end');
select throws_ok($$ select forebay.list_tasks(p_statuses => '{done}') $$, '22023', null, 'a status is one of five');
select throws_ok(
    $$ select forebay.list_tasks(p_search => repeat('x', 501)) $$, '22023', null, 'a search has at most 500 characters'
);
select throws_ok($$ select forebay.list_tasks(p_agents => '{z}') $$, 'QF301', null, 'the agent exists');
select throws_ok($$ select forebay.list_tasks(p_batch_id => 99) $$, 'QF302', null, 'the batch exists');
select only_callable_by('{viewer}', $$ select forebay.list_tasks() $$);
select finish();
rollback;
