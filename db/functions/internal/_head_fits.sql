create or replace function forebay._head_fits(p_agent forebay.agents, p_now timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether the bucket would admit the first task in line, by a look without any lock; true when none is in line yet.
begin
    return (
        select p_agent.max_tpm is null or coalesce((
            select forebay._fits(1, head.tokens, head.tokens, (forebay._levels(p_agent, p_now)).tokens, forebay._token_burst(p_agent))
            from forebay._head_tokens(p_agent) as head (tokens)
            where head.tokens is not null
        ), true)
    );
end;
$function$;

comment on function forebay._head_fits is 'Whether the bucket would admit the first task in line, by a look without any lock; true when none is in line yet.';
