create or replace function forebay._head_fits(p_agent forebay.agents, p_head forebay.tasks, p_now timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether the agent's bucket would admit the first task in its line, by a look without any lock; true when none waits.
declare
    v_tokens bigint := forebay._estimate(p_agent, p_head);
begin
    return p_agent.max_tpm is null or p_head.task_id is null or forebay._fits(
        1, v_tokens, v_tokens, (forebay._levels(p_agent, p_now)).tokens, forebay._token_burst(p_agent)
    );
end;
$function$;

comment on function forebay._head_fits is 'Whether the agent''s bucket would admit the first task in its line, by a look without any lock; true when none waits.';
