create or replace function forebay._may_start(p_task forebay.tasks, p_at timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a dequeue at p_at would take the enqueued task if nothing changed before: it asks what dequeue asks.
--
-- The first 100 that may start are looked at: a task behind them depends on others anyway.
declare
    v_agent forebay.agents := forebay._get_effective(p_task.agent, p_at);
    v_room  integer := forebay._room(v_agent, p_at);
begin
    return p_task.available_at <= p_at
        and (v_agent.paused_until is null or v_agent.paused_until <= p_at)
        and v_room > 0
        and exists (
            select from unnest(forebay._pick(v_agent, least(v_room, 100), null, p_at, false)) as p
            where p.task_id = p_task.task_id
        );
end;
$function$;

comment on function forebay._may_start is 'Whether a dequeue at p_at would take the enqueued task if nothing changed before: it asks what dequeue asks.';
