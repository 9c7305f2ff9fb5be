create or replace function forebay._task_filter(
    p_from           timestamptz,
    p_to             timestamptz,
    p_statuses       text[],
    p_agents         text[],
    p_customers      text[],
    p_batch_id       bigint,
    p_search         text,
    p_max_confidence numeric
)
    returns forebay.task_filter
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Which tasks are asked for: the filters, checked, and the search, resolved. What is null lets all through.
--
-- Statuses without agents are those of all agents, by name: so they are found by the index of both.
--
-- Errors  22023  a status does not exist, p_agents holds null, p_max_confidence is not from 0 to 1, p_search is too long
--         QF301, QF302  no such agent or batch
declare
    v_agents text[] := p_agents;
    v_filter forebay.task_filter;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    if p_batch_id is not null then
        perform forebay._get_batch(p_batch_id);
    end if;
    if p_max_confidence not between 0 and 1 then
        raise exception 'p_max_confidence must be from 0 to 1' using errcode = '22023';
    end if;
    if p_statuses is not null then
        v_agents := coalesce(v_agents, array(select a.agent from forebay.agents as a));
    end if;
    v_filter := (
        p_from, p_to, p_statuses, v_agents, p_customers, p_batch_id, p_max_confidence, false, '{}', '{}', '{}'
    )::forebay.task_filter;
    return forebay._search_tasks(p_search, v_filter);
end;
$function$;

comment on function forebay._task_filter is
'Which tasks are asked for: the filters, checked, and the search, resolved. What is null lets all through.';
