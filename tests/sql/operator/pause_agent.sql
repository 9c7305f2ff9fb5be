-- pause_agent: an agent starts nothing meanwhile, and the log says who and why.
begin;
select plan(16);
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
select is(forebay.pause_agent('b', null, 'its own', 'ann'), 1, 'a pause without an end is until it is resumed');
select is(forebay.pause_agent(null, noon('15 minutes'), 'all stop'), 1, 'who pauses all leaves agents that are paused for longer');
set local role forebay_owner;
select results_eq(
    $$ select agent, paused_until, pause_reason from forebay.agents order by agent $$,
    $$ values ('a', noon('15 minutes'), 'all stop'), ('b', 'infinity', 'its own') $$,
    'their time and their reason too'
);
set local role forebay_operator;
select is(forebay.pause_agent('b', noon('1 minute'), 'soon'), 1, 'who names an agent may shorten its pause');
select is(forebay.pause_agent(null, noon('15 minutes'), 'again'), 1, 'a shorter one is made longer; one as long stays');
select is(forebay.resume_agent(null), 2, 'all go on');
set local role forebay_owner;
select isnt_empty($$ select forebay.dequeue('w') $$, 'a resumed agent starts tasks');
select results_eq(
    $$ select action, agent, actor, reason from forebay.audit_log where reason in ('outage', 'mended') order by audit_id $$,
    $$ values ('pause_agent', 'a', 'ann', 'outage'), ('resume_agent', 'a', 'ann', 'mended') $$,
    'the log says who and why'
);
select throws_ok($$ select forebay.pause_agent('nobody') $$, 'QF301', null, 'the agent must be registered');
select throws_ok($$ select forebay.pause_agent('a', noon()) $$, '22023', null, 'a pause ends in the future');
select only_callable_by('{operator}', $$ select forebay.pause_agent('a') $$);
select finish();
rollback;
