-- cost_sources: every figure says where it is from.
begin;
select plan(14);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('jobs', 'lakeflow', p_job_id => 7), forebay.register_agent('here');
    select forebay.register_price('m', p_usd_per_call => 0.5);
    select forebay.enqueue('jobs', '{}') from generate_series(1, 4);
    select forebay.enqueue('here', '{}') from generate_series(1, 3);
    select forebay.dequeue('w', '{jobs}', 4), forebay.dequeue('w', '{here}', 3);
    select forebay.record_run(attempt_id, 'run ' || task_id) from forebay.task_attempts where agent = 'jobs';
    select forebay.report_usage(a.attempt_id, u.usage)
    from forebay.task_attempts as a
    inner join (values
        (1, '[{"call_id": "1", "model": "m"}, {"call_id": "2", "cost_usd": 0.25}, {"call_id": "3", "model": "dear"}]'::jsonb),
        (2, '{"call_id": "1", "source": "trace", "model": "m"}'),
        (5, '{"call_id": "1", "cost_usd": 0.125}')
    ) as u (task_id, usage) on u.task_id = a.task_id;
    select forebay.complete(attempt_id, '{}') from forebay.task_attempts where task_id <> 7;
    select forebay.record_compute_usage('[{"record_id": "1", "attempt_id": 101, "usd": 1}, {"record_id": "2", "attempt_id": 102,
        "usd": 0.1, "is_final": false}]', 'billing', noon());
    select forebay.record_compute_usage('[{"record_id": "105", "attempt_id": 105, "usd": 2, "is_final": false},
        {"record_id": "101", "attempt_id": 101, "usd": 99}]')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select source, basis, attempts, usd from forebay.cost_sources() where part = 'llm' $$,
    $$ values ('agent', 'price', 1::bigint, 0.5), ('agent', 'reported', 2, 0.375), ('agent', 'unknown', 1, null),
        ('trace', 'price', 1, 0.5), (null, 'running', 1, null), (null, 'unknown', 3, null) $$,
    'what was told with a call, what our prices make of it, and what nobody knows'
);
select results_eq(
    $$ select source, basis, attempts, usd from forebay.cost_sources() where part = 'compute' $$,
    $$ values ('billing', 'final', 1::bigint, 1::numeric), ('billing', 'provisional', 1, 0.1), ('local', 'provisional', 1, 2),
        (null, 'awaited', 2, null), (null, 'running', 1, null), (null, 'unknown', 1, null) $$,
    'a bill, an estimate, a bill to come, and none'
);
set local role forebay_owner;
select at_time('2 days');
select given($$ select forebay.record_compute_usage('[]', 'billing', noon('25 h')) $$);
set local role forebay_viewer;
select results_eq(
    $$ select source, basis, attempts, usd from forebay.cost_sources(p_agents => '{jobs}') where part = 'compute' $$,
    $$ values ('billing', 'final', 1::bigint, 1::numeric), ('billing', 'provisional', 1, 0.1),
        (null, 'not_attributable', 2, null) $$,
    'what no bill told of in time is not attributable, and not zero'
);
select results_eq(
    $$ select key, part, source, basis, usd from forebay.cost_sources(p_dimension => 'agent', p_keys => '{here}') $$,
    $$ values ('here', 'llm', 'agent', 'reported', 0.125), ('here', 'llm', null, 'running', null),
        ('here', 'llm', null, 'unknown', null), ('here', 'compute', 'local', 'provisional', 2), ('here', 'compute', null, 'running', null),
        ('here', 'compute', null, 'unknown', null) $$,
    'the sources of a line of cost_by'
);
select results_eq(
    $$ select key, source, basis, usd from forebay.cost_sources(p_dimension => 'model') $$,
    $$ values ('dear', 'agent', 'unknown', null), ('m', 'agent', 'price', 0.5), ('m', 'trace', 'price', 0.5),
        (null, 'agent', 'reported', 0.375) $$,
    'by model, of calls alone'
);
select bag_eq(
    $$ select d.dimension, s.part, sum(s.usd) from unnest('{task,customer,batch,day,try}'::text[]) as d (dimension)
    cross join lateral forebay.cost_sources(p_dimension => d.dimension) as s group by d.dimension, s.part $$,
    $$ select d.dimension, s.part, sum(s.usd) from unnest('{task,customer,batch,day,try}'::text[]) as d (dimension)
    cross join lateral forebay.cost_sources() as s group by d.dimension, s.part $$,
    'by whatever, they add up to all of it'
);
select results_eq(
    $$ select d.dimension, array_agg(distinct s.key) from unnest('{task,customer,batch,day,try}'::text[]) as d (dimension)
    cross join lateral forebay.cost_sources(p_dimension => d.dimension) as s group by d.dimension
    except all
    select d.dimension, array_agg(distinct c.key) from unnest('{task,customer,batch,day,try}'::text[]) as d (dimension)
    cross join lateral forebay.cost_by(d.dimension) as c group by d.dimension $$,
    $$ select null::text, null::text[] where false $$,
    'under the keys of cost_by'
);
select throws_ok($$ select forebay.cost_sources(p_dimension => 'weather') $$, '22023', null, 'a dimension is one of cost_by');
select throws_ok($$ select forebay.cost_sources(p_statuses => '{eaten}') $$, '22023', null, 'a status is known');
select throws_ok($$ select forebay.cost_sources(p_agents => '{x}') $$, 'QF301', null, 'and so is an agent');
set local role forebay_owner;
select given($$ select forebay.record_compute_usage('[{"record_id": "3", "attempt_id": 101, "usd": null}]', 'billing') $$);
set local role forebay_viewer;
select results_eq(
    $$ select source, basis, attempts, usd from forebay.cost_sources(p_agents => '{jobs}') where part = 'compute' $$,
    $$ values ('billing', 'provisional', 1::bigint, 0.1), ('billing', 'unpriced', 1, null), (null, 'not_attributable', 2, null) $$,
    'nor is what a bill told of without a price'
);
set local role forebay_owner;
select given($$
    select forebay.enqueue('here', '{}'), forebay.enqueue('jobs', '{}');
    select forebay.dequeue('w', '{here}', 1), forebay.dequeue('w', '{jobs}', 1);
    select forebay.report_usage(a.attempt_id, '{"call_id": "1", "model": "m2", "input_tokens": 0, "output_tokens": 0}')
    from forebay.task_attempts as a where a.task_id = 8;
    select forebay.complete(a.attempt_id, '{}') from forebay.task_attempts as a where a.task_id = 8;
    select forebay.release(a.attempt_id, 'shutdown') from forebay.task_attempts as a where a.task_id = 9
$$);
set local role forebay_viewer;
select results_eq(
    $$ select key, part, source, basis, usd from forebay.cost_sources(p_dimension => 'task', p_keys => '{8,9}') where usd is not null $$,
    $$ values ('8', 'llm', 'agent', 'unused', 0::numeric), ('9', 'llm', null, 'unused', 0), ('9', 'compute', null, 'final', 0) $$,
    'a zero too is from somewhere, or there was nothing to tell of'
);
select results_eq(
    $$ select c.key, c.llm_usd, c.compute_usd from forebay.cost_by('task') as c where c.key in ('8', '9') order by c.key $$,
    $$ values ('8', 0::numeric, null::numeric), ('9', 0, 0) $$,
    'as cost_by has it'
);
select only_callable_by('{viewer}', $$ select forebay.cost_sources() $$);
select finish();
rollback;
