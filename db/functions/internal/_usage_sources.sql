create or replace function forebay._usage_sources(p_attempt_id bigint)
    returns setof text
    language sql
    stable
    security invoker
as $function$
-- Which source counts for an attempt: the one that knows tokens or cost of more calls; no row when no call was reported.
--
-- Of two that know of as many, the one that knows input and output of more, then what more of them cost. But traces that may
-- have more to tell never replace a report that knows all its calls, except that of an attempt that ended without saying how:
-- it may have died before it told of all. It returns a set so that it is inlined where it is asked for many attempts.
select u.source
from forebay.attempt_usage as u
where u.attempt_id = p_attempt_id
group by u.source
order by
    (
        coalesce(bool_or(bool_or(u.is_partial)) over (), false)
        and u.source = 'agent' and bool_and(u.input_tokens is not null and u.output_tokens is not null)
        and not exists (
            select from forebay.task_attempts as a
            where a.attempt_id = p_attempt_id and a.finished_at is not null and a.reported_at is null
        )
    ) desc,
    count(*) filter (where (u.input_tokens is not null and u.output_tokens is not null) or u.usd is not null) desc,
    count(*) filter (where u.input_tokens is not null and u.output_tokens is not null) desc, count(u.usd) desc, u.source
limit 1;
$function$;

comment on function forebay._usage_sources is
'Which source counts for an attempt: the one that knows tokens or cost of more calls; no row when no call was reported.';
