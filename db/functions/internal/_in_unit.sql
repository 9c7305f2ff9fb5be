create or replace function forebay._in_unit(p_unit text, p_calls numeric, p_input numeric, p_output numeric)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How much so many calls and tokens count in a limit's unit.
select case p_unit
    when 'tokens' then p_input + p_output
    when 'input_tokens' then p_input
    when 'output_tokens' then p_output
    else p_calls
end;
$function$;

comment on function forebay._in_unit is 'How much so many calls and tokens count in a limit''s unit.';
