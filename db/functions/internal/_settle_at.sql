create or replace function forebay._settle_at(p_worker text, p_launcher text, p_place text)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note where p_worker starts runs with a launcher, and let go of its attempts that run elsewhere.
--
-- Writes  forebay.dispatchers.places, forebay.task_attempts.lease_expires_at
-- Locks   the attempts, by id
-- Errors  22023  p_place is empty or too long
declare
    v_now timestamptz;
begin
    if char_length(p_place) not between 1 and 500 then
        raise exception 'p_place must have 1 to 500 characters' using errcode = '22023';
    end if;
    insert into forebay.dispatchers as d (worker, first_seen_at, places)
    values (p_worker, forebay._now(), jsonb_build_object(p_launcher, p_place))
    on conflict (worker) do update set places = d.places || excluded.places;

    perform 1 from forebay.task_attempts as a
    where a.finished_at is null and a.worker = p_worker and a.launcher = p_launcher
        and not forebay._is_known_as(a.place, p_place)
    order by a.attempt_id
    for no key update;
    v_now := forebay._now();
    update forebay.task_attempts as a
    set lease_expires_at = least(a.lease_expires_at, v_now)
    where a.finished_at is null and a.worker = p_worker and a.launcher = p_launcher
        and not forebay._is_known_as(a.place, p_place);
end;
$function$;

comment on function forebay._settle_at is
'Note where p_worker starts runs with a launcher, and let go of its attempts that run elsewhere.';
