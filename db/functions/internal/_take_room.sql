create or replace function forebay._take_room(
    p_rooms  forebay.quota_room[],
    p_quotas text[],
    p_uses   forebay.expected_use,
    p_pace   double precision
)
    returns forebay.quota_room[]
    language sql
    immutable
    security invoker
as $function$
-- What a task that starts now, and draws on p_quotas, leaves of the rooms.
select array(
    select
        (
            r.quota, r.unit, r.period, r.amount, r.takes_any and not draws.is_so, r.seconds,
            r.room - case when draws.is_so then forebay._need(r.unit, r.seconds, p_uses, p_pace) else 0 end
        )::forebay.quota_room
    from unnest(p_rooms) as r
    cross join lateral (select r.quota = any(p_quotas) as is_so) as draws
);
$function$;

comment on function forebay._take_room is 'What a task that starts now, and draws on p_quotas, leaves of the rooms.';
