create or replace function forebay._rule_words(p_fit forebay.fit, p_task forebay.tasks)
    returns text
    language sql
    stable
    security invoker
as $function$
-- The two sides of the rule that hinders p_task, or one before it: what its subject has left, and what is needed.
select case p_fit.reason
    when 'full' then format(
        'agent %s runs %s of %s tasks at once%s', p_fit.subject,
        forebay._number_words(p_fit.amount - p_fit.has), forebay._number_words(p_fit.amount), forebay._configured_words(p_fit)
    )
    when 'spend_cap' then format(
        'the cap of %s %s has %s of %s US dollars left for today and this task is expected to cost %s',
        case when p_fit.subject = p_task.customer then 'customer' else 'agent' end, p_fit.subject,
        forebay._number_words(greatest(0, p_fit.has)), forebay._number_words(p_fit.amount), forebay._number_words(p_fit.needs)
    )
    else format(
        '%s %s has %s of %s%s left%s and %s needs %s',
        case p_fit.reason when 'quota' then 'quota' else 'agent' end, p_fit.subject,
        forebay._number_words(floor(greatest(0, p_fit.has))),
        concat_ws(
            ' ', forebay._number_words(p_fit.amount), replace(p_fit.unit, '_', ' '), forebay._period_words(p_fit.period)
        ),
        forebay._configured_words(p_fit),
        case p_fit.reason when 'quota' then ' for new tasks' end,
        case p_fit.task_id when p_task.task_id then 'this task' else 'that one' end, forebay._number_words(ceil(p_fit.needs))
    )
end;
$function$;

comment on function forebay._rule_words is
'The two sides of the rule that hinders p_task, or one before it: what its subject has left, and what is needed.';
