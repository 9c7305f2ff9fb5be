-- metric_series: tasks step by step of when they were created.
begin;
select plan(15);
select stop_clock();
set local role forebay_owner;
select is_empty($$ select * from forebay.metric_series() $$, 'before the first task there is no step');
select given($$ select forebay.register_agent('a'), forebay.enqueue('a', '{}', p_customer => 'acme') $$);
select at_time('20 s');
select given($$ select forebay.dequeue('w') $$);
select given($$
    select forebay.report_usage(101, '{"call_id": "1", "input_tokens": 100, "output_tokens": 10, "cost_usd": 2}');
    select forebay.complete(101, '{}')
$$);
select at_time('150 s');
select given($$ select forebay.enqueue('a', '{}') from generate_series(1, 3) $$);
select at_time('3 minutes');
set local role forebay_viewer;
select results_eq(
    $$ select starts_at, ends_at, enqueued, completed, input_tokens, output_tokens, llm_usd from forebay.metric_series() $$,
    $$ values
        (noon(), noon('1 min'), 0::bigint, 1::bigint, 100::bigint, 10::bigint, 2::numeric),
        (noon('1 min'), noon('2 min'), 0, 0, 0, 0, 0),
        (noon('2 min'), noon('3 min'), 3, 0, 0, 0, 0),
        (noon('3 min'), noon('4 min'), 0, 0, 0, 0, 0) $$,
    'from the first task to the step of now, minute by minute, those without a task too'
);
select results_eq(
    $$ select abs(extract(epoch from response_median) / 20 - 1) <= 0.025, response_p95 = response_median
    from forebay.metric_series() where completed = 1 $$,
    $$ values (true, true) $$,
    'with the median of the response, at most 2.5 % off'
);
select results_eq(
    $$ select starts_at, ends_at, enqueued + completed from forebay.metric_series(noon('-10 s'), noon('10 s')) $$,
    $$ values (noon('-10 s'), noon(), 0::bigint), (noon(), noon('10 s'), 1) $$,
    'the first and the last step end where the range does'
);
select results_eq(
    $$ select sum(enqueued), sum(completed) from forebay.metric_series(noon(), noon('1 h'), '{completed}', '{a}', '{acme}') $$,
    $$ values (0::numeric, 1::numeric) $$,
    'the filters all hold'
);
set local role forebay_owner;
select given($$ select forebay._fold_changes(1) $$);
set local role forebay_viewer;
select results_eq(
    $$ select s.step, count(*), sum(p.enqueued), sum(p.completed), sum(p.input_tokens)
    from unnest(array['1 min', '5 min', '15 min', '1 h', '6 h', '1 day', '7 days']::interval[]) as s (step)
    cross join lateral forebay.metric_series(noon('-1 h'), noon('3 h'), p_step => s.step) as p
    group by s.step order by s.step $$,
    $$ values (interval '1 min', 240::bigint, 3::numeric, 1::numeric, 100::numeric), ('5 min', 48, 3, 1, 100),
        ('15 min', 16, 3, 1, 100), ('1 h', 4, 3, 1, 100), ('6 h', 2, 3, 1, 100), ('1 day', 1, 3, 1, 100),
        ('7 days', 1, 3, 1, 100) $$,
    'every step counts the same, from the rollups too'
);
select results_eq(
    $$ select s.step, sum(p.completed)
    from unnest(array['15 min', '1 h', '1 day']::interval[]) as s (step)
    cross join lateral forebay.metric_series(noon('-1 h'), noon('3 h'), p_customers => '{acme}', p_step => s.step) as p
    group by s.step order by s.step $$,
    $$ values (interval '15 min', 1::numeric), ('1 h', 1), ('1 day', 1) $$,
    'and those of a customer'
);
select results_eq(
    $$ select r.length, (
        select max(ends_at - starts_at) from forebay.metric_series(noon('-10 min'), noon('-10 min') + r.length)
    )
    from unnest(array['1 h', '9 h', '24 h', '4 days', '7 days', '90 days', '1 year']::interval[]) as r (length) $$,
    $$ values (interval '1 h', interval '1 min'), ('9 h', '5 min'), ('24 h', '15 min'), ('4 days', '1 h'),
        ('7 days', '6 h'), ('90 days', '24 h'), ('1 year', '168 h') $$,
    'the step is the shortest that gives at most 120 points'
);
select results_eq(
    $$ select max(ends_at - starts_at) from forebay.metric_series(noon(), noon('24 h'), p_customers => '{acme}') $$,
    array[interval '1 h'],
    'of a customer it is an hour from 10 hours on'
);
select results_eq(
    $$ select extract(isodow from starts_at at time zone 'UTC'), starts_at = date_trunc('day', starts_at, 'UTC')
    from forebay.metric_series(noon('-30 days'), noon('1 day'), p_step => '7 days') offset 1 limit 1 $$,
    $$ values (1::numeric, true) $$,
    'a week begins on Monday, in UTC'
);
select throws_ok(
    $$ select forebay.metric_series(noon(), noon('1 h'), p_step => '2 minutes') $$, '22023', null, 'not any step will do'
);
select throws_ok(
    $$ select forebay.metric_series(noon('-1000 minutes'), noon('1 h'), p_step => '1 minute') $$,
    '22023', null, 'there are at most 1,000 points'
);
select throws_ok($$ select forebay.metric_series(p_statuses => '{eaten}') $$, '22023', null, 'a status is known');
select throws_ok($$ select forebay.metric_series(p_agents => '{x}') $$, 'QF301', null, 'and so is an agent');
select only_callable_by('{viewer}', $$ select * from forebay.metric_series() $$);
select finish();
rollback;
