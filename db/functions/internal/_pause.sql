create or replace function forebay._pause(p_agent text, p_until timestamptz, p_reason text, p_actor text)
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Pause an agent, or every one (p_agent null), until p_until; null resumes. Say how many changed.
--
-- Where every agent is paused, one that is paused as long or longer already keeps its time and its reason. Resuming also
-- ends the pauses that a provider asked for.
--
-- Writes  forebay.agents, forebay.audit_log, forebay.refusals
-- Locks   the agents, by name: it waits for admissions that are under way
declare
    v_agent   text := p_agent;
    v_changed text[];
    v_now     timestamptz;
begin
    perform forebay._lock_definition(v_agent);
    v_now := forebay._now();

    with changed as (
        update forebay.agents as a
        set paused_until = p_until, pause_reason = case when p_until is not null then p_reason end
        where (v_agent is null or a.agent = v_agent)
            and (v_agent is not null or p_until is null or a.paused_until is null or a.paused_until < p_until)
            and (
                p_until is not null or a.paused_until is not null
                or (forebay._throttle(a, v_now)).paused_until is not null
            )
        returning a.agent
    )
    select array_agg(c.agent order by c.agent) into v_changed from changed as c;
    perform forebay._audit(
        case when p_until is null then 'resume_agent' else 'pause_agent' end, null, changed.agent, p_reason, p_actor,
        case when p_until is not null then jsonb_build_object('until', p_until) end
    )
    from unnest(v_changed) as changed (agent);
    if p_until is null then
        perform forebay._end_refusals(v_changed, v_now);
    end if;
    return coalesce(cardinality(v_changed), 0);
end;
$function$;

comment on function forebay._pause is 'Pause an agent, or every one (p_agent null), until p_until; null resumes. Say how many changed.';
