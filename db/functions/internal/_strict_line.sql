create or replace function forebay._strict_line(
    p_agent   forebay.agents,
    p_limit   integer,
    p_floor   integer,
    p_now     timestamptz,
    p_capped  text[],
    p_learned forebay.learned
)
    returns forebay.lined_up[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- A look at the line of an agent that goes by priority, then age, then id: _line without the tasks of p_capped.
declare
    v_floor integer := coalesce(p_floor, -32768);
begin
    return array(
        select forebay._lined_up(p_agent, h, p_learned, p_now)
        from (
            (
                select t.* from forebay.tasks as t
                where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready and t.priority >= v_floor
                    and (t.customer is null or t.customer <> all(p_capped))
                order by t.priority desc, t.created_at, t.task_id
                limit p_limit
            )
            union all
            select t.* from forebay.tasks as t
            where t.agent = p_agent.agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
                and t.priority >= v_floor and (t.customer is null or t.customer <> all(p_capped))
        ) as h
        order by h.priority desc, h.created_at, h.task_id
        limit p_limit
    );
end;
$function$;

comment on function forebay._strict_line is 'A look at the line of an agent that goes by priority, then age, then id: _line without the tasks of p_capped.';
