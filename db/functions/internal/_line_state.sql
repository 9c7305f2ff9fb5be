create or replace function forebay._line_state(
    p_agent     text,
    p_now       timestamptz,
    out waiting bigint,
    out delayed bigint
)
    language sql
    stable
    security invoker
as $function$
-- How many of the agent's tasks wait, those that are due and not woken yet included; and how many are delayed.
select count(*) filter (where t.is_due), count(*) filter (where not t.is_due)
from (
    select true as is_due from forebay.tasks as r
    where r.agent = p_agent and r.status = 'enqueued' and r.is_ready
    union all
    select d.available_at <= p_now from forebay.tasks as d
    where d.agent = p_agent and d.status = 'enqueued' and not d.is_ready
) as t;
$function$;

comment on function forebay._line_state is
'How many of the agent''s tasks wait, those that are due and not woken yet included; and how many are delayed.';
