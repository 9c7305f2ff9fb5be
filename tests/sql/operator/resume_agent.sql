-- resume_agent: a pause ends, of one agent or of all.
begin;
select plan(6);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b');
    select forebay.enqueue('a', '{}');
    select forebay.pause_agent(null, p_reason => 'outage')
$$);
set local role forebay_operator;
select is(forebay.resume_agent('a'), 1, 'one agent is resumed');
select is(forebay.resume_agent(null), 1, 'null means all that are paused');
select is(forebay.resume_agent('a'), 0, 'one that is not paused stays so');
set local role forebay_owner;
select isnt_empty($$ select forebay.dequeue('w') $$, 'a resumed agent starts tasks');
select throws_ok($$ select forebay.resume_agent('nobody') $$, 'QF301', null, 'the agent must be registered');
select only_callable_by('{operator}', $$ select forebay.resume_agent('a') $$);
select finish();
rollback;
