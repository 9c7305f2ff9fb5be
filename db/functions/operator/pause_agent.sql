create or replace function forebay.pause_agent(
    p_agent  text,
    p_until  timestamptz default null,
    p_reason text default null,
    p_actor  text default null
)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Let an agent start nothing until p_until (null: until it is resumed); what runs goes on. p_agent null means every agent.
--
-- With p_agent null, agents that are paused as long or longer already stay as they are, time and reason: they are not counted.
--
-- Returns    how many agents were paused
-- Writes     forebay.agents, forebay.audit_log
-- Locks      the agents, by name: it waits for admissions that are under way
-- Errors     22023  p_until is not in the future
--            QF301  no such agent
-- Called by  forebay_operator
begin
    if p_agent is not null then
        perform forebay._get_agent(p_agent);
    end if;
    if p_until <= forebay._now() then
        raise exception 'p_until must be in the future, not %', p_until
            using errcode = '22023', hint = 'forebay.resume_agent ends a pause.';
    end if;
    return forebay._pause(p_agent, coalesce(p_until, 'infinity'), p_reason, p_actor);
end;
$function$;

comment on function forebay.pause_agent is 'Let an agent start nothing until p_until (null: until it is resumed); what runs goes on. p_agent null means every agent.';
