-- count_matching: how many tasks list_tasks would list, up to a bound.
begin;
select plan(14);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b');
    select forebay.open_batch('upload', 'acme', 'ann');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11), forebay.enqueue('b', '{}',
        p_customer => 'c');
    select forebay.dequeue('w', '{a}');
    select forebay.complete(101, '1', 0.5)
$$);
set local role forebay_viewer;
select is(forebay.count_matching(), 3::bigint, 'all of them');
select is(forebay.count_matching(p_statuses => '{enqueued}', p_agents => '{a}'), 1::bigint, 'filters hold together');
select is(forebay.count_matching(p_customers => '{acme}'), 2::bigint, 'those of a customer');
select is(forebay.count_matching(p_batch_id => 11, p_max_confidence => 0.5), 1::bigint, 'those that are unsure in a batch');
select is(forebay.count_matching(p_search => 'upl'), 2::bigint, 'those that a search finds');
select is(forebay.count_matching(p_from => noon('1 s')), 0::bigint, 'there may be none');
select is(forebay.count_matching(p_to => noon('1 s')), 3::bigint, 'a range is half-open');
set local role forebay_owner;
select given($$
    insert into forebay.tasks (agent, payload, available_at, created_at)
    select 'b', '{}', noon(), noon() from generate_series(1, 100100)
$$);
set local role forebay_viewer;
select is(forebay.count_matching(p_agents => '{b}'), 100001::bigint, 'more than 100,000 are 100,001');
select throws_ok($$ select forebay.count_matching(p_statuses => '{done}') $$, '22023', null, 'a status is one of five');
select throws_ok(
    $$ select forebay.count_matching(p_max_confidence => -0.1) $$, '22023', null, 'a confidence is not below 0'
);
select throws_ok($$ select forebay.count_matching(p_agents => '{null}') $$, '22023', null, 'an agent is given');
select throws_ok($$ select forebay.count_matching(p_agents => '{z}') $$, 'QF301', null, 'the agent exists');
select throws_ok($$ select forebay.count_matching(p_batch_id => 99) $$, 'QF302', null, 'the batch exists');
select only_callable_by('{viewer}', $$ select forebay.count_matching() $$);
select finish();
rollback;
