create or replace function forebay._used_nothing(p_call forebay.attempt_usage)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a call is known to have used nothing, as one that the provider refused: it needs no price.
select coalesce(p_call.input_tokens + p_call.output_tokens + coalesce(p_call.pages, 0) = 0, false);
$function$;

comment on function forebay._used_nothing is
'Whether a call is known to have used nothing, as one that the provider refused: it needs no price.';
