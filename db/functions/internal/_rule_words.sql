create or replace function forebay._rule_words(p_answer forebay.task_explanation, p_task text)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- The two sides of a rule: what its subject has left, and what the task, which p_task names, needs.
select case p_answer.unit
    when 'tasks' then format(
        'agent %s runs %s of %s tasks at once', p_answer.subject,
        forebay._number_words(p_answer.amount - p_answer.has), forebay._number_words(p_answer.amount)
    )
    when 'usd' then format(
        'the cap of %s has %s of %s US dollars left for today and %s is expected to cost %s', p_answer.subject,
        forebay._number_words(p_answer.has), forebay._number_words(p_answer.amount),
        p_task, forebay._number_words(p_answer.needs)
    )
    else format(
        '%s%s has %s of %s %s left%s and %s needs %s',
        case p_answer.reason when 'quota' then 'quota ' when 'reserved' then '' else 'agent ' end, p_answer.subject,
        forebay._number_words(floor(p_answer.has)), forebay._number_words(p_answer.amount),
        concat_ws(' ', replace(p_answer.unit, '_', ' '), forebay._period_words(p_answer.period)),
        case p_answer.reason when 'quota' then ' for new tasks' end,
        p_task, forebay._number_words(ceil(p_answer.needs))
    )
end;
$function$;

comment on function forebay._rule_words is 'The two sides of a rule: what its subject has left, and what the task, which p_task names, needs.';
