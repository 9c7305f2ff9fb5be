-- resume_agent: a pause ends, of one agent or of all.
begin;
select plan(10);
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

-- A provider's pause ends too, and the lowered limits stay.
select given($$
    select forebay.fail(attempt_id, '{"kind": "rate_limited"}') from forebay.tasks;
    select forebay.enqueue('a', '{}')
$$);
select is_empty($$ select forebay.dequeue('w') $$, 'an agent that a provider refused is paused');
select at_time('20 s');
select is(forebay.resume_agent('a'), 1, 'an operator ends that pause as well');
select isnt_empty($$ select forebay.dequeue('w') $$, 'and it starts tasks');
select results_eq(
    $$ select share, paused_until from forebay.refusals $$,
    $$ values (0.5, noon('20 s')) $$,
    'with half of its limits, which grow from now'
);
select throws_ok($$ select forebay.resume_agent('nobody') $$, 'QF301', null, 'the agent must be registered');
select only_callable_by('{operator}', $$ select forebay.resume_agent('a') $$);
select finish();
rollback;
