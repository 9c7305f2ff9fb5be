-- registered_agents: which agents there are of those that somebody means to offer.
begin;
select plan(4);
set local role forebay_owner;
select given($$ select forebay.register_agent('a'), forebay.register_agent('b'), forebay.register_agent('c') $$);
set local role forebay_submitter;
select results_eq(
    $$ select forebay.registered_agents('{c, x, a, null, c}') $$, array['c', 'a'], 'in the order given, each once'
);
select is_empty($$ select forebay.registered_agents('{}') $$, 'none of none');
select throws_ok($$ select forebay.registered_agents(null) $$, '22023', null, 'agents are given');
select only_callable_by('{submitter}', $$ select forebay.registered_agents('{a}') $$);
select finish();
rollback;
