create or replace function forebay._note_announcements(p_oldest_waiting interval)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note what began since the last look, and end what holds no more; when somebody else is at it, leave it to them.
--
-- A condition that holds is noted once, by the index of current ones. Pauses of a provider that follow one another within 5
-- minutes are one. What was settled a week ago is forgotten.
--
-- Writes  forebay.announcements, forebay.announcement_marks
-- Locks   an advisory lock, without waiting
declare
    v_now   timestamptz := forebay._now();
    v_found forebay.condition[];
begin
    if not pg_try_advisory_xact_lock(hashtextextended('forebay.announcements', 0)) then
        return;
    end if;
    v_found := array(select c from forebay._conditions(p_oldest_waiting, v_now) as c);
    insert into forebay.announcements (kind, subject, occurrence, details, occurred_at, created_at, next_try_at)
    select f.kind, f.subject, f.occurrence, f.details, f.occurred_at, v_now, v_now
    from (select c.* from unnest(v_found) as c union all select b.* from forebay._batches_done(v_now) as b) as f
    on conflict (kind, subject, occurrence) where ended_at is null do nothing;

    update forebay.announcements as n set ended_at = v_now
    where n.ended_at is null and n.kind in ('agent.paused', 'waiting.too_long')
        and not exists (select from unnest(v_found) as f where f.kind = n.kind and f.subject = n.subject)
        and not (
            n.kind = 'agent.paused' and exists (
                select from forebay.agents as a
                where a.agent = n.subject
                    and (forebay._throttle(a, v_now - interval '5 minutes')).paused_until is not null
            )
        );
    delete from forebay.announcements as n
    where n.settled_at < v_now - interval '7 days' and n.occurred_at < v_now - interval '14 days'
        and (n.ended_at is not null or n.kind in ('spend_cap.reached', 'batch.done'));
end;
$function$;

comment on function forebay._note_announcements is
'Note what began since the last look, and end what holds no more; when somebody else is at it, leave it to them.';
