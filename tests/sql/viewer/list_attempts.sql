-- list_attempts: attempts that did not end well, the newest first.
begin;
select plan(17);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_lease => '1 min', p_backoff_base => '1 s'), forebay.register_agent('b');
    select forebay.enqueue('a', '{}', 9), forebay.enqueue('a', '{}', 8, p_customer => 'c'), forebay.enqueue('b', '{}');
    select forebay.dequeue('w', '{a}', 2);
    select forebay.record_run(101, 'run 7');
    select forebay.report_usage(102, '{"call_id": "1", "input_tokens": 30, "output_tokens": 5, "cached_tokens": 10,
        "cost_usd": 0.25}')
$$);
select at_time('10 s');
select given($$
    select forebay.dequeue('w', '{b}');
    select forebay.report_usage(103, '[{"call_id": "1", "input_tokens": 0, "output_tokens": 0, "cost_usd": 0}, {"call_id": "2"}]');
    select forebay.fail(103, '{"kind": "agent_bug", "message": "it broke"}')
$$);
select at_time('2 min');
select given($$ select forebay.sweep() $$);
select at_time('10 min');
select given($$ select forebay.dequeue('v', '{a}', 1); select forebay.complete(101, '1') $$);
set local role forebay_viewer;
select results_eq(
    $$ select attempt_id, task_id, attempt_no, agent, launcher, status, worker, run_id, started_at, error_kind,
           used_input_tokens, used_output_tokens, used_cached_tokens, is_usage_known, cost_usd, is_cost_known, task_status,
           customer
       from forebay.list_attempts() $$,
    $$ values
    (104::bigint, 1::bigint, 2, 'a', 'pull', 'superseded', 'v', null, noon('10 min'), null, null::bigint, null::bigint,
        null::bigint, false, null::numeric, false, 'completed', null),
    (102, 2, 1, 'a', 'pull', 'lost', 'w', null, noon(), 'infrastructure', 30, 5, 10, true, 0.25, true, 'enqueued', 'c') $$,
    'those that were lost or superseded, and what became of the task'
);
select results_eq(
    $$ select attempt_id, error_kind, error_message from forebay.list_attempts('{failed,failed}') $$,
    $$ values (103::bigint, 'agent_bug', 'it broke') $$,
    'or those that failed, with their errors'
);
select is(a.cost_usd, null, 'a cost of which no more is known than that a call was free is unknown')
from forebay.list_attempts('{failed}') as a;
select is(a -> 'cost_usd', 'null', 'on the page of its task too')
from forebay.task_detail(3) as d cross join jsonb_array_elements(d.attempts) as a;
select results_eq(
    $$ select attempt_id from forebay.list_attempts('{lost,superseded,failed,released,cancelled}', p_limit => 2) $$,
    array[104, 103]::bigint[],
    'a page at a time'
);
select results_eq(
    $$ select attempt_id from forebay.list_attempts('{lost,failed}', p_before_attempt_id => 103) $$, array[102]::bigint[],
    'and the next'
);
select results_eq(
    $$ select attempt_id from forebay.list_attempts(p_before_attempt_id => 1000) $$, array[104, 102]::bigint[],
    'a page before an id that no attempt has is that before where it would stand'
);
select is_empty(
    $$ select attempt_id from forebay.list_attempts(p_before_attempt_id => 101) $$, 'nothing is before the first'
);
select results_eq(
    $$ select attempt_id from forebay.list_attempts('{lost,failed}', '{b}') $$, array[103]::bigint[], 'those of an agent'
);
select results_eq(
    $$ select attempt_id from forebay.list_attempts(p_from => noon('1 s')) $$, array[104]::bigint[], 'those that began since'
);
select results_eq(
    $$ select attempt_id from forebay.list_attempts(p_to => noon('10 min')) $$, array[102]::bigint[], 'or before'
);
select throws_ok($$ select forebay.list_attempts('{succeeded}') $$, '22023', null, 'what went well is not here');
select throws_ok($$ select forebay.list_attempts(null) $$, '22023', null, 'statuses are given');
select throws_ok($$ select forebay.list_attempts('{lost,null}') $$, '22023', null, 'all of them');
select throws_ok($$ select forebay.list_attempts(p_limit => 0) $$, '22023', null, 'a page is not empty');
select throws_ok($$ select forebay.list_attempts(p_agents => '{z}') $$, 'QF301', null, 'the agent exists');
select only_callable_by('{viewer}', $$ select forebay.list_attempts() $$);
select finish();
rollback;
