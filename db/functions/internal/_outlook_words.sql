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
--
-- That is 34 years, as far as _first_start looks.
declare
    v_last    forebay.task_explanation;
    v_expired bigint := case when p_answer.reason = 'full' then forebay._count_expired(p_answer.subject, p_now) end;
begin
    if p_answer.waiting_until is not null then
        return 'room is expected at ' || forebay._moment_words(p_answer.waiting_until, p_now);
    end if;
    v_last := forebay._waiting_reason(p_task, p_now + interval '34 years');
    return case
        when v_expired > 0 then format('the next dequeue takes back %s of them, whose workers are silent or late', v_expired)
        when v_last.explanation is null or v_last.reason = 'reserved' then 'others come first'
        when v_last.reason <> p_answer.reason then 'after that, ' || v_last.explanation
        when v_last.reason = 'spend_cap' then 'an operator can lift the cap for today'
        when v_last.has < 0 and not forebay._has_in_flight(v_last.subject)
            then 'it owes so much that it takes over 30 years, unless an operator takes the limit away and sets it again'
        else 'tasks that run have to end first'
    end;
end;
$function$;

comment on function forebay._outlook_words is
'What has to come before a task that waits can start: a moment, or what would still hinder it however long it waited.';
