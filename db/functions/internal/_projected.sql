create or replace function forebay._projected(
    p_unit             text,
    p_unused           forebay.expected_use,
    p_share_per_second numeric,
    p_seconds          numeric
)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How much of a limit's unit an attempt in flight will still use within p_seconds; its open calls are not known: it counts as one.
select case
    when p_unit = 'concurrent_calls' then 1
    else forebay._in_unit(p_unit, (p_unused).calls, (p_unused).input_tokens, (p_unused).output_tokens)
        * coalesce(least(1, p_share_per_second * p_seconds), 1)
end;
$function$;

comment on function forebay._projected is 'How much of a limit''s unit an attempt in flight will still use within p_seconds; its open calls are not known: it counts as one.';
