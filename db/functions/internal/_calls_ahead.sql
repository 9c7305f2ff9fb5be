create or replace function forebay._calls_ahead(
    p_attempt    forebay.task_attempts,
    p_quota      text,
    p_unit       text,
    p_period     interval,
    p_need       numeric,
    p_now        timestamptz,
    out calls    bigint,
    out reserved numeric,
    out before   numeric
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The calls that wait for the quota since before the attempt's own call, and what they need of a limit.
--
-- A call is passed by those that fit until it has waited 20 s, or a third of the period if that is less; then it is
-- reserved: the later ones leave it its room. A call that waits for another quota holds its room here if this one had none
-- for it before, and the other will have some within this one's period: a quota that is full for long delays nobody
-- outside it. One that did not ask again within 5 s of its time has lost its place: a dead caller holds nobody up for
-- longer.
--
-- Returns  reserved: what nobody may take; before: what is expected to go first, the reserved ones and all not larger
declare
    v_patience interval := least(interval '20 seconds', nullif(p_period, '0') / 3);
begin
    select
        count(*),
        coalesce(sum(w.need) filter (where w.is_reserved), 0),
        coalesce(sum(w.need) filter (where w.is_reserved or w.need <= p_need), 0)
    into calls, reserved, before
    from (
        select
            forebay._in_unit(p_unit, 1, a.call_input_tokens, a.call_output_tokens) as need,
            a.call_asked_at <= p_now - v_patience as is_reserved
        from forebay.agents as g
        cross join lateral (
            select o.* from forebay.task_attempts as o
            where o.agent = g.agent and o.call_asked_at is not null and o.finished_at is null
            offset 0
        ) as a
        where p_quota = any(g.quotas) and a.attempt_id <> p_attempt.attempt_id
            and (a.call_quota = p_quota or p_quota = any(a.call_holds) and (
                a.call_free_at is null or a.call_free_at < p_now + greatest(p_period, interval '20 seconds')
            ))
            and (a.call_asked_at, a.attempt_id) < (coalesce(p_attempt.call_asked_at, p_now), p_attempt.attempt_id)
            and forebay._still_asks(a.call_wait_until, p_now)
    ) as w;
end;
$function$;

comment on function forebay._calls_ahead is 'The calls that wait for the quota since before the attempt''s own call, and what they need of a limit.';
