create or replace function forebay._trace_state(p_traces forebay.attempt_traces)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- How far the search for an attempt's traces is: found, partial, awaited, or missing: given up.
select case
    when p_traces.is_whole then 'found'
    when p_traces.traces > 0 then 'partial'
    when p_traces.next_look_at is not null then 'awaited'
    else 'missing'
end;
$function$;

comment on function forebay._trace_state is 'How far the search for an attempt''s traces is: found, partial, awaited, or missing: given up.';
