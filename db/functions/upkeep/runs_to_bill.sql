create or replace function forebay.runs_to_bill(
    p_run_ids          text[] default null,
    p_source           text default 'billing',
    p_after_attempt_id bigint default 0,
    p_limit            integer default 1000,
    p_places           text[] default null
)
    returns setof forebay.run_to_bill
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
as $function$
-- List runs that a bill may tell of: ours among p_run_ids, or (null) those of which it may tell more than it has.
--
-- These are runs whose cost is not final, and those that were not settled when the bill was read last, and of which it told
-- nothing: the rows of one whose id came to be known late have come before.
-- What has no price is never final. Only runs that a launcher outside the driver started. A run id is of one workspace:
-- p_places are the names of the one whose bill it is, and runs that are known to be elsewhere are none of it; null: runs of
-- anywhere. One that several attempts of there have recorded belongs to the latest of them. Who has read its rows records
-- all of them, those of before too.
--
-- Returns    at most p_limit rows, by attempt, after p_after_attempt_id
-- Errors     22023  p_source or p_after_attempt_id is null, or p_limit is not from 1 to 10,000
-- Called by  forebay_upkeep
declare
    v_latency       interval := (forebay._limits()).billing_latency;
    v_settled_until timestamptz := forebay._now() - v_latency;
    v_read_until    timestamptz := (select s.as_of from forebay.compute_sources as s where s.source = p_source);
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if p_source is null or p_after_attempt_id is null then
        raise exception 'p_source and p_after_attempt_id must be given' using errcode = '22023';
    end if;
    return query
    select a.attempt_id, a.run_id, a.started_at, a.finished_at, coalesce(a.finished_at <= v_settled_until, false)
    from forebay.task_attempts as a
    where a.attempt_id > p_after_attempt_id and forebay._is_external(a.launcher)
        and (p_places is null or coalesce(a.place = any(p_places), true))
        and (
            p_run_ids is not null and a.run_id = any(p_run_ids)
            or p_run_ids is null and a.run_id is not null and a.attempt_id in (
                select u.attempt_id from forebay.compute_usage as u
                where u.source = p_source and not u.is_final and u.attempt_id > p_after_attempt_id
                union all
                select untold.attempt_id from forebay.task_attempts as untold
                where untold.compute_usd is null and untold.finished_at > v_read_until - v_latency
            )
        )
        and not exists (
            select from forebay.task_attempts as later
            where later.run_id = a.run_id and later.attempt_id > a.attempt_id and forebay._is_external(later.launcher)
                and (p_places is null or coalesce(later.place = any(p_places), true))
        )
    order by a.attempt_id
    limit p_limit;
end;
$function$;

comment on function forebay.runs_to_bill is
'List runs that a bill may tell of: ours among p_run_ids, or (null) those of which it may tell more than it has.';
