create or replace function forebay._quota_state(p_quota text, p_now timestamptz)
    returns setof forebay.quota_state
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The quota as of p_now, one row a limit in no set order; a single one without a unit when it has none.
declare
    v_agents text[] := array(select g.agent from forebay.agents as g where p_quota = any(g.quotas) order by g.agent);
    v_pause  timestamptz := (forebay._quota_throttle(p_quota, p_now)).paused_until;
begin
    return query
    with flight as materialized (
        select f.* from forebay._in_flight(array[p_quota]) as f
    )
    select
        p_quota, l.unit, l.period, l.kind, l.amount, l.effective, l.capacity - l.room, greatest(0, l.room),
        (
            select case
                when l.kind = 'count' then count(*)
                else coalesce(sum(forebay._within(
                    forebay._in_unit(l.unit, f.calls, f.input_tokens, f.output_tokens),
                    f.input_tokens + f.output_tokens, f.pace, extract(epoch from l.period)
                ))::numeric, 0)
            end
            from flight as f
        ),
        forebay._open_calls(p_quota, p_now),
        (
            select count(*) from forebay.task_attempts as a
            where a.agent = any(v_agents) and a.call_asked_at is not null and a.finished_at is null
                and a.call_quota = p_quota and forebay._still_asks(a.call_wait_until, p_now)
        ),
        v_pause, v_agents, case when l.unit is not null then floor(greatest(0, coalesce(rooms.room, l.room))) end
    from (select) as one
    left join forebay._quota_limits(array[p_quota], p_now) as l on true
    left join forebay._task_rooms(p_quota, p_now) as rooms on rooms.unit = l.unit and rooms.period = l.period;
end;
$function$;

comment on function forebay._quota_state is 'The quota as of p_now, one row a limit in no set order; a single one without a unit when it has none.';
