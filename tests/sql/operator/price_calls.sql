-- price_calls: calls that were made before their price was registered get the price that held then.
begin;
select plan(15);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 3);
    select forebay.dequeue('w', '{a}', 3);
    select forebay.report_usage(101, '[{"call_id": "1", "model": "m", "input_tokens": 1000000, "output_tokens": 0},
        {"call_id": "2", "model": "other", "input_tokens": 1, "output_tokens": 1},
        {"call_id": "3", "model": "m", "input_tokens": 1000000, "output_tokens": 0, "cost_usd": 7}]');
    select forebay.report_usage(102, '{"call_id": "1", "source": "trace", "model": "m", "input_tokens": 2000000,
        "output_tokens": 0, "list_usd": 9}');
    select forebay.report_usage(103, '{"call_id": "1", "model": "m", "input_tokens": 5}');
    select forebay.complete(attempt_id, '{}') from forebay.task_attempts
$$);
select results_eq(
    $$ select source, basis, usd from forebay.cost_sources() where part = 'llm' $$,
    $$ values ('agent', 'reported', 7::numeric), ('agent', 'unknown', null), ('trace', 'list_price', 9) $$,
    'without a price a call has what was told with it, a list price, or nothing'
);
select at_time('1 day');
select given($$
    select forebay.register_price('m', noon(), p_usd_per_m_input => 4.5, p_usd_per_m_output => 1);
    select forebay.register_price('other', p_usd_per_call => 1)
$$);
select is(
    (select sum(cost_usd) from forebay.task_attempts), 16::numeric, 'a price alone changes no call that was made before'
);
set local role forebay_operator;
select results_eq(
    $$ select forebay.price_calls('m', p_reason => 'late', p_actor => 'ann') $$, array[101, 102]::bigint[], 'until it is asked for'
);
set local role forebay_owner;
select results_eq(
    $$ select t.task_id, t.cost_usd, a.is_cost_known from forebay.tasks as t inner join forebay.task_attempts as a using (task_id)
    order by t.task_id $$,
    $$ values (1::bigint, 11.5, false), (2, 9, true), (3, 0, false) $$,
    'what a report told stays, and what lacks a number that the price needs is unknown still'
);
select results_eq(
    $$ select source, basis, usd from forebay.cost_sources() where part = 'llm' $$,
    $$ values ('agent', 'price', 4.5), ('agent', 'reported', 7), ('agent', 'unknown', null), ('trace', 'price', 9) $$,
    'the source is the registered price, also where it comes to what the list said'
);
select results_eq(
    $$ select forebay._utc_day(spent_at), sum(usd) from forebay.spend_entries group by 1 $$,
    $$ values (date '2026-01-01', 20.5) $$,
    'it is spent on the day of the calls'
);
select results_eq(
    $$ select actor, reason, details from forebay.audit_log where action = 'price_calls' $$,
    $$ values ('ann', 'late', '{"model": "m", "attempts": 2}'::jsonb) $$,
    'the log says who and why'
);
set local role forebay_operator;
select is_empty($$ select forebay.price_calls('m') $$, 'once is enough');
select is_empty($$ select forebay.price_calls('other') $$, 'a call of before a price began does not get it');
set local role forebay_owner;
select given($$
    select forebay.register_price('other', noon(), p_usd_per_call => 1);
    select forebay.report_usage(102, '{"call_id": "2", "source": "trace", "model": "other"}')
$$);
set local role forebay_operator;
select is_empty($$ select forebay.price_calls('other', 101) $$, 'those up to an attempt are left out');
select results_eq($$ select forebay.price_calls('other', p_limit => 1) $$, array[101]::bigint[], 'at most p_limit');
-- What a price makes known may make another source count.
set local role forebay_owner;
select given($$
    select forebay.enqueue('a', '{}'), forebay.dequeue('w', '{a}', 1);
    select forebay.report_usage(104, '[{"call_id": "1", "model": "late", "input_tokens": 500, "output_tokens": 50},
        {"call_id": "1", "source": "trace", "input_tokens": 500, "output_tokens": 51, "list_usd": 9}]');
    select forebay.register_price('late', noon(), p_usd_per_call => 1);
    select forebay.price_calls('late')
$$);
select results_eq(
    $$ select a.used_output_tokens, a.cost_usd, c.llm_usd from forebay.task_attempts as a, forebay.cost_by('model') as c
    where a.attempt_id = 104 and c.key = 'late' $$,
    $$ values (50::bigint, 1::numeric, 1::numeric) $$,
    'its tokens count then as well as its cost'
);
set local role forebay_operator;
select throws_ok($$ select forebay.price_calls(null) $$, '22023', null, 'a model is given');
select throws_ok($$ select forebay.price_calls('m', p_limit => 0) $$, '22023', null, 'a limit is at least 1');
select only_callable_by('{operator}', $$ select forebay.price_calls('m') $$);
select finish();
rollback;
