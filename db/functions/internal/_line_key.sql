create or replace function forebay._line_key(p_agent text)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- The key of the advisory lock of those who put tasks in the agent's line: shared by all of them, so that a change of how
-- the line is kept, or how long it may be, comes before or after each.
select hashtextextended('forebay.line ' || p_agent, 0);
$function$;

comment on function forebay._line_key is 'The key of the advisory lock of those who put tasks in the agent''s line: shared by all of them, so that a change of how the line is kept, or how long it may be, comes before or after each.';
