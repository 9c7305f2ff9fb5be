create or replace function forebay._outlook_words(
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
-- What has to come before a task that waits can start: a moment, or what would still hinder it however long it waited.
declare
    v_last forebay.task_explanation;
begin
    if p_answer.waiting_until is not null then
        return 'room is expected at ' || forebay._moment_words(p_answer.waiting_until, p_now);
    end if;
    v_last := forebay._waiting_reason(p_task, p_now + interval '36500 days');
    return case
        when v_last.explanation is null or v_last.reason = 'reserved' then 'others come first'
        when v_last.reason <> p_answer.reason then 'after that, ' || v_last.explanation
        when v_last.reason = 'spend_cap' then 'an operator can lift the cap for today'
        else 'tasks that run have to end first'
    end;
end;
$function$;

comment on function forebay._outlook_words is
'What has to come before a task that waits can start: a moment, or what would still hinder it however long it waited.';
