create or replace function forebay._explain_waiting(p_task forebay.tasks)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say what keeps an enqueued task from starting: the first of the hindrances that dequeue would meet.
declare
    v_now    timestamptz := forebay._now();
    v_agent  forebay.agents := forebay._get_agent(p_task.agent);
    v_answer forebay.task_explanation;
begin
    v_answer.reason := forebay._agent_state(v_agent, v_now);
    if not forebay._may_dispatch() then
        v_answer.reason := 'not_open';
    elsif p_task.available_at > v_now and v_answer.reason <> 'paused' then
        v_answer.reason := 'delayed';
    end if;

    v_answer.ahead := case when v_answer.reason <> 'delayed' then forebay._count_ahead(p_task, v_now) end;
    if v_answer.reason = 'open' then
        v_answer.reason := case when v_answer.ahead > 0 then 'behind_others' else 'ready' end;
    end if;

    v_answer.waiting_until := case v_answer.reason
        when 'paused' then nullif(v_agent.paused_until, 'infinity')
        when 'delayed' then p_task.available_at
        when 'out_of_requests' then forebay._refilled_at(v_agent, null, v_now)
        when 'out_of_tokens' then forebay._refilled_at(v_agent, forebay._estimate(v_agent, forebay._head(v_agent.agent, v_now)), v_now)
    end;
    v_answer.explanation := forebay._waiting_words(v_answer, v_agent, p_task);
    return v_answer;
end;
$function$;

comment on function forebay._explain_waiting is 'Say what keeps an enqueued task from starting: the first of the hindrances that dequeue would meet.';
