-- customer_status: a customer's terms, and what it spends and has in line.
begin;
select plan(6);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.register_customer('gold', 5, 10), forebay.register_customer('new');
    select forebay.lift_spend_cap(p_customer => 'gold', p_extra_usd => 2);
    select forebay.enqueue('a', '{}', p_customer => 'gold') from generate_series(1, 3);
    select forebay.enqueue('a', '{}', p_customer => 'gold', p_run_after => noon('1 hour'));
    select forebay.enqueue('a', '{}', p_customer => 'other'), forebay.enqueue('a', '{}');
    select forebay.dequeue('w', p_batch_size => 2);
    update forebay.task_attempts set customer = 'gold', expected_usd = 1.5;
    select forebay.report_usage(101, '{"call_id": "1", "cost_usd": 0.25}');
    select forebay.complete(102, '{}')
$$);
set local role forebay_viewer;
select results_eq(
    $$ select * from forebay.customer_status() $$,
    $$ values
        ('gold', 5, 10::numeric, 2::numeric, 0.25::numeric, 2.75::numeric, 2::bigint, 1::bigint),
        ('new', 0, null, 0, 0, 0, 0, 0) $$,
    'each customer that has terms'
);
select results_eq(
    $$ select customer from forebay.customer_status('{new,other,null}') $$, $$ values ('new') $$, 'or some of them'
);
select is_empty($$ select * from forebay.customer_status('{}') $$, 'or none');
set local role forebay_owner;
select given($$ select forebay._fold_spend(); select at_time('13 hours') $$);
set local role forebay_viewer;
select results_eq(
    $$ select extra_usd, usd_today, usd_projected from forebay.customer_status('{gold}') $$,
    $$ values (0::numeric, 0::numeric, 1.25) $$,
    'a new day has spent nothing, but what is open may still cost, and what nobody told was of the other day'
);
set local role forebay_owner;
select results_eq(
    $$ select day, agent, customer, usd from forebay.daily_spend $$,
    $$ values ('2026-01-01'::date, 'a', 'gold', 0.25) $$,
    'yesterday is kept'
);
select only_callable_by('{viewer}', $$ select * from forebay.customer_status() $$);
select finish();
rollback;
