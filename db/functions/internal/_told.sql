create or replace function forebay._told(p_fit forebay.fit, p_task forebay.tasks)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- A rule that hinders p_task, or a task before it, in the columns of explain_task; explanation is the rule in words.
declare
    v_told forebay.task_explanation;
begin
    v_told.task_id := p_fit.task_id;
    v_told.reason := p_fit.reason;
    v_told.explanation := forebay._rule_words(p_fit, p_task);
    v_told.subject := p_fit.subject;
    v_told.unit := p_fit.unit;
    v_told.period := p_fit.period;
    v_told.needs := p_fit.needs;
    v_told.has := p_fit.has;
    v_told.amount := p_fit.amount;
    return v_told;
end;
$function$;

comment on function forebay._told is
'A rule that hinders p_task, or a task before it, in the columns of explain_task; explanation is the rule in words.';
