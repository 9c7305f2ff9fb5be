-- list_audit: what people did, the latest first.
begin;
select plan(9);
select stop_clock();
set local role forebay_owner;
select given($$
    alter sequence forebay.audit_log_audit_id_seq restart with 1;
    select forebay.register_agent('a', p_reason => 'new', p_actor => 'ann');
    select forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}');
    select forebay.annotate('{1,2}', 'look', 'odd', 'bob');
    select forebay.pause_agent('a', null, 'lunch', 'ann')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select audit_id, acted_at, action, task_id, agent, session_role = session_user, actor, reason, details ->> 'note'
       from forebay.list_audit() $$,
    $$ values
    (4::bigint, noon(), 'pause_agent', null::bigint, 'a', true, 'ann', 'lunch', null),
    (3, noon(), 'annotate', 2, null, true, 'bob', 'odd', 'look'),
    (2, noon(), 'annotate', 1, null, true, 'bob', 'odd', 'look'),
    (1, noon(), 'register_agent', null, 'a', true, 'ann', 'new', null) $$,
    'one row a task or agent, the latest first'
);
select results_eq(
    $$ select audit_id from forebay.list_audit(p_before_audit_id => 4, p_limit => 1) $$, array[3]::bigint[],
    'a page at a time'
);
select results_eq($$ select audit_id from forebay.list_audit(p_task_id => 1) $$, array[2]::bigint[], 'that of a task');
select results_eq($$ select audit_id from forebay.list_audit(p_agent => 'a') $$, array[4, 1]::bigint[], 'that of an agent');
select results_eq($$ select audit_id from forebay.list_audit(p_actor => 'bob') $$, array[3, 2]::bigint[], 'that of a person');
select is_empty($$ select * from forebay.list_audit(p_agent => 'z') $$, 'an agent that is not known has none');
select throws_ok($$ select forebay.list_audit(p_limit => 0) $$, '22023', null, 'a page is not empty');
select throws_ok($$ select forebay.list_audit(p_limit => null) $$, '22023', null, 'nor without end');
select only_callable_by('{viewer}', $$ select forebay.list_audit() $$);
select finish();
rollback;
