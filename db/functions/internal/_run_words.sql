create or replace function forebay._run_words(p_run jsonb)
    returns text
    language sql
    stable
    security invoker
as $function$
-- What the launcher saw of a run, or of its own call, in words.
select
    case p_run ->> 'life_cycle_state'
        when 'LAUNCH_FAILED' then 'launch failed with '
        when 'POLL_FAILED' then 'run not seen: '
        else 'run seen '
    end
    || concat_ws(
        ', ', nullif(nullif(p_run ->> 'life_cycle_state', 'LAUNCH_FAILED'), 'POLL_FAILED'), p_run ->> 'result_state',
        p_run ->> 'termination_code'
    )
    || coalesce(': ' || left(p_run ->> 'message', 500), '');
$function$;

comment on function forebay._run_words is 'What the launcher saw of a run, or of its own call, in words.';
