create or replace function forebay._need(
    p_unit    text,
    p_seconds double precision,
    p_uses    forebay.expected_use,
    p_pace    double precision
)
    returns double precision
    language sql
    immutable
    security invoker
as $function$
-- How much of a quota's unit a task that starts now will have used in p_seconds, at p_pace tokens a second (null: all of it).
--
-- At 0 seconds that is its first call.
select case
    when p_unit = 'concurrent_calls' then 1
    when p_seconds = 0 then forebay._in_unit(p_unit, 1, first_call.input_tokens, first_call.output_tokens)
    else greatest(
        case when p_unit = 'requests' then 1 else 0 end,
        forebay._within(
            forebay._in_unit(p_unit, p_uses.calls, p_uses.input_tokens, p_uses.output_tokens),
            p_uses.input_tokens + p_uses.output_tokens, p_pace, p_seconds
        )
    )
end
from forebay._first_call(p_uses) as first_call;
$function$;

comment on function forebay._need is 'How much of a quota''s unit a task that starts now will have used in p_seconds, at p_pace tokens a second (null: all of it).';
