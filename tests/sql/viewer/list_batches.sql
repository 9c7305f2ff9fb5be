-- list_batches: batches with their tasks by status, the newest first.
begin;
select plan(14);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_attempts => 1);
    select forebay.open_batch('March 100%', 'acme', 'ann');
    select forebay.enqueue('a', '{}', p_batch_id => 11), forebay.enqueue('a', '{}', p_batch_id => 11);
    select forebay.dequeue('w', '{a}', 2);
    select forebay.report_usage(101, '{"call_id": "1", "input_tokens": 1, "output_tokens": 1, "cost_usd": 0.25}');
    select forebay.complete(101, '1'), forebay.fail(102, '{"kind": "bad_input"}')
$$);
select at_time('10 s');
select given($$
    select forebay.open_batch('April', null, 'bob'), forebay.open_batch('May', 'best');
    select forebay.enqueue('a', '{}', p_batch_id => 12), forebay.enqueue('a', '{}', p_batch_id => 12),
        forebay.enqueue('a', '{}', p_batch_id => 12);
    select forebay.dequeue('w', '{a}', 1), forebay.cancel('{4}')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select batch_id, name, customer, owner, created_at, tasks, enqueued, processing, completed, failed, cancelled,
           finished_at, llm_usd, ended_attempts, priced_attempts
       from forebay.list_batches() $$,
    $$ values
    (13::bigint, 'May', 'best', null, noon('10 s'), 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint,
        null::timestamptz, null::numeric, 0::bigint, 0::bigint),
    (12, 'April', null, 'bob', noon('10 s'), 3, 1, 1, 0, 0, 1, null, null, 0, 0),
    (11, 'March 100%', 'acme', 'ann', noon(), 2, 0, 0, 1, 1, 0, noon(), 0.25, 2, 1) $$,
    'a row counts a batch''s tasks and what is known of their cost'
);
select results_eq(
    $$ select batch_id from forebay.list_batches(p_before_batch_id => 13, p_limit => 1) $$, array[12]::bigint[],
    'a page at a time'
);
select results_eq(
    $$ select batch_id from forebay.list_batches(p_before_batch_id => 99) $$, array[13, 12, 11]::bigint[],
    'a page before an id that no batch has is that before where it would stand'
);
select is_empty($$ select batch_id from forebay.list_batches(p_before_batch_id => 11) $$, 'nothing is before the first');
select results_eq(
    $$ select batch_id from forebay.list_batches(p_from => noon('10 s')) $$, array[13, 12]::bigint[], 'those since a time'
);
select results_eq(
    $$ select batch_id from forebay.list_batches(p_to => noon('10 s')) $$, array[11]::bigint[], 'those before a time'
);
select results_eq(
    $$ select batch_id from forebay.list_batches(p_customers => '{best,acme}') $$, array[13, 11]::bigint[], 'those of customers'
);
select results_eq($$ select batch_id from forebay.list_batches(p_search => '12') $$, array[12]::bigint[], 'one by its number');
select results_eq(
    $$ select batch_id from forebay.list_batches(p_search => '0%') $$, array[11]::bigint[], 'by part of its name'
);
select results_eq(
    $$ select batch_id from forebay.list_batches(p_search => ' BOB ') $$, array[12]::bigint[], 'by part of its owner'
);
select results_eq(
    $$ select batch_id from forebay.list_batches(p_search => 'bes') $$, array[13]::bigint[], 'or of its customer'
);
select throws_ok($$ select forebay.list_batches(p_limit => 1001) $$, '22023', null, 'a page has at most 1,000');
select throws_ok($$ select forebay.list_batches(p_limit => null) $$, '22023', null, 'a page has an end');
select only_callable_by('{viewer}', $$ select forebay.list_batches() $$);
select finish();
rollback;
