create or replace function forebay._hindrance_words(p_fit forebay.fit)
    returns text
    language sql
    stable
    security invoker
as $function$
-- What the task of p_fit lacks, with its id; null where no task is held up by what it needs.
select format('Task %s waits: %s.', t.task_id, forebay._rule_words(p_fit, t))
from forebay.tasks as t
where t.task_id = p_fit.task_id and p_fit.reason in ('out_of_tokens', 'quota', 'spend_cap');
$function$;

comment on function forebay._hindrance_words is
'What the task of p_fit lacks, with its id; null where no task is held up by what it needs.';
