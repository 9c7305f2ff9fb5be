create or replace function forebay._pause_words(p_agent forebay.agents, p_now timestamptz)
    returns text
    language sql
    stable
    security invoker
as $function$
-- That an agent is paused and until when, without the reason, which operators write for each other.
select format(
    'Agent %s is paused until %s', p_agent.agent,
    coalesce(forebay._moment_words(nullif(p_agent.paused_until, 'infinity'), p_now), 'it is resumed')
);
$function$;

comment on function forebay._pause_words is
'That an agent is paused and until when, without the reason, which operators write for each other.';
