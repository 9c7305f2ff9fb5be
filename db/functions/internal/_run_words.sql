create or replace function forebay._run_words(p_run jsonb)
    returns text
    language sql
    stable
    security invoker
as $function$
-- What the launcher saw of a run, in words.
select
    'run seen ' || concat_ws(', ', p_run ->> 'life_cycle_state', p_run ->> 'result_state', p_run ->> 'termination_code')
    || coalesce(': ' || left(p_run ->> 'message', 500), '');
$function$;

comment on function forebay._run_words is 'What the launcher saw of a run, in words.';
