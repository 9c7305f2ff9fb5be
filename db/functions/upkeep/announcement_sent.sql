create or replace function forebay.announcement_sent(p_announcement_id uuid, p_error text default null)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say that an announcement was sent, or why not (p_error): then it is handed out again, after 10 seconds at first and twice as long each time.
--
-- The wait grows to an hour. A day after it was noted it is given up. What is settled stays so.
--
-- Returns    sent, waiting (it will be handed out again), given_up, or unknown
-- Writes     forebay.announcements
-- Locks      the announcement
-- Errors     22023  p_announcement_id is null
-- Called by  forebay_upkeep
declare
    v_now    timestamptz;
    v_answer forebay.announcements;
begin
    if p_announcement_id is null then
        raise exception 'p_announcement_id must not be null' using errcode = '22023';
    end if;
    select n.* into v_answer from forebay.announcements as n
    where n.announcement_id = p_announcement_id
    for no key update;
    if not found then
        return 'unknown';
    end if;
    v_now := forebay._now();
    if v_answer.settled_at is null then
        update forebay.announcements as n
        set last_error = left(p_error, 2000),
            next_try_at = v_now + least(interval '1 hour', interval '10 seconds' * 2 ^ least(greatest(n.tries, 1) - 1, 10)),
            settled_at = case when p_error is null or n.created_at <= v_now - interval '1 day' then v_now end
        where n.announcement_id = p_announcement_id
        returning n.* into v_answer;
    end if;
    return case
        when v_answer.settled_at is null then 'waiting' when v_answer.last_error is null then 'sent' else 'given_up'
    end;
end;
$function$;

comment on function forebay.announcement_sent is
'Say that an announcement was sent, or why not (p_error): then it is handed out again, after 10 seconds at first and twice as long each time.';
