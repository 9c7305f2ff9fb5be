-- report_usage: of a session that says what it used so far the largest numbers count, and a retry gets what came on top (CO7).
begin;
select plan(9);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_attempts => 3);
    select forebay.register_price('m', p_usd_per_m_input => 1, p_usd_per_m_output => 10);
    select forebay.enqueue('a', '{}');
    select forebay.dequeue('w')
$$);
prepare of_attempts as
select a.attempt_id, a.used_input_tokens, a.used_output_tokens, a.used_cached_tokens, a.cost_usd, a.is_usage_known
from forebay.task_attempts as a
order by a.attempt_id;
select given($$
    select forebay.report_usage(101, '{"call_id": "s", "model": "m", "input_tokens": 900000, "output_tokens": 10,
        "cached_tokens": 100, "is_cumulative": true}');
    select forebay.report_usage(101, '{"call_id": "s", "input_tokens": 2000000, "output_tokens": 100000,
        "is_cumulative": true}')
$$);
select results_eq(
    'of_attempts', $$ values (101::bigint, 2000000::bigint, 100000::bigint, 100::bigint, 3.0, true) $$,
    'what it used since is more of the same call'
);
select is(
    forebay.report_usage(101, '{"call_id": "s", "input_tokens": 900000, "output_tokens": 10, "is_cumulative": true}'),
    0, 'an older report that comes late changes nothing'
);
select given($$
    select forebay.fail(101, '{"kind": "x", "message": "x"}');
    update forebay.tasks set available_at = forebay._now();
    select forebay.dequeue('w')
$$);
select is(
    forebay.report_usage(102, '{"call_id": "s", "model": "m", "input_tokens": 5000000, "output_tokens": 700000,
        "cached_tokens": 200, "is_cumulative": true}'),
    1, 'a retry that goes on with the session tells of all of it'
);
select results_eq(
    'of_attempts', $$ values (101::bigint, 2000000::bigint, 100000::bigint, 100::bigint, 3.0, true),
        (102, 3000000, 600000, 100, 9.0, true) $$,
    'and used what came on top: the attempts are the session, added up'
);
select is(
    forebay.report_usage(101, '{"call_id": "s", "input_tokens": 2500000, "output_tokens": 200000, "is_cumulative": true}'),
    0, 'what the first attempt tells after that is in it'
);
select given($$
    select forebay.report_usage(102, '{"call_id": "s", "input_tokens": 5000001, "is_cumulative": true}');
    select forebay.report_usage(102, '{"call_id": "t", "model": "m", "output_tokens": 7, "is_cumulative": true}')
$$);
select results_eq(
    'of_attempts', $$ values (101::bigint, 2000000::bigint, 100000::bigint, 100::bigint, 3.0, true),
        (102, 3000001, 600007, 100, 9.000001, false) $$,
    'another session is another call, and what it does not tell is unknown'
);
select results_eq(
    $$ select sum(usd), count(*) from forebay.spend_entries $$, $$ values (12.000001, 4::bigint) $$, 'all is spent once'
);
select throws_ok(
    $$ select forebay.report_usage(102, '{"call_id": "s", "is_cumulative": "yes"}') $$, '22023', null, 'it is true or false'
);
select results_eq(
    $$ select cost_usd, used_input_tokens from forebay.tasks $$, $$ values (12.000001, 5000001::bigint) $$,
    'the task cost what the session cost'
);
select finish();
rollback;
