create or replace function forebay._next_call(
    p_attempt         forebay.task_attempts,
    out calls         numeric,
    out input_tokens  numeric,
    out output_tokens numeric
)
    language sql
    immutable
    security invoker
as $function$
-- The call that an attempt in flight waits for, or has yet to ask for as its first; nothing while it is between calls.
select
    case when p_attempt.call_asked_at is not null or not p_attempt.asks_first then 1 else 0 end,
    case
        when p_attempt.call_asked_at is not null then p_attempt.call_input_tokens
        when not p_attempt.asks_first then ceil(p_attempt.expected_input_tokens / greatest(1, p_attempt.expected_calls))
        else 0
    end,
    case
        when p_attempt.call_asked_at is not null then p_attempt.call_output_tokens
        when not p_attempt.asks_first then ceil(p_attempt.expected_output_tokens / greatest(1, p_attempt.expected_calls))
        else 0
    end;
$function$;

comment on function forebay._next_call is 'The call that an attempt in flight waits for, or has yet to ask for as its first; nothing while it is between calls.';
