create or replace function forebay.attempts_to_cost(p_limit integer default 1000)
    returns setof forebay.attempt_to_cost
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
as $function$
-- List ended attempts whose machine no source has told the cost of, those that ended first before the others.
--
-- Returns    at most p_limit rows; an attempt ran from started_at to finished_at
-- Errors     22023  p_limit is not from 1 to 10,000
-- Called by  forebay_upkeep
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    return query
    select a.attempt_id, a.task_id, a.agent, a.launcher, a.run_id, a.started_at, a.finished_at
    from forebay.task_attempts as a
    where a.finished_at is not null and a.compute_usd is null
        and not exists (select from forebay.compute_usage as u where u.attempt_id = a.attempt_id and u.usd is null)
    order by a.finished_at, a.attempt_id
    limit p_limit;
end;
$function$;

comment on function forebay.attempts_to_cost is 'List ended attempts whose machine no source has told the cost of, those that ended first before the others.';
