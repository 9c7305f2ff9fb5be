create or replace function forebay._projected_usd(p_since timestamptz)
    returns table (agent text, customer text, usd numeric)
    language sql
    stable
    security invoker
as $function$
-- What attempts may cost beyond what is recorded of them: the open ones, and of those that ended since the ones that are untold.
--
-- Untold is an attempt with a call whose cost is unknown, or without any; and one that never reported its end, since it may
-- have made more calls than it could tell.
select a.agent, a.customer, greatest(a.expected_usd - coalesce(a.cost_usd, 0), 0)
from forebay.task_attempts as a
where a.finished_at is null
union all
select a.agent, a.customer, greatest(a.expected_usd - coalesce(a.cost_usd, 0), 0)
from forebay.task_attempts as a
where a.finished_at >= p_since and a.finished_at is not null and a.expected_usd > 0
    and (not a.is_cost_known or a.reported_at is null);
$function$;

comment on function forebay._projected_usd is 'What attempts may cost beyond what is recorded of them: the open ones, and of those that ended since the ones that are untold.';
