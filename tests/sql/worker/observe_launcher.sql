-- observe_launcher: who waits for a workspace that cannot be reached is told so, and nothing is decided by it.
begin;
select plan(14);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('jobs', 'lakeflow', 7, p_max_concurrent_tasks => 1);
    select forebay.register_agent('own', 'pull');
    select forebay.enqueue('jobs', '{}'), forebay.enqueue('jobs', '{}'), forebay.enqueue('own', '{}');
    select forebay.sweep(p_worker => 'w')
$$);
set local role forebay_worker;
select lives_ok($$ select forebay.observe_launcher('w', 'lakeflow', 'it does not answer') $$, 'a fault is told');
set local role forebay_owner;
select at_time('1 minute');
select given($$ select forebay.observe_launcher('w', 'lakeflow', 'it still does not answer') $$);
select at_time('2 minutes');
select results_eq(
    $$ select task_id, reason, waiting_until, explanation from generate_series(1, 3) as ids (id), forebay.explain_task(id) $$,
    $$ values
    (1::bigint, 'unreachable', null::timestamptz,
        'Worker w cannot start runs since 12:00:00 UTC, and tries again by itself: it still does not answer.'),
    (2, 'unreachable', null,
        'Worker w cannot start runs since 12:00:00 UTC, and tries again by itself: it still does not answer. 1 task is before it.'),
    (3, 'ready', null, 'It is next in line: the next dequeue for agent own takes it; none was seen yet.') $$,
    'a task that waits for it says so, since when and why'
);
select is(
    (select dispatchers #- '{0,faults,0,began_at}' -> 0 -> 'faults' from forebay.health()),
    '[{"launcher": "lakeflow", "reason": "it still does not answer"}]'::jsonb,
    'and so does health'
);
select is((select count(*) from forebay.dequeue('v', '{jobs}')), 1::bigint, 'somebody else may claim all the same');
select is((select reason from forebay.explain_task(2)), 'full', 'a rule of the agent is told first');
select given($$ select forebay.cancel('{1}') $$);
select at_time('3 minutes');
select is((select reason from forebay.explain_task(2)), 'ready', 'what was not told again for two minutes counts no more');
select given($$ select forebay.observe_launcher('w', 'lakeflow', 'away again') $$);
select is(
    (select f.began_at from forebay.launcher_faults as f), noon('3 minutes'), 'and begins anew when it comes back'
);
select given($$ select forebay.observe_launcher('w', 'lakeflow') $$);
select is((select reason from forebay.explain_task(2)), 'ready', 'a fault ends by being told so');
select throws_ok($$ select forebay.observe_launcher('w', 'lakeflow', p_place => '') $$, '22023', null, 'a place has a name');
select lives_ok($$ select forebay.observe_launcher('new', 'lakeflow', p_place => 'one') $$, 'who has done nothing yet may say where');
select throws_ok($$ select forebay.observe_launcher('w', null, 'x') $$, '22023', null, 'a launcher is given');
select throws_ok($$ select forebay.observe_launcher('w', 'own', 'x') $$, '22023', null, 'which is one');
select throws_ok($$ select forebay.observe_launcher('w', 'lakeflow', '') $$, '22023', null, 'a fault has words');
select throws_ok($$ select forebay.observe_launcher(null, 'lakeflow') $$, '22023', null, 'a worker is given');
select finish();
rollback;
