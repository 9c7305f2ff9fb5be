create or replace function forebay._turn_cost(p_uses forebay.expected_use)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How far a task moves its customer's count: by the tokens that it is expected to use, one at least.
select greatest(1, p_uses.input_tokens + p_uses.output_tokens)::numeric;
$function$;

comment on function forebay._turn_cost is 'How far a task moves its customer''s count: by the tokens that it is expected to use, one at least.';
