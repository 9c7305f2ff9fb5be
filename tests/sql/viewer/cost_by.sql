-- cost_by: what tasks cost, by each of seven dimensions.
begin;
select plan(18);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b');
    select forebay.open_batch('upload', 'acme');
    select forebay.enqueue('a', '{}', 9, 11), forebay.enqueue('a', '{}', 8, 11), forebay.enqueue('b', '{}', 7)
$$);
select at_time('1 day');
select given($$ select forebay.enqueue('b', '{}', p_customer => 'best') $$);
select given($$ select forebay.dequeue('w', p_batch_size => 4) $$);
create temporary table attempts as
select
    task_id,
    attempt_id
from forebay.task_attempts;
select given($$
    select forebay.report_usage(a.attempt_id, u.usage)
    from attempts as a
    inner join (values
        (1, '[{"call_id": "1", "model": "large", "input_tokens": 100, "output_tokens": 10, "cached_tokens": 50,
            "cost_usd": 0.3}, {"call_id": "2", "model": "small", "input_tokens": 10, "output_tokens": 1, "cost_usd": 0.1}]'::jsonb),
        (2, '[{"call_id": "1", "model": "small", "input_tokens": 20, "output_tokens": 2, "cost_usd": 0.2},
            {"call_id": "1", "source": "trace", "model": "large", "input_tokens": 999}]'),
        (3, '{"call_id": "1", "model": "large", "input_tokens": 1000, "output_tokens": 100}'),
        (4, '{"call_id": "1", "model": "large", "input_tokens": 5, "output_tokens": 5, "cost_usd": 3}')
    ) as u (task_id, usage) on u.task_id = a.task_id;
    select forebay.complete(attempt_id, '{}') from attempts where task_id <> 4;
    select forebay.record_compute_usage(jsonb_build_array(jsonb_build_object(
        'record_id', 'r', 'attempt_id', attempt_id, 'usd', 0.05
    ))) from attempts where task_id = 2
$$);
set local role forebay_viewer;
select results_eq(
    $$ select key, tasks, input_tokens, llm_usd, compute_usd from forebay.cost_by('task') $$,
    $$ values ('4', 1::bigint, 5::bigint, 3::numeric, null::numeric), ('1', 1, 110, 0.4, null), ('2', 1, 20, 0.2, 0.05),
        ('3', 1, 1000, null, null) $$,
    'tasks, the dearest first; what is unknown is null'
);
select results_eq(
    $$ select * from forebay.cost_by('agent') $$,
    $$ values ('b', 2::bigint, 1::bigint, 1::bigint, 1::bigint, 0::bigint, 0::bigint, 0::bigint, 1005::bigint, 105::bigint,
        0::bigint, 3::numeric, null::numeric), ('a', 2, 0, 2, 2, 2, 1, 0, 130, 13, 50, 0.6, 0.05) $$,
    'agents, with how much of it is known'
);
select results_eq(
    $$ select key, tasks, llm_usd from forebay.cost_by('customer') $$,
    $$ values ('best', 1::bigint, 3::numeric), ('acme', 2, 0.6), (null, 1, null) $$,
    'customers, and tasks of none'
);
select results_eq(
    $$ select key, tasks, llm_usd, compute_usd from forebay.cost_by('batch') $$,
    $$ values (null, 2::bigint, 3::numeric, null::numeric), ('11', 2, 0.6, 0.05) $$,
    'batches'
);
select results_eq(
    $$ select key, tasks, ended_attempts, priced_attempts, input_tokens, llm_usd, compute_usd from forebay.cost_by('model') $$,
    $$ values ('large', 3::bigint, 2::bigint, 1::bigint, 1105::bigint, 3.3, null::numeric), ('small', 2, 2, 2, 30, 0.3, null) $$,
    'models, by the calls of the source that counts'
);
select results_eq(
    $$ select key, tasks, llm_usd from forebay.cost_by('day') $$,
    $$ values ('2026-01-02', 1::bigint, 3::numeric), ('2026-01-01', 3, 0.6) $$,
    'days of creation in UTC, from the latest on'
);
set local role forebay_owner;
select given($$ select forebay._fold_changes(1) $$);
set local role forebay_viewer;
select results_eq(
    $$ select d.dimension, count(*), sum(c.tasks), sum(c.llm_usd)
    from unnest(array['agent', 'customer', 'day']) as d (dimension)
    cross join lateral forebay.cost_by(d.dimension, noon('-3 h'), noon('30 h')) as c
    group by d.dimension order by d.dimension $$,
    $$ values ('agent', 2::bigint, 4::numeric, 3.6), ('customer', 3, 4, 3.6), ('day', 2, 4, 3.6) $$,
    'the rollups say the same'
);
select results_eq(
    $$ select d.dimension, string_agg(c.key, ' '), sum(c.tasks)
    from unnest(array['task', 'agent', 'customer', 'batch', 'day', 'model']) with ordinality as d (dimension, place)
    cross join lateral forebay.cost_by(d.dimension, noon(), noon('1 s'), '{completed}', '{a}', '{acme}') as c
    group by d.dimension, d.place order by d.place $$,
    $$ values ('task', '1 2', 2::numeric), ('agent', 'a', 2), ('customer', 'acme', 2), ('batch', '11', 2),
        ('day', '2026-01-01', 2), ('model', 'large small', 3) $$,
    'the filters all hold'
);
select results_eq($$ select key from forebay.cost_by('task', p_limit => 1) $$, array['4'], 'no more rows than p_limit');
set local role forebay_owner;
select given($$
    select forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}');
    select forebay.dequeue('w', '{a}', 2);
    select forebay.report_usage(attempt_id, '{"call_id": "1", "cost_usd": 0.01, "input_tokens": 1, "output_tokens": 1}')
    from forebay.task_attempts where task_id in (5, 6);
    select forebay.fail(attempt_id, '{"kind": "timeout", "message": "late"}', true) from forebay.task_attempts where task_id = 5;
    update forebay.task_attempts set lease_expires_at = noon() where task_id = 6;
    select forebay.sweep()
$$);
select at_time('3 days');
select given($$
    select forebay.dequeue('w', '{a}', 2);
    select forebay.report_usage(attempt_id, '{"call_id": "1", "cost_usd": 0.02, "input_tokens": 1, "output_tokens": 1}')
    from forebay.task_attempts where attempt_no = 2;
    select forebay.record_compute_usage(jsonb_agg(jsonb_build_object(
        'record_id', attempt_id::text, 'attempt_id', attempt_id, 'usd', 0.004, 'is_final', false
    ))) from forebay.task_attempts where task_id = 6
$$);
set local role forebay_viewer;
select results_eq(
    $$ select key, tasks, ended_attempts, costed_attempts, provisional_attempts, llm_usd, compute_usd
    from forebay.cost_by('try', noon('1 h')) $$,
    $$ values ('first', 3::bigint, 2::bigint, 1::bigint, 1::bigint, 3.02, 0.004), ('after_lost', 1, 0, 0, 0, 0.02, 0.004),
        ('after_failed', 1, 0, 0, 0, 0.02, null) $$,
    'first tries, and retries by what made them necessary'
);
select results_eq(
    $$ select sum(llm_usd), sum(compute_usd) from forebay.cost_by('try') $$,
    $$ select sum(llm_usd), sum(compute_usd) from forebay.cost_by('agent') $$,
    'they add up to what the agents cost'
);
set local role forebay_owner;
select given($$
    select forebay.register_agent('silent'), forebay.register_agent('idle');
    select forebay.enqueue('idle', '{}'), forebay.enqueue('silent', '{}');
    select forebay.complete(attempt_id, '{}') from forebay.dequeue('w', '{silent}')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select key, input_tokens, output_tokens, cached_tokens, llm_usd, compute_usd
    from forebay.cost_by('agent', p_agents => '{idle,silent}') $$,
    $$ values ('idle', 0::bigint, 0::bigint, 0::bigint, 0::numeric, 0::numeric), ('silent', null, null, null, null, null) $$,
    'what was never tried cost nothing, and of what never told nothing is known'
);
select throws_ok($$ select forebay.cost_by('weather') $$, '22023', null, 'a dimension is known');
select throws_ok($$ select forebay.cost_by(null) $$, '22023', null, 'and given');
select throws_ok($$ select forebay.cost_by('task', p_limit => null) $$, '22023', null, 'p_limit is not null');
select throws_ok($$ select forebay.cost_by('task', p_statuses => '{eaten}') $$, '22023', null, 'a status is known');
select throws_ok($$ select forebay.cost_by('task', p_agents => '{x}') $$, 'QF301', null, 'and so is an agent');
select only_callable_by('{viewer}', $$ select forebay.cost_by('day') $$);
select finish();
rollback;
