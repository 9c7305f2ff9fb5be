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
select case
    when p_unit = 'concurrent_calls' then 1
    else greatest(
        case when p_unit = 'requests' then 1 else 0 end,
        coalesce(least(1, p_seconds * p_pace / nullif(p_uses.input_tokens + p_uses.output_tokens, 0)), 1) * case p_unit
            when 'requests' then p_uses.calls::double precision
            when 'input_tokens' then p_uses.input_tokens
            when 'output_tokens' then p_uses.output_tokens
            else p_uses.input_tokens + p_uses.output_tokens
        end
    )
end;
$function$;

comment on function forebay._need is 'How much of a quota''s unit a task that starts now will have used in p_seconds, at p_pace tokens a second (null: all of it).';
