create or replace function forebay._projected_usd(p_since timestamptz)
    returns table (agent text, customer text, usd numeric)
    language sql
    stable
    security invoker
as $function$
-- What attempts may cost beyond what is recorded of them: the open ones, and those that ended since and whose cost nobody told.
select a.agent, a.customer, greatest(a.expected_usd - coalesce(a.cost_usd, 0), 0)
from forebay.task_attempts as a
where a.finished_at is null
union all
select a.agent, a.customer, a.expected_usd
from forebay.task_attempts as a
where a.finished_at >= p_since and a.finished_at is not null and a.cost_usd is null and a.expected_usd > 0;
$function$;

comment on function forebay._projected_usd is 'What attempts may cost beyond what is recorded of them: the open ones, and those that ended since and whose cost nobody told.';
