create or replace function forebay._set_shared(p_agent forebay.agents)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Let the tasks of an agent that serves its customers in turns be found by customer; those of others may be found so too.
--
-- Writes  forebay.tasks.is_shared
-- Locks   the tasks, by id
begin
    if not p_agent.is_fair_by_customer then
        return;
    end if;
    with alone as (
        select t.task_id from forebay.tasks as t
        where t.agent = p_agent.agent and t.status in ('enqueued', 'processing') and not t.is_shared
        order by t.task_id
        for no key update
    )
    update forebay.tasks as t
    set is_shared = true
    from alone
    where t.task_id = alone.task_id;
end;
$function$;

comment on function forebay._set_shared is 'Let the tasks of an agent that serves its customers in turns be found by customer; those of others may be found so too.';
