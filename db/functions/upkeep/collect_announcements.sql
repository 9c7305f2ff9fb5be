create or replace function forebay.collect_announcements(
    p_oldest_waiting interval default '15 minutes',
    p_limit          integer default 100
)
    returns setof forebay.announcement
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Hand out what has to be told and nobody is telling: commit, send each, and call announcement_sent.
--
-- Told once each, when it begins: agent.paused, waiting.too_long (the oldest task of an agent waits for longer than
-- p_oldest_waiting), spend_cap.reached (of an agent or a customer, on a day) and batch.done (each time a batch gets done).
-- Pauses that a provider asks for within 5 minutes of one another are told as one. What is not called sent within a minute is
-- handed out again, to whoever asks; so the receiver has to know it by its id. In a copy that nobody has opened there is nothing
-- to tell.
--
-- Returns    one row an announcement, oldest first
-- Writes     forebay.announcements, forebay.announcement_marks
-- Locks      the announcements, skipping what somebody else holds
-- Errors     22023  p_oldest_waiting is null or not above 0, or p_limit is not from 1 to 1,000
--            25001  the transaction is not READ COMMITTED
-- Called by  forebay_upkeep
declare
    v_now timestamptz;
begin
    if p_oldest_waiting is null or p_oldest_waiting <= interval '0' then
        raise exception 'p_oldest_waiting must be above 0' using errcode = '22023';
    end if;
    perform forebay._require_between(p_limit, 'p_limit', 1, 1000);
    perform forebay._require_read_committed('collect_announcements');
    if not forebay._may_dispatch() then
        return;
    end if;
    perform forebay._note_announcements(forebay._exact(p_oldest_waiting));
    v_now := forebay._now();
    return query
    with leased as (
        update forebay.announcements as n
        set tries = n.tries + 1, next_try_at = v_now + interval '1 minute'
        where n.announcement_id in (
            select d.announcement_id from forebay.announcements as d
            where d.settled_at is null and d.next_try_at <= v_now
            order by d.next_try_at, d.announcement_id
            limit p_limit
            for no key update skip locked
        )
        returning n.*
    )
    select l.announcement_id, l.kind, l.subject, l.details, l.occurred_at, l.tries
    from leased as l
    order by l.occurred_at, l.announcement_id;
end;
$function$;

comment on function forebay.collect_announcements is
'Hand out what has to be told and nobody is telling: commit, send each, and call announcement_sent.';
