-- agent_names: the names of all agents, and nothing else of them.
begin;
select plan(4);
set local role forebay_owner;
select is_empty($$ select forebay.agent_names() $$, 'at first there is none');
select given($$ select forebay.register_agent('b'), forebay.register_agent('a'), forebay.register_agent('c') $$);
select given($$ select forebay.pause_agent('c') $$);
set local role forebay_viewer;
select results_eq($$ select forebay.agent_names() $$, array['a', 'b', 'c'], 'by name, those that are paused too');
select results_eq(
    $$ select forebay.agent_names() $$, $$ select agent from forebay.agent_status() $$, 'the same as in agent_status'
);
select only_callable_by('{viewer}', $$ select forebay.agent_names() $$);
select finish();
rollback;
