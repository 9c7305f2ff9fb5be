create or replace function forebay._halt(
    p_agent   forebay.agents,
    p_task    forebay.tasks,
    p_now     timestamptz,
    out words text,
    out lasts interval
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What keeps everything of an agent from starting, as its task in line meets it, in words, and for how long it will.
--
-- The words are for whoever submitted the task: why the agent is paused, or its launches fail, is not among them.
--
-- Returns  words are null where nothing does, or p_task is null; lasts is null where nobody can say
declare
    v_why forebay.task_explanation;
begin
    if p_task.task_id is null then
        return;
    end if;
    v_why := forebay._waiting_reason(p_task, p_now);
    if v_why.reason in ('not_open', 'closed', 'paused', 'held_up', 'spend_cap') then
        v_why.waiting_until := case v_why.reason
            when 'paused' then nullif(p_agent.paused_until, 'infinity')
            when 'spend_cap' then forebay._starts_at(p_task, p_now)
        end;
        v_why.ahead := null;
        words := case v_why.reason
            when 'paused' then forebay._pause_words(p_agent, p_now) || '.'
            when 'held_up' then format('Agent %s starts no more while its launches fail.', p_agent.agent)
            else forebay._waiting_words(v_why, p_task, p_now)
        end;
        lasts := v_why.waiting_until - p_now;
    end if;
end;
$function$;

comment on function forebay._halt is 'What keeps everything of an agent from starting, as its task in line meets it, in words, and for how long it will.';
