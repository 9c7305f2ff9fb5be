create or replace function forebay._wanted_statuses(p_filter forebay.task_filter)
    returns setof text
    language sql
    immutable
    security invoker
as $function$
-- The statuses that a filter lets through, each once.
select distinct words.status
from unnest(coalesce(p_filter.statuses, '{enqueued,processing,completed,failed,cancelled}')) as words (status);
$function$;

comment on function forebay._wanted_statuses is 'The statuses that a filter lets through, each once.';
