create or replace function forebay._usage_source(p_attempt_id bigint)
    returns text
    language sql
    stable
    security invoker
as $function$
-- Which source counts for an attempt: the one that knows input and output of more calls; null when no call was reported.
--
-- Of two that know the same, the one that knows what more calls cost: not every call is paid by tokens.
select u.source
from forebay.attempt_usage as u
where u.attempt_id = p_attempt_id
group by u.source
order by count(*) filter (where u.input_tokens is not null and u.output_tokens is not null) desc, count(u.usd) desc, u.source
limit 1;
$function$;

comment on function forebay._usage_source is 'Which source counts for an attempt: the one that knows input and output of more calls; null when no call was reported.';
