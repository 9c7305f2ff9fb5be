create or replace function forebay._add_compute(p_attempt_ids bigint[])
    returns void
    language sql
    volatile
    security invoker
as $function$
-- Bring what the attempts' machines cost up to date with the records; the caller holds attempts and tasks.
--
-- Records of one source count, never of two: that of _compute_source. Where one of them has no price, the cost is unknown.
--
-- Writes  forebay.task_attempts
update forebay.task_attempts as a
set compute_usd = c.usd, is_compute_final = c.is_final
from (
    select
        ids.attempt_id, case when bool_and(u.usd is not null) then sum(u.usd) end as usd,
        coalesce(bool_and(u.is_final), false) as is_final
    from unnest(p_attempt_ids) as ids (attempt_id)
    left join forebay.compute_usage as u
        on u.attempt_id = ids.attempt_id and u.source = forebay._compute_source(ids.attempt_id)
    group by ids.attempt_id
) as c
where a.attempt_id = c.attempt_id and (a.compute_usd, a.is_compute_final) is distinct from (c.usd, c.is_final);
$function$;

comment on function forebay._add_compute is 'Bring what the attempts'' machines cost up to date with the records; the caller holds attempts and tasks.';
