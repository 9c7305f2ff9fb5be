create or replace function forebay._mask_attempts(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit attempts after the id p_after with their calls, and return the last one's id; null when there are no more.
--
-- One that holds its claim keeps the worker's name, the launch token and the ids of its open calls, which it is known by: in a
-- branch there is none.
--
-- Writes  forebay.task_attempts, forebay.attempt_usage, forebay.attempt_calls, forebay.masked_names
-- Locks   the attempts, by id
declare
    v_ids bigint[];
begin
    select array_agg(locked.attempt_id) into v_ids from (
        select a.attempt_id from forebay.task_attempts as a
        where p_after is null or a.attempt_id > p_after::bigint
        order by a.attempt_id
        limit p_limit
        for update
    ) as locked;

    update forebay.task_attempts as a
    set customer = forebay._alias('customer', a.customer),
        worker = case when a.finished_at is null then a.worker else forebay._alias('worker', a.worker) end,
        launch_token = case when a.finished_at is null then a.launch_token else 'masked ' || a.attempt_id end,
        run_state = forebay._masked_run_state(a.run_state), error = forebay._masked_error(a.error),
        result = case when a.result is not null then '{}'::jsonb end
    where a.attempt_id = any(v_ids);
    update forebay.attempt_usage as u set call_id = 'call ' || forebay._chance()
    where u.attempt_id = any(v_ids) and u.call_id !~ '^call [0-9a-f]{12}$';
    update forebay.attempt_calls as c set call_id = 'call ' || forebay._chance()
    from forebay.task_attempts as a
    where a.attempt_id = c.attempt_id and a.attempt_id = any(v_ids) and c.call_id !~ '^call [0-9a-f]{12}$'
        and (c.is_over or a.finished_at is not null);
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_attempts is
'Mask the next p_limit attempts after the id p_after with their calls, and return the last one''s id; null when there are no more.';
