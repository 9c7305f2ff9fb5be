create or replace function forebay._take_look(p_attempt forebay.task_attempts, p_calls jsonb, p_is_partial boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Have the attempt's calls by traces be those that a look found: p_calls are all that the traces named in them tell of.
--
-- What a trace told of before and tells of no more was not seen rightly: a span came before the one that it is part of, or
-- before those that it sums up. A trace that the attempt names, and another as well, is not the attempt's: it is
-- no more, if the other came to name it later.
--
-- Writes  what report_usage writes
-- Errors  22023  a call is bad
declare
    v_calls forebay.attempt_usage[];
    v_call  forebay.attempt_usage;
begin
    select coalesce(array_agg(forebay._parse_usage(c.value || '{"source": "trace"}') order by c.ordinality), '{}') into v_calls
    from jsonb_array_elements(p_calls) with ordinality as c;
    perform forebay._drop_calls(p_attempt, array(
        select u.call_id from forebay.attempt_usage as u
        where u.attempt_id = p_attempt.attempt_id and u.source = 'trace'
            and u.call_id not in (select c.call_id from unnest(v_calls) as c)
            and (
                u.trace_id in (select c.trace_id from unnest(v_calls) as c)
                or (u.is_partial is not null and u.trace_id = p_attempt.trace_id and forebay._is_shared_trace(p_attempt))
            )
    ));
    foreach v_call in array v_calls loop
        v_call.is_partial := p_is_partial;
        perform forebay._take_usage(p_attempt, v_call);
    end loop;
    perform forebay._count_usage(p_attempt.attempt_id);
end;
$function$;

comment on function forebay._take_look is
'Have the attempt''s calls by traces be those that a look found: p_calls are all that the traces named in them tell of.';
