create or replace function forebay._remaining(
    p_attempt         forebay.task_attempts,
    out calls         numeric,
    out input_tokens  numeric,
    out output_tokens numeric
)
    language sql
    stable
    security invoker
as $function$
-- What an attempt in flight is still expected to use, beyond what it has used and what its calls were granted.
--
-- A call that is over without known numbers keeps its grant, and is one of the used calls already.
select
    greatest(0, p_attempt.expected_calls - p_attempt.used_calls - count(*) filter (where not c.is_over)),
    greatest(0, p_attempt.expected_input_tokens - p_attempt.used_input_tokens - coalesce(sum(c.input_tokens), 0)),
    greatest(0, p_attempt.expected_output_tokens - p_attempt.used_output_tokens - coalesce(sum(c.output_tokens), 0))
from forebay.attempt_calls as c
where c.attempt_id = p_attempt.attempt_id;
$function$;

comment on function forebay._remaining is
'What an attempt in flight is still expected to use, beyond what it has used and what its calls were granted.';
