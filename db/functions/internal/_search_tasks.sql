create or replace function forebay._search_tasks(p_search text, p_filter forebay.task_filter)
    returns forebay.task_filter
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Resolve a search: p_filter with the tasks, batches and customers that p_search means; one without words means all.
--
-- A number is the id of a task, batch or attempt. Anything may be a run, a launch token or an idempotency key, exactly; what
-- is no number also part of a batch's name or a customer. Of such batches the 1,000 latest count.
--
-- Errors  22023  p_search has more than 500 characters
declare
    v_search text := nullif(btrim(p_search), '');
    v_part   text := lower(v_search);
    v_number bigint := case when v_search ~ '^[0-9]{1,18}$' then v_search::bigint end;
    v_filter forebay.task_filter := p_filter;
begin
    if char_length(v_search) > 500 then
        raise exception 'p_search must have at most 500 characters' using errcode = '22023';
    end if;
    v_filter.is_search := v_search is not null;
    v_filter.found_tasks := array(
        select t.task_id from forebay.tasks as t where t.task_id = v_number
        union
        select a.task_id from forebay.task_attempts as a where a.attempt_id = v_number
        union
        select a.task_id from forebay.task_attempts as a where a.run_id = v_search
        union
        select a.task_id from forebay.task_attempts as a where a.launch_token = v_search
        union
        select t.task_id
        from forebay.agents as g
        inner join forebay.tasks as t on t.agent = g.agent and t.idempotency_key = v_search
    );
    v_filter.found_batches := array(
        select b.batch_id from forebay.batches as b
        where b.batch_id = v_number or (v_number is null and strpos(lower(b.name), v_part) > 0)
        order by b.batch_id desc
        limit 1000
    );
    v_filter.found_customers := array(
        select c.customer from forebay._customers_with_tasks() as c (customer)
        where v_number is null and strpos(lower(c.customer), v_part) > 0
    );
    return v_filter;
end;
$function$;

comment on function forebay._search_tasks is
'Resolve a search: p_filter with the tasks, batches and customers that p_search means; one without words means all.';
