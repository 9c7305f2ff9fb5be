create or replace function forebay._add_compute(p_attempt_ids bigint[])
    returns void
    language sql
    volatile
    security invoker
as $function$
-- Bring what the attempts' machines cost up to date with the records; the caller holds attempts and tasks.
--
-- Records of one source count, never of two: that of _compute_source. Where one of them has no price, the cost is unknown.
-- Without records an attempt that never ran cost nothing.
--
-- Writes  forebay.task_attempts
update forebay.task_attempts as a
set compute_usd = c.usd, is_compute_final = c.is_final
from (
    select
        held.attempt_id,
        case when bool_and(u.usd is not null) then sum(u.usd) when count(u.source) = 0 and never.ran then 0 end as usd,
        coalesce(bool_and(u.is_final), never.ran) as is_final
    from forebay.task_attempts as held
    cross join lateral forebay._never_ran(held) as never (ran)
    left join forebay.compute_usage as u
        on u.attempt_id = held.attempt_id and u.source = forebay._compute_source(held.attempt_id)
    where held.attempt_id = any(p_attempt_ids)
    group by held.attempt_id, never.ran
) as c
where a.attempt_id = c.attempt_id and (a.compute_usd, a.is_compute_final) is distinct from (c.usd, c.is_final);
$function$;

comment on function forebay._add_compute is 'Bring what the attempts'' machines cost up to date with the records; the caller holds attempts and tasks.';
