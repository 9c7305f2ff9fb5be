"""Faults in quotas: what a call may, and what counts against a limit."""

from __future__ import annotations

from concurrency import test_quotas as quotas
from concurrency.faults.fault import INTERNAL, Fault

FAULTS = [
    Fault(
        "a call takes no lock of its quotas",
        f"{INTERNAL}/_lock_quotas.sql",
        "order by q.quota for no key update;",
        "order by q.quota;",
        quotas.test_a_grant_waits_for_the_grant_under_way,
    ),
    Fault(
        "a crowd without the quotas' locks",
        f"{INTERNAL}/_lock_quotas.sql",
        "order by q.quota for no key update;",
        "order by q.quota;",
        quotas.test_a_grant_sees_the_grant_before,
        (quotas.window(1000),),
    ),
    Fault(
        "a crowd at a count without the quotas' locks",
        f"{INTERNAL}/_lock_quotas.sql",
        "order by q.quota for no key update;",
        "order by q.quota;",
        quotas.test_a_crowd_never_calls_more_at_once,
    ),
    Fault(
        "quotas locked in the agent's order",
        f"{INTERNAL}/_lock_quotas.sql",
        "perform 1 from forebay.quotas as q where q.quota = any(p_agent.quotas) order by"
        " q.quota for no key update;",
        "perform 1 from unnest(p_agent.quotas) with ordinality as n (quota, place) cross join"
        " lateral"
        " (select from forebay.quotas as q where q.quota = n.quota for no key update) as q"
        " where (p_agent.agent = 'a' and place = 1 or p_agent.agent = 'b' and place = 2);"
        " perform 1 from forebay.quotas as q where q.quota = any(p_agent.quotas) order by"
        " q.quota for no key update;",
        quotas.test_agents_that_share_two_quotas_crosswise,
    ),
    Fault(
        "settlements are dropped",
        f"{INTERNAL}/_fold_quota.sql",
        "            sum(forebay._in_unit(l.unit, g.requests",
        "            0 * sum(forebay._in_unit(l.unit, g.requests",
        quotas.test_usage_replaces_the_grant,
    ),
    Fault(
        "a bucket saves what is beyond its burst",
        f"{INTERNAL}/_bucket_level.sql",
        "v_level := forebay._refill(v_level, p_capacity, v_per_minute,",
        "v_level := forebay._refill(v_level, 'infinity', v_per_minute,",
        quotas.test_a_bucket_refills_to_its_burst_before_a_report_and_not_beyond,
    ),
    Fault(
        "a bucket's level is a level of long ago",
        f"{INTERNAL}/_fold_quota.sql",
        "set level = v.room, refilled_at = greatest(p_now, l.refilled_at)",
        "set level = v.room",
        quotas.test_a_bucket_refills_to_its_burst_before_a_report_and_not_beyond,
    ),
    Fault(
        "usage settles the quotas of now",
        f"{INTERNAL}/_settle_call.sql",
        "coalesce(v_grant.quotas, (",
        "coalesce((",
        quotas.test_usage_settles_the_quotas_that_were_charged,
        (quotas.window(1000),),
    ),
    Fault(
        "a window counts calls of before",
        f"{INTERNAL}/_fold_quota.sql",
        " and g.called_at >= l.since",
        "",
        quotas.test_a_limit_counts_no_calls_of_before,
        (quotas.window(1000),),
    ),
    Fault(
        "a window shows calls of before",
        f"{INTERNAL}/_window_used.sql",
        " and s.called_at >= l.since",
        "",
        quotas.test_a_limit_counts_no_calls_of_before,
        (quotas.window(1000),),
    ),
    Fault(
        "a bucket counts calls of before",
        f"{INTERNAL}/_bucket_level.sql",
        " and s.called_at >= p_limit.since",
        "",
        quotas.test_a_limit_counts_no_calls_of_before,
        (quotas.bucket(1250),),
    ),
    Fault(
        "a slot counts from its beginning",
        f"{INTERNAL}/_window_length.sql",
        "p_period + p_period / 120 +",
        "p_period +",
        quotas.test_a_wait_ends_when_it_said,
    ),
    Fault(
        "nothing for the way to the provider",
        f"{INTERNAL}/_window_length.sql",
        " + least(p_period / 30, interval '250 milliseconds')",
        "",
        quotas.test_a_wait_ends_when_it_said,
    ),
    Fault(
        "only the first quota decides",
        f"{INTERNAL}/_call_hindrance.sql",
        "from forebay._quota_limits(p_quotas, p_now) as l",
        "from forebay._quota_limits(p_quotas[1:1], p_now) as l",
        quotas.test_two_quotas_are_charged_both_or_neither,
    ),
    Fault(
        "a waiting call is charged",
        "functions/agent/may_call.sql",
        "        perform forebay._hold_call(",
        "        perform forebay._grant_call(v_attempt, v_agent.quotas, p_call_id, p_tokens, 0,"
        " v_now); perform forebay._hold_call(",
        quotas.test_two_quotas_are_charged_both_or_neither,
    ),
    Fault(
        "no reservation for a call that has waited",
        f"{INTERNAL}/_calls_ahead.sql",
        "a.call_asked_at <= p_now - v_patience as is_reserved",
        "false as is_reserved",
        quotas.test_a_call_that_has_waited_long_is_passed_by_nobody,
    ),
    Fault(
        "a dead caller keeps its place",
        f"{INTERNAL}/_calls_ahead.sql",
        "and forebay._still_asks(a.call_wait_until, p_now)",
        "",
        quotas.test_a_call_that_has_waited_long_is_passed_by_nobody,
    ),
    Fault(
        "a reservation in every quota of the agent",
        f"{INTERNAL}/_calls_ahead.sql",
        "where a.call_quota = p_quota and",
        "where exists (select from forebay.agents as g where g.agent = a.agent"
        " and p_quota = any(g.quotas)) and a.call_quota is not null and",
        quotas.test_a_call_that_waits_for_one_quota_holds_no_room_in_another,
    ),
    Fault(
        "all are woken at once",
        f"{INTERNAL}/_call_hindrance.sql",
        "least(of_limit.needs + ahead.before, l.capacity) - l.room",
        "least(of_limit.needs, l.capacity) - l.room",
        quotas.test_those_who_wait_are_woken_one_after_the_other,
    ),
    Fault(
        "no end for a call larger than its limit",
        f"{INTERNAL}/_call_hindrance.sql",
        "of_limit.needs > l.capacity and l.room >= l.capacity and l.capacity > 0 and"
        " ahead.reserved = 0",
        "false",
        quotas.test_a_call_larger_than_its_limit_goes_when_nothing_counts,
        (quotas.window(100),),
    ),
    Fault(
        "a limit of zero is idle",
        f"{INTERNAL}/_call_hindrance.sql",
        " and l.capacity > 0",
        "",
        quotas.test_a_limit_of_zero_lets_nothing_through,
    ),
    Fault(
        "an open call is charged again",
        f"{INTERNAL}/_grant_call.sql",
        " and not coalesce(bool_or(c.call_id = p_call_id and not c.is_over), false)",
        "",
        quotas.test_a_call_asked_for_twice_is_charged_once,
    ),
    Fault(
        "the report does not close the call",
        f"{INTERNAL}/_settle_call.sql",
        "set is_over = true,",
        "set is_over = false,",
        quotas.test_a_call_is_over_with_its_report_even_when_its_use_is_unknown,
    ),
    Fault(
        "unknown use is none",
        f"{INTERNAL}/_settle_call.sql",
        "coalesce(p_new.output_tokens - coalesce(p_old.output_tokens,",
        "coalesce(coalesce(p_new.output_tokens, 0) - coalesce(p_old.output_tokens,",
        quotas.test_a_call_is_over_with_its_report_even_when_its_use_is_unknown,
    ),
    Fault(
        "the client's clock decides",
        f"{INTERNAL}/_called_at.sql",
        "least(p_call.recorded_at, greatest(coalesce(p_call.started_at, p_call.recorded_at),"
        " p_started_at))",
        "coalesce(p_call.started_at, p_call.recorded_at)",
        quotas.test_calls_that_nobody_asked_for_count_when_they_were_made,
    ),
    Fault(
        "a settlement counts when it is folded",
        f"{INTERNAL}/_settle_call.sql",
        "v_call.called_at := coalesce(v_grant.granted_at,",
        "v_call.called_at := coalesce(forebay._now(),",
        quotas.test_usage_replaces_the_grant,
    ),
    Fault(
        "a crashed attempt keeps its place among the calls",
        f"{INTERNAL}/_open_calls.sql",
        " and o.finished_at is null",
        "",
        quotas.test_a_crash_keeps_the_grant_until_it_has_left_the_window,
    ),
    Fault(
        "an attempt that has ended calls on",
        "functions/agent/may_call.sql",
        "if v_attempt.finished_at is not null then",
        "if false then",
        quotas.test_a_crash_keeps_the_grant_until_it_has_left_the_window,
    ),
    Fault(
        "a new limit forgets what counts",
        "functions/operator/register_quota.sql",
        "= (l.unit, l.period, l.kind)",
        "= (l.unit, l.period, 'x')",
        quotas.test_a_limit_lowered_below_what_is_in_flight_drains,
    ),
    Fault(
        "reports lock the quotas",
        "functions/agent/report_usage.sql",
        "    v_usage   jsonb;",
        "    v_usage   jsonb; v_x integer := (select count(*) from (select from forebay.quotas"
        " for no key update) as q);",
        quotas.test_a_report_waits_for_no_quota,
    ),
    Fault(
        "calls lock the quota before the attempt",
        "functions/agent/may_call.sql",
        "    perform 1 from forebay.task_attempts as a where a.attempt_id = p_attempt_id for no"
        " key update;\n    perform forebay._lock_quotas(v_agent, true);",
        "    perform forebay._lock_quotas(v_agent, true);\n    perform 1 from"
        " forebay.task_attempts as a where a.attempt_id = p_attempt_id for no key update;",
        quotas.test_a_long_transaction_on_an_attempt_holds_up_no_quota,
    ),
    Fault(
        "a sweep waits for quotas",
        f"{INTERNAL}/_forget_calls.sql",
        "for no key update skip locked loop",
        "for no key update loop",
        quotas.test_a_report_waits_for_no_quota,
    ),
    Fault(
        "claims take no lock of their quotas",
        f"{INTERNAL}/_lock_quotas.sql",
        "order by q.quota for no key update nowait;",
        "order by q.quota;",
        quotas.test_a_claim_waits_for_calls_and_calls_for_a_claim,
    ),
    Fault(
        "what is in flight will use nothing",
        f"{INTERNAL}/_projected_rooms.sql",
        ")), 0) as amount",
        ")) * 0, 0) as amount",
        quotas.test_a_long_task_takes_what_it_uses_within_the_period,
    ),
    Fault(
        "a quota counts the calls of one agent",
        f"{INTERNAL}/_calls_to_come.sql",
        "where g.quotas && p_quotas and (",
        "where g.quotas && p_quotas and g.agent = 'a' and (",
        quotas.test_a_slow_task_needs_room_for_its_first_call,
    ),
    Fault(
        "open tasks take no place among the calls",
        f"{INTERNAL}/_projected_rooms.sql",
        "when l.kind = 'count' then l.effective - uses.attempts",
        "when l.kind = 'count' then l.effective",
        quotas.test_claims_of_agents_that_do_not_ask_share_the_quota,
        (quotas.concurrent(10),),
    ),
    Fault(
        "a task may start on what a bucket will have",
        f"{INTERNAL}/_projected_rooms.sql",
        "on moments.part = 0 or l.kind <> 'count'",
        "on (moments.part = 0) = (l.kind = 'count')",
        quotas.test_claims_of_agents_that_do_not_ask_share_the_quota,
        (quotas.bucket(1250),),
    ),
    Fault(
        "claims do not see the calls that wait",
        f"{INTERNAL}/_supplied_rooms.sql",
        " - ahead.needs)::double precision",
        ")::double precision",
        quotas.test_claims_keep_asking_agents_supplied,
    ),
    Fault(
        "claims supply for ever",
        f"{INTERNAL}/_supplied_rooms.sql",
        "ahead.needs = 0, 0::double precision",
        "true, 0::double precision",
        quotas.test_claims_keep_asking_agents_supplied,
    ),
]
