create or replace function forebay._known_calls(p_attempt_id bigint, p_source text)
    returns bigint
    language sql
    stable
    security invoker
as $function$
-- Of how many calls a source knows what an attempt used.
select count(*)
from forebay.attempt_usage as u
where u.attempt_id = p_attempt_id and u.source = p_source
    and (u.input_tokens is not null and u.output_tokens is not null or u.pages is not null or u.cost_usd is not null);
$function$;

comment on function forebay._known_calls is 'Of how many calls a source knows what an attempt used.';
