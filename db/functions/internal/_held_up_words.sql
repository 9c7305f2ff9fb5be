create or replace function forebay._held_up_words(p_agent forebay.agents, p_now timestamptz)
    returns text
    language sql
    stable
    security invoker
as $function$
-- Why an agent that is held up starts nothing, as a sentence: what became of its longest failing launch.
select format(
    'Agent %s starts no more while its launches fail, which worker %s tries again: %s.',
    p_agent.agent, a.worker, rtrim(forebay._run_words(a.run_state), '. ')
)
from forebay._failing_launches(p_agent, p_now) as a
order by a.attempt_id
limit 1;
$function$;

comment on function forebay._held_up_words is
'Why an agent that is held up starts nothing, as a sentence: what became of its longest failing launch.';
