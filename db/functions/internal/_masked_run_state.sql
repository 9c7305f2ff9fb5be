create or replace function forebay._masked_run_state(p_run jsonb)
    returns jsonb
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What was seen of a run without its text: the words for its state, result and code, and is_unclear. Null for nothing.
begin
    return (
        select jsonb_object_agg(said.key, said.value)
        from jsonb_each(p_run) as said
        where said.key in ('life_cycle_state', 'result_state', 'termination_code') and said.value #>> '{}' ~ '^[A-Z0-9_]{1,60}$'
            or said.key = 'is_unclear' and said.value = 'true'::jsonb
    );
end;
$function$;

comment on function forebay._masked_run_state is 'What was seen of a run without its text: the words for its state, result and code, and is_unclear. Null for nothing.';
