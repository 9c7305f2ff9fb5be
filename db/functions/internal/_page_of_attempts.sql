create or replace function forebay._page_of_attempts(
    p_statuses  text[],
    p_agents    text[],
    p_from      timestamptz,
    p_to        timestamptz,
    p_before_at timestamptz,
    p_before_id bigint,
    p_limit     integer
)
    returns setof forebay.task_attempts
    language plpgsql
    stable
    security invoker
    rows 100
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- The newest attempts of statuses that are not good ends, of those before a moment and an id; read by status.
begin
    return query
    select newest.*
    from (select distinct w.status from unnest(p_statuses) as w (status)) as words
    cross join lateral (
        select a.* from forebay.task_attempts as a
        where a.status = words.status and a.status in ('failed', 'released', 'lost', 'superseded', 'cancelled')
            and (p_agents is null or a.agent = any(p_agents))
            and (p_from is null or a.started_at >= p_from)
            and (p_to is null or a.started_at < p_to)
            and (a.started_at, a.attempt_id) < (p_before_at, p_before_id)
        order by a.started_at desc, a.attempt_id desc
        limit p_limit
    ) as newest
    order by newest.started_at desc, newest.attempt_id desc
    limit p_limit;
end;
$function$;

comment on function forebay._page_of_attempts is
'The newest attempts of statuses that are not good ends, of those before a moment and an id; read by status.';
