create or replace function forebay._explain_waiting(p_task forebay.tasks)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say what keeps an enqueued task from starting, and the earliest moment at which it will start if nothing else changes.
--
-- The moment is not sought for a task that has a hundred before it: these start first in any case.
declare
    v_now    timestamptz := forebay._now();
    v_answer forebay.task_explanation;
begin
    v_answer := forebay._waiting_reason(p_task, v_now);
    if v_answer.reason not in ('not_open', 'closed', 'held_up', 'behind_others', 'unreachable', 'ready')
        and (v_answer.ahead < 100 or p_task.available_at > v_now or v_answer.reason = 'spend_cap') then
        v_answer.waiting_until := forebay._starts_at(p_task, v_now);
    end if;
    v_answer.explanation := forebay._waiting_words(v_answer, p_task, v_now);
    return v_answer;
end;
$function$;

comment on function forebay._explain_waiting is 'Say what keeps an enqueued task from starting, and the earliest moment at which it will start if nothing else changes.';
