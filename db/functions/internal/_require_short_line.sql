create or replace function forebay._require_short_line(p_agent forebay.agents)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse what was just enqueued when more tasks of the agent wait than may; those that are not due yet wait too.
--
-- Errors  QF403  more would wait than max_waiting
declare
    v_waiting bigint;
begin
    select count(*) into v_waiting
    from (
        (
            select 1 from forebay.tasks as t
            where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready
            limit p_agent.max_waiting::bigint + 1
        )
        union all
        (
            select 1 from forebay.tasks as t
            where t.agent = p_agent.agent and t.status = 'enqueued' and not t.is_ready
            limit p_agent.max_waiting::bigint + 1
        )
    ) as waiting;
    if v_waiting > p_agent.max_waiting then
        raise exception 'agent "%" has no room in its line: at most % of its tasks may wait', p_agent.agent, p_agent.max_waiting
            using errcode = 'QF403', hint = 'Nothing was enqueued. Try again when some have started.';
    end if;
end;
$function$;

comment on function forebay._require_short_line is 'Refuse what was just enqueued when more tasks of the agent wait than may; those that are not due yet wait too.';
