create or replace function forebay._is_small(p_from timestamptz, p_to timestamptz)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether at most 10,000 tasks were created in a range, so that looking at each is quick.
select count(*) <= 10000
from (
    select from forebay.tasks as t
    where t.created_at >= p_from and t.created_at < p_to
    limit 10001
) as found;
$function$;

comment on function forebay._is_small is 'Whether at most 10,000 tasks were created in a range, so that looking at each is quick.';
