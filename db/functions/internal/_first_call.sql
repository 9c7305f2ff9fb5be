create or replace function forebay._first_call(p_uses forebay.expected_use)
    returns forebay.expected_use
    language sql
    immutable
    security invoker
as $function$
-- What the first call of a task is expected to use: the calls share its tokens evenly.
select (
    1, ceil((p_uses).input_tokens / greatest(1, (p_uses).calls)), ceil((p_uses).output_tokens / greatest(1, (p_uses).calls)), null
)::forebay.expected_use;
$function$;

comment on function forebay._first_call is 'What the first call of a task is expected to use: the calls share its tokens evenly.';
