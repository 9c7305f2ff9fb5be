-- customer_costs: what is put on a customer's bill, every amount once.
begin;
select plan(10);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b');
    select forebay.register_price('ocr', p_usd_per_page => 0.01);
    select forebay.enqueue('a', '{}', p_customer => 'best'), forebay.enqueue('a', '{}', p_customer => 'acme'),
        forebay.enqueue('b', '{}', p_customer => 'acme'), forebay.enqueue('a', '{}');
    select forebay.dequeue('w', p_batch_size => 4);
    select forebay.report_usage(attempt_id, '[{"call_id": "1", "input_tokens": 7, "output_tokens": 2, "cached_tokens": 1, "cost_usd": 0.3},
        {"call_id": "2", "model": "ocr", "pages": 2.5, "input_tokens": 0, "output_tokens": 0},
        {"call_id": "2", "source": "trace", "pages": 99}]')
    from forebay.task_attempts where task_id <= 2;
    select forebay.record_compute_usage(jsonb_agg(jsonb_build_object(
        'record_id', a.attempt_id::text, 'attempt_id', a.attempt_id, 'usd', 0.01, 'is_final', a.task_id = 1
    )), 'billing') from forebay.task_attempts as a where a.task_id <= 2;
    select forebay.complete(attempt_id, '{}') from forebay.task_attempts where task_id in (1, 3, 4);
    select forebay.fail(attempt_id, '{"kind": "x", "message": "x"}', true) from forebay.task_attempts where task_id = 2
$$);
select at_time('40 days');
select given($$
    select forebay.enqueue('b', '{}', p_customer => 'later');
    select forebay.dequeue('w', '{a}', 1);
    select forebay.report_usage(attempt_id, '{"call_id": "1", "input_tokens": 1, "output_tokens": 1, "cost_usd": 0.5}')
    from forebay.task_attempts where attempt_no = 2;
    select forebay.record_compute_usage(jsonb_agg(jsonb_build_object(
        'record_id', a.attempt_id::text, 'attempt_id', a.attempt_id, 'usd', 0.02
    )), 'billing') from forebay.task_attempts as a where a.attempt_no = 2
$$);
set local role forebay_viewer;
select results_eq(
    $$ select customer, agent, tasks, ended_attempts, measured_attempts, priced_attempts, costed_attempts, provisional_attempts
    from forebay.customer_costs('2026-01-01', '2026-02-01') $$,
    $$ values ('acme', 'a', 1::bigint, 1::bigint, 1::bigint, 1::bigint, 1::bigint, 1::bigint), ('acme', 'b', 1, 1, 0, 0, 0, 0),
        ('best', 'a', 1, 1, 1, 1, 1, 0), (null, 'a', 1, 1, 0, 0, 0, 0) $$,
    'a line a customer and agent, with how much is known'
);
select results_eq(
    $$ select customer, agent, input_tokens, output_tokens, cached_tokens, pages, llm_usd, retry_llm_usd, compute_usd,
        retry_compute_usd, provisional_usd, retry_provisional_usd from forebay.customer_costs('2026-01-01', '2026-02-01') $$,
    $$ values ('acme', 'a', 8::bigint, 3::bigint, 1::bigint, 2.5, 0.325, 0.5, null::numeric, 0.02, 0.01, null::numeric),
        ('acme', 'b', null, null, null, null, null, null, null, null, null, null),
        ('best', 'a', 7, 2, 1, 2.5, 0.325, null, 0.01, null, null, null),
        (null, 'a', null, null, null, null, null, null, null, null, null, null) $$,
    'a retry of February is on the bill of the month that its task is of; what is unknown is null'
);
select results_eq(
    $$ select customer, agent, running_attempts, retries, llm_sources, compute_sources, compute_as_of is null
    from forebay.customer_costs('2026-01-01', '2026-02-01') $$,
    $$ values ('acme', 'a', 1::bigint, 1::bigint, '{agent price,agent reported}'::text[], '{billing}'::text[], false),
        ('acme', 'b', 0, 0, '{}', '{}', true), ('best', 'a', 0, 0, '{agent price,agent reported}', '{billing}', false),
        (null, 'a', 0, 0, '{}', '{}', true) $$,
    'and where the amounts are from'
);
select results_eq(
    $$ select sum(coalesce(c.llm_usd, 0) + coalesce(c.retry_llm_usd, 0)),
        sum(coalesce(c.compute_usd, 0) + coalesce(c.retry_compute_usd, 0) + coalesce(c.provisional_usd, 0)
            + coalesce(c.retry_provisional_usd, 0))
    from forebay.customer_costs('2026-01-01', '2026-02-01') as c $$,
    $$ select s.llm_usd, s.compute_usd from forebay.cost_summary('2026-01-01', '2026-02-01') as s $$,
    'they add up to what everything cost'
);
select results_eq(
    $$ select customer, tasks from forebay.customer_costs('2026-02-01', '2026-03-01', '{later,acme}') $$,
    $$ values ('later', 1::bigint) $$,
    'some customers'
);
set local role forebay_owner;
select at_time('80 days');
select given($$
    select forebay.register_price('m', p_usd_per_m_input => 1, p_usd_per_m_output => 1);
    select forebay.enqueue('b', '{}', p_customer => who) from unnest('{free,half,refused,running,unsaid}'::text[]) as who;
    select forebay.dequeue('w', '{b}', 6);
    select forebay.report_usage(a.attempt_id, u.usage)
    from (values
        ('free', '[{"call_id": "1", "model": "m", "input_tokens": 0, "output_tokens": 0}]'::jsonb),
        ('half', '[{"call_id": "1", "model": "m", "input_tokens": 2, "output_tokens": 1}, {"call_id": "2", "model": "m"}]'),
        ('refused', '[{"call_id": "1", "model": "m", "input_tokens": 0, "output_tokens": 0}, {"call_id": "2", "model": "m"}]'),
        ('running', '[{"call_id": "1", "model": "m", "input_tokens": 0, "output_tokens": 0}]'),
        ('unsaid', '[{"call_id": "1", "model": "none", "input_tokens": 0, "output_tokens": 0}, {"call_id": "2"}]')
    ) as u (customer, usage)
    inner join forebay.task_attempts as a on a.customer = u.customer;
    select forebay.record_compute_usage(jsonb_agg(jsonb_build_object(
        'record_id', a.attempt_id::text, 'attempt_id', a.attempt_id, 'usd', 0, 'is_final', false
    )), 'billing') from forebay.task_attempts as a where a.customer in ('free', 'running');
    select forebay.complete(attempt_id, '{}') from forebay.task_attempts where customer in ('free', 'half', 'refused', 'unsaid')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select customer, llm_usd, provisional_usd, llm_sources, compute_sources
    from forebay.customer_costs('2026-03-01', '2026-04-01') $$,
    $$ values ('free', 0::numeric, 0::numeric, '{agent price}'::text[], '{billing}'::text[]),
        ('half', 0.000003, null, '{agent price}', '{}'), ('refused', null, null, '{}', '{}'),
        ('running', null, null, '{}', '{}'), ('unsaid', null, null, '{}', '{}') $$,
    'a refused call is no known cost of an attempt that made others, or that may yet make them'
);
select results_eq(
    $$ select customer, llm_usd, provisional_usd from forebay.customer_costs('2026-03-01', '2026-04-01') $$,
    $$ select c.key, c.llm_usd, c.compute_usd from forebay.cost_by('customer', '2026-03-01', '2026-04-01') as c order by c.key $$,
    'what is unknown is null here where it is null elsewhere'
);
select throws_ok($$ select forebay.customer_costs(null, '2026-02-01') $$, '22023', null, 'a range begins');
select throws_ok($$ select forebay.customer_costs('2026-02-01', null) $$, '22023', null, 'and ends');
select only_callable_by('{viewer}', $$ select forebay.customer_costs('2026-02-01', '2026-03-01') $$);
select finish();
rollback;
