create or replace function forebay._run_outcome(p_launcher text, p_run jsonb)
    returns forebay.run_outcomes
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The row of run_outcomes that fits a run best: the fewest * wins; a state that no row names renews.
--
-- Errors  22023  a key of p_run is of a wrong type
declare
    v_outcome forebay.run_outcomes;
    v_life    text := forebay._json_text(p_run, 'life_cycle_state');
    v_result  text := coalesce(forebay._json_text(p_run, 'result_state'), '*');
    v_code    text := coalesce(forebay._json_text(p_run, 'termination_code'), '*');
begin
    select o.* into v_outcome
    from forebay.run_outcomes as o
    where o.launcher = p_launcher and o.life_cycle_state = v_life
        and o.result_state in (v_result, '*') and o.termination_code in (v_code, '*')
    order by (o.result_state = '*')::integer + (o.termination_code = '*')::integer, o.termination_code = '*'
    limit 1;
    if not found then
        v_outcome.outcome := 'renew';
        v_outcome.is_ended := false;
        v_outcome.may_report_yet := false;
        v_outcome.is_held_up := false;
    end if;
    return v_outcome;
end;
$function$;

comment on function forebay._run_outcome is 'The row of run_outcomes that fits a run best: the fewest * wins; a state that no row names renews.';
