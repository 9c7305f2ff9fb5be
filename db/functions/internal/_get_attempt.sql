create or replace function forebay._get_attempt(p_attempt_id bigint)
    returns forebay.task_attempts
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The attempt of that id.
--
-- Errors  22023  p_attempt_id is null
--         QF304  there is none
declare
    v_attempt forebay.task_attempts;
begin
    if p_attempt_id is null then
        raise exception 'p_attempt_id must not be null' using errcode = '22023';
    end if;
    select a.* into v_attempt from forebay.task_attempts as a where a.attempt_id = p_attempt_id;
    if not found then
        raise exception 'attempt % does not exist', p_attempt_id
            using errcode = 'QF304', hint = 'forebay.dequeue answers with attempt_id beside task_id.';
    end if;
    return v_attempt;
end;
$function$;

comment on function forebay._get_attempt is 'The attempt of that id.';
