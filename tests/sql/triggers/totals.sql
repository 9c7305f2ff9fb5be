-- What attempts used, cost and ran is added up on their task, whichever way they end.
begin;
select plan(9);
select stop_clock();
set local role forebay_owner;
create temporary view totals as
select
    t.used_input_tokens + t.used_output_tokens as tokens,
    t.used_cached_tokens as cached,
    t.cost_usd,
    t.ended_attempts as ended,
    t.measured_attempts as measured,
    t.priced_attempts as priced,
    t.run_time
from forebay.tasks as t;
select given($$ select forebay.register_agent('a'), forebay.enqueue('a', '{}') $$);
select given($$ select forebay.dequeue('w') $$);
select results_eq(
    $$ select * from totals $$,
    $$ values (0::bigint, 0::bigint, 0::numeric, 0, 0, 0, interval '0') $$,
    'an attempt that runs has told nothing yet'
);
select given($$
    select forebay.report_usage(101, '{"call_id": "1", "input_tokens": 10, "output_tokens": 5, "cached_tokens": 4}')
$$);
select results_eq(
    $$ select * from totals $$,
    $$ values (15::bigint, 4::bigint, 0::numeric, 0, 0, 0, interval '0') $$,
    'what it reports counts at once'
);
select at_time('10 s');
select given($$ select forebay.fail(101, '{}', p_retry_after => '0') $$);
select results_eq(
    $$ select * from totals $$,
    $$ values (15::bigint, 4::bigint, 0::numeric, 1, 1, 0, interval '10 s') $$,
    'its time when it has ended, and whether its usage is known'
);
select given($$ select forebay.dequeue('w') $$);
select at_time('15 s');
select given($$ select forebay.release(102, 'no room') $$);
select results_eq(
    $$ select * from totals $$,
    $$ values (15::bigint, 4::bigint, 0::numeric, 2, 2, 1, interval '15 s') $$,
    'one that was handed back before any call is known to have used nothing'
);
select given($$ select forebay.dequeue('w') $$);
select given($$ update forebay.task_attempts set lease_expires_at = noon() where attempt_id = 103 $$);
select at_time('20 s');
select given($$ select forebay.sweep() $$);
select results_eq(
    $$ select * from totals $$,
    $$ values (15::bigint, 4::bigint, 0::numeric, 3, 2, 1, interval '20 s') $$,
    'one that was lost is not'
);
select given($$
    select forebay.report_usage(103, '{"call_id": "1", "input_tokens": 1, "output_tokens": 1, "cost_usd": 0.5}')
$$);
select results_eq(
    $$ select * from totals $$,
    $$ values (17::bigint, 4::bigint, 0.5, 3, 3, 2, interval '20 s') $$,
    'until it reports'
);
select given($$ select forebay.dequeue('w') $$);
select at_time('30 s');
select given($$ select forebay.complete(103, '{}') $$);
select results_eq(
    $$ select * from totals $$,
    $$ values (17::bigint, 4::bigint, 0.5, 4, 3, 2, interval '40 s') $$,
    'one that succeeds after it was lost has run until then, and the one that it superseded has ended too'
);
select given($$ select forebay.report_usage(104, '{"call_id": "1", "input_tokens": 3, "output_tokens": 0}') $$);
select results_eq(
    $$ select tokens, measured from totals $$,
    $$ values (20::bigint, 4) $$,
    'and what it reports after the end counts'
);
select results_eq(
    $$ select tokens, cached, cost_usd, ended, run_time from totals $$,
    $$ select sum(used_input_tokens + used_output_tokens)::bigint, sum(used_cached_tokens)::bigint, sum(cost_usd),
        count(finished_at)::integer, sum(finished_at - started_at)
    from forebay.task_attempts $$,
    'all in all it is the sum of the attempts'
);
select finish();
rollback;
