create or replace function forebay._may_start(p_task forebay.tasks, p_at timestamptz, p_is_alone boolean)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a dequeue at p_at would take the enqueued task if nothing changed before: it asks what dequeue asks.
--
-- With p_is_alone as if no other task waited. Else those before it are looked at, 100 at most: a task behind as many depends
-- on others anyway.
declare
    v_agent   forebay.agents := forebay._get_effective(p_task.agent, p_at);
    v_room    integer := forebay._room(v_agent, p_at);
    v_limit   integer;
    v_learned forebay.learned;
begin
    if p_task.available_at > p_at or v_room = 0 or forebay._is_stopped(v_agent, p_at) then
        return false;
    elsif p_is_alone then
        v_learned := forebay._learned(v_agent.agent);
        return (forebay._fitting(v_agent, array[forebay._lined_up(v_agent, p_task, v_learned, p_at)], 1, p_at)).places <> '{}';
    end if;
    v_limit := least(v_room, forebay._count_ahead(p_task, p_at) + 1, 100)::integer;
    return exists (
        select from unnest(forebay._pick(v_agent, v_limit, null, p_at, false)) as p where p.task_id = p_task.task_id
    );
end;
$function$;

comment on function forebay._may_start is 'Whether a dequeue at p_at would take the enqueued task if nothing changed before: it asks what dequeue asks.';
