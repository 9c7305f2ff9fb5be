create or replace function forebay._add_compute(p_attempt_ids bigint[])
    returns void
    language sql
    volatile
    security invoker
as $function$
-- Bring what the attempts' machines cost up to date with the records; the caller holds attempts and tasks.
--
-- Records of one source count, never of two: 'local', which is an estimate, only where there is no other. An estimate that ends
-- before the attempt does was made by an end that has moved since, and does not count.
--
-- Writes  forebay.task_attempts
update forebay.task_attempts as a
set compute_usd = c.usd, is_compute_final = c.is_final
from (
    select distinct on (ids.attempt_id)
        ids.attempt_id, sum(u.usd) as usd, coalesce(bool_and(u.is_final), false) as is_final
    from unnest(p_attempt_ids) as ids (attempt_id)
    inner join forebay.task_attempts as o on o.attempt_id = ids.attempt_id
    left join forebay.compute_usage as u
        on u.attempt_id = ids.attempt_id and (u.source <> 'local' or coalesce(u.ended_at >= o.finished_at, true))
    group by ids.attempt_id, u.source
    order by ids.attempt_id, u.source = 'local', u.source
) as c
where a.attempt_id = c.attempt_id and (a.compute_usd, a.is_compute_final) is distinct from (c.usd, c.is_final);
$function$;

comment on function forebay._add_compute is 'Bring what the attempts'' machines cost up to date with the records; the caller holds attempts and tasks.';
