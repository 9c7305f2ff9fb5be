create or replace function forebay._backoff(p_base interval, p_max interval, p_attempt_count integer)
    returns interval
    language sql
    volatile
    security invoker
as $function$
-- How long a task waits after its p_attempt_count-th spent attempt: doubling from p_base up to p_max, less up to a tenth.
--
-- In seconds as numeric, and with the exponent held at 60, so that no count overflows; the tenth is random, so that tasks
-- which failed together do not return together.
select make_interval(secs => (
    least(
        extract(epoch from p_max),
        extract(epoch from p_base) * power(2::numeric, least(greatest(p_attempt_count, 1) - 1, 60))
    ) * (1 - random()::numeric / 10)
)::double precision);
$function$;

comment on function forebay._backoff is 'How long a task waits after its p_attempt_count-th spent attempt: doubling from p_base up to p_max, less up to a tenth.';
