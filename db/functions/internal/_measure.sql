create or replace function forebay._measure(p_attempt_id bigint)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add up what the attempt's calls used, on its row; the caller holds it and its task.
--
-- An unknown number adds nothing, and then the usage as a whole is not known, nor is it by a trace that may have more to
-- tell. A call that used nothing, such as one that the provider refused, is none.
--
-- Writes  forebay.task_attempts
declare
    v_source text := forebay._usage_source(p_attempt_id);
begin
    update forebay.task_attempts as a
    set used_input_tokens = used.input_tokens, used_output_tokens = used.output_tokens,
        used_cached_tokens = used.cached_tokens, used_calls = used.calls, is_usage_known = used.is_known
    from (
        select
            coalesce(sum(u.input_tokens), 0)::bigint as input_tokens,
            coalesce(sum(u.output_tokens), 0)::bigint as output_tokens,
            coalesce(sum(u.cached_tokens), 0)::bigint as cached_tokens,
            (count(*) filter (where u.input_tokens + u.output_tokens is distinct from 0 or u.pages > 0))::integer as calls,
            coalesce(
                bool_and(u.input_tokens is not null and u.output_tokens is not null and u.is_partial is not true), false
            ) as is_known
        from forebay.attempt_usage as u
        where u.attempt_id = p_attempt_id and u.source = v_source
    ) as used
    where a.attempt_id = p_attempt_id;
end;
$function$;

comment on function forebay._measure is 'Add up what the attempt''s calls used, on its row; the caller holds it and its task.';
