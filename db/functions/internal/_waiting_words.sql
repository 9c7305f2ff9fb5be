create or replace function forebay._waiting_words(
    p_answer forebay.task_explanation,
    p_task   forebay.tasks,
    p_now    timestamptz
)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The sentences for a reason to wait: the rule with its numbers, when room is expected, and how many tasks come before.
declare
    v_agent forebay.agents := forebay._get_effective(p_task.agent, p_now);
    v_words text;
begin
    v_words := case p_answer.reason
        when 'not_open' then 'This database is a branch or a restored copy, and no operator has opened it.'
        when 'closed' then format('A limit of agent %s is 0, which admits nothing.', v_agent.agent)
        when 'paused' then concat(forebay._pause_words(v_agent, p_now), ': ' || v_agent.pause_reason, '.')
        when 'held_up' then forebay._held_up_words(v_agent, p_now)
        when 'delayed' then format(
            'It is not due before %s%s.', forebay._moment_words(p_task.available_at, p_now),
            ': its last attempt ended with "' || (
                select a.error ->> 'message' from forebay.task_attempts as a
                where a.task_id = p_task.task_id and a.attempt_no = p_task.attempt_no
            ) || '"'
        )
        when 'deferred' then format(
            'A provider has refused it %s since %s, which spent no attempt; it is not due before %s.',
            case p_task.deferral_count when 1 then 'once' else p_task.deferral_count || ' times' end,
            forebay._moment_words(p_task.deferred_since, p_now), forebay._moment_words(p_task.available_at, p_now)
        )
        when 'ready' then format(
            'It is next in line: the next dequeue for agent %s takes it; %s.', v_agent.agent,
            coalesce(
                'the last one was at ' || forebay._moment_words((select max(d.last_claim_at) from forebay.dispatchers as d), p_now),
                'none was seen yet'
            )
        )
        when 'unreachable' then forebay._launcher_words(v_agent.launcher, p_now)
        when 'behind_others' then format('Agent %s has room for it; others come first.', v_agent.agent)
        when 'reserved' then format(
            'Task %s is before it and has waited so long that nobody passes it: %s; %s.',
            p_answer.task_id, p_answer.explanation, forebay._outlook_words(p_answer, p_task, p_now)
        )
        else format(
            '%s%s; %s.', upper(left(p_answer.explanation, 1)), substr(p_answer.explanation, 2),
            forebay._outlook_words(p_answer, p_task, p_now)
        )
    end;
    return v_words || forebay._ahead_words(p_answer.ahead);
end;
$function$;

comment on function forebay._waiting_words is
'The sentences for a reason to wait: the rule with its numbers, when room is expected, and how many tasks come before.';
