-- batch_explanations: why tasks of one's own batch wait, in the words of explain_task.
begin;
select plan(12);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_concurrent_tasks => 1);
    select forebay.open_batch('upload', p_owner => 'ann'), forebay.open_batch('other', p_owner => 'bob');
    select forebay.enqueue('a', '{}', 0, case when n = 3 then 12 else 11 end) from generate_series(1, 4) as n;
    select forebay.dequeue('w')
$$);
set local role forebay_submitter;
select results_eq(
    $$ select task_id, reason, explanation <> '', ahead from forebay.batch_explanations(11, 'ann', '{4, 3, 2, 1, 2, null, 99}') $$,
    $$ values (2::bigint, 'full', true, 0::bigint), (4, 'full', true, 2) $$,
    'those that wait and are of the batch, by id'
);
set local role forebay_owner;
create temporary table explained as
select * from forebay.batch_explanations(11, 'ann', '{2, 4}');
select results_eq(
    $$ select * from explained $$,
    $$ select e.* from unnest('{2, 4}'::bigint[]) as t (id) cross join lateral forebay.explain_task(t.id) as e $$,
    'as explain_task says it'
);
select given($$ select forebay.pause_agent('a', 'infinity', 'for good') $$);
create temporary table paused as
select * from forebay.batch_explanations(11, 'ann', '{2, 4}');
select results_eq(
    $$ select reason, explanation, ahead from paused $$,
    $$ values ('paused', 'Agent a is paused until it is resumed.', 0::bigint),
        ('paused', 'Agent a is paused until it is resumed. 2 tasks are before it.', 2) $$,
    'but for the reason of a pause, which is for operators'
);
set local role forebay_submitter;
select is_empty($$ select forebay.batch_explanations(11, 'ann', '{}') $$, 'none of none');
select lives_ok(
    $$ select forebay.batch_explanations(11, 'ann', array(select n::bigint from generate_series(1, 200) as n)) $$,
    'up to 200 at a time'
);
select throws_ok(
    $$ select forebay.batch_explanations(11, 'ann', array(select n::bigint from generate_series(1, 201) as n)) $$,
    '22023', null, 'and not one more'
);
select throws_ok($$ select forebay.batch_explanations(11, 'bob', '{2}') $$, 'QF302', null, 'somebody else''s batch');
select throws_ok($$ select forebay.batch_explanations(99, 'ann', '{2}') $$, 'QF302', null, 'one never opened');
select throws_ok($$ select forebay.batch_explanations(null, 'ann', '{2}') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.batch_explanations(11, null, '{2}') $$, '22023', null, 'an actor is given');
select throws_ok($$ select forebay.batch_explanations(11, 'ann', null) $$, '22023', null, 'tasks are given');
select only_callable_by('{submitter}', $$ select forebay.batch_explanations(11, 'ann', '{2}') $$);
select finish();
rollback;
