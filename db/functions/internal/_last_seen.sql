create or replace function forebay._last_seen(p_before jsonb, p_run jsonb)
    returns jsonb
    language sql
    immutable
    security invoker
as $function$
-- The words for what a look before one that failed saw of a run; null if p_run is no such look, or there was none before.
--
-- p_before is the run_state of its attempt until now.
select case
    when p_run ->> 'life_cycle_state' <> 'POLL_FAILED' or p_before ->> 'life_cycle_state' = 'LAUNCH_FAILED' then null
    when p_before ->> 'life_cycle_state' = 'POLL_FAILED' then p_before -> 'last_seen'
    else (
        select jsonb_object_agg(said.word, p_before -> said.word)
        from unnest(array['life_cycle_state', 'result_state', 'termination_code']) as said (word)
        where p_before ? said.word
    )
end;
$function$;

comment on function forebay._last_seen is
'The words for what a look before one that failed saw of a run; null if p_run is no such look, or there was none before.';
