-- pause_agent: an agent starts nothing meanwhile, and the log says who and why.
begin;
select plan(10);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b');
    select forebay.enqueue('a', '{}')
$$);
set local role forebay_operator;
select is(forebay.pause_agent('a', noon('1 hour'), 'outage', 'ann'), 1, 'one agent is paused');
select is(forebay.pause_agent(null), 2, 'null means all');
select is(forebay.resume_agent('a', 'mended', 'ann'), 1, 'one goes on');
select is(forebay.resume_agent(null), 1, 'null resumes those that are paused');
select is(forebay.resume_agent('a'), 0, 'one that is not paused stays so');
set local role forebay_owner;
select isnt_empty($$ select forebay.dequeue('w') $$, 'a resumed agent starts tasks');
select results_eq(
    $$ select action, agent, actor, reason from forebay.audit_log where reason is not null order by audit_id $$,
    $$ values ('pause_agent', 'a', 'ann', 'outage'), ('resume_agent', 'a', 'ann', 'mended') $$,
    'the log says who and why'
);
select throws_ok($$ select forebay.pause_agent('nobody') $$, 'QF301', null, 'the agent must be registered');
select throws_ok($$ select forebay.pause_agent('a', noon()) $$, '22023', null, 'a pause ends in the future');
select only_callable_by('{operator}', $$ select forebay.pause_agent('a') $$);
select finish();
rollback;
