create or replace function forebay._output_share(p_agent text, p_tokens bigint)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of so many tokens are output, by what the agent has learned; rounded up.
declare
    v_learned forebay.learned := forebay._learned(p_agent);
begin
    return ceil(
        p_tokens::numeric * v_learned.output_permille / greatest(1, v_learned.input_permille + v_learned.output_permille)
    )::bigint;
end;
$function$;

comment on function forebay._output_share is 'How many of so many tokens are output, by what the agent has learned; rounded up.';
