create or replace function forebay._take_room(
    p_rooms forebay.quota_room[],
    p_uses  forebay.expected_use,
    p_pace  double precision
)
    returns forebay.quota_room[]
    language sql
    immutable
    security invoker
as $function$
-- What a task that starts now leaves of the quotas' rooms.
select array(
    select
        (
            r.quota, r.unit, r.period, r.amount, false, r.seconds,
            r.room - forebay._need(r.unit, r.seconds, p_uses, p_pace)
        )::forebay.quota_room
    from unnest(p_rooms) as r
);
$function$;

comment on function forebay._take_room is 'What a task that starts now leaves of the quotas'' rooms.';
