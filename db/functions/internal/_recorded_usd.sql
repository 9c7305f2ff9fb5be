create or replace function forebay._recorded_usd(p_day date)
    returns table (agent text, customer text, usd numeric)
    language sql
    stable
    security invoker
as $function$
-- What was spent on a UTC day, in parts: what was added up, and what still waits for that; customer '' is none.
select d.agent, d.customer, d.usd
from forebay.daily_spend as d
where d.day = p_day
union all
select e.agent, e.customer, e.usd
from forebay.spend_entries as e
where forebay._utc_day(e.spent_at) = p_day;
$function$;

comment on function forebay._recorded_usd is 'What was spent on a UTC day, in parts: what was added up, and what still waits for that; customer '''' is none.';
