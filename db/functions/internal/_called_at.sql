create or replace function forebay._called_at(p_call forebay.attempt_usage, p_started_at timestamptz)
    returns timestamptz
    language sql
    immutable
    security invoker
as $function$
-- When a call of an attempt that started at p_started_at was made: as reported, but not before that and not after the report.
select least(p_call.recorded_at, greatest(coalesce(p_call.started_at, p_call.recorded_at), p_started_at));
$function$;

comment on function forebay._called_at is 'When a call of an attempt that started at p_started_at was made: as reported, but not before that and not after the report.';
