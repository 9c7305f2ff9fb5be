create or replace function forebay._task_rooms(
    p_quota    text,
    p_now      timestamptz,
    out unit   text,
    out period interval,
    out room   numeric
)
    returns setof record
    language sql
    stable
    security invoker
as $function$
-- How much of each limit of the quota a new task could take: of the agent that may take most, within the whole period.
select rooms.unit, rooms.period, max(rooms.room)::numeric
from (
    select r.unit, r.period, min(r.room) as room
    from forebay.agents as a
    cross join lateral forebay._get_effective(a.agent, p_now) as g
    cross join lateral forebay._quota_rooms(g, p_now) as r
    where p_quota = any(a.quotas) and r.quota = p_quota
    group by a.agent, r.unit, r.period
) as rooms
group by rooms.unit, rooms.period;
$function$;

comment on function forebay._task_rooms is
'How much of each limit of the quota a new task could take: of the agent that may take most, within the whole period.';
