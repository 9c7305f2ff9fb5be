create or replace function forebay._expect(p_agent forebay.agents, p_learned forebay.learned, p_estimated_tokens bigint)
    returns forebay.expected_use
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What an attempt at a task of that estimate is expected to use.
declare
    v_tokens bigint := coalesce(p_estimated_tokens, p_agent.default_estimated_tokens);
begin
    return (1, v_tokens, 0, 0)::forebay.expected_use;
end;
$function$;

comment on function forebay._expect is 'What an attempt at a task of that estimate is expected to use.';
