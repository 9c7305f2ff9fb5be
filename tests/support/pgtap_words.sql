-- What the SQL tests say beside pgTAP's own words, in schema tap: set-up, a clock that stands, who may call what.

create function tap.given(p_statement text)
    returns setof text
    language plpgsql
as $function$
-- Run a statement for what it does; its rows are nobody's TAP.
begin
    execute p_statement;
end;
$function$;

create function tap.noon(p_later interval default '0')
    returns timestamptz
    language sql
    immutable
as $function$
-- When the stopped clock stands at first, or so much later.
select timestamptz '2026-01-01 12:00:00+00' + p_later;
$function$;

create function tap.stop_clock()
    returns setof text
    language plpgsql
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Stop the time at noon, and number batches from 11, tasks from 1 and attempts from 101; until the rollback.
begin
    create or replace function forebay._now()
        returns timestamptz
        language sql
        volatile
        set search_path = pg_catalog, pg_temp
    as 'select pg_catalog.current_setting(''test.now'')::timestamptz';
    alter sequence forebay.batches_batch_id_seq restart with 11;
    alter sequence forebay.tasks_task_id_seq restart with 1;
    alter sequence forebay.task_attempts_attempt_id_seq restart with 101;
    perform set_config('test.now', tap.noon()::text, true);
end;
$function$;

create function tap.at_time(p_after_noon interval)
    returns setof text
    language plpgsql
as $function$
-- Move the stopped clock to so long after noon.
begin
    perform set_config('test.now', tap.noon(p_after_noon)::text, true);
end;
$function$;

create function tap.upload(p_number integer)
    returns uuid
    language sql
    immutable
as $function$
-- The id of a made-up upload.
select lpad(p_number::text, 32, '0')::uuid;
$function$;

create function tap.only_callable_by(p_callers text[], p_call text)
    returns text
    language plpgsql
as $function$
-- Assert that of all callers' roles exactly these may run p_call, and the others get 42501 for the function itself.
declare
    v_caller  text;
    v_allowed text[] := '{}';
    v_state   text;
    v_message text;
begin
    foreach v_caller in array array['submitter', 'worker', 'agent', 'operator', 'viewer', 'reader', 'upkeep'] loop
        begin
            perform set_config('role', 'forebay_' || v_caller, true);
            execute p_call;
            raise exception 'undo it';
        exception when others then
            get stacked diagnostics v_state = returned_sqlstate, v_message = message_text;
            if v_state <> '42501' or v_message !~ 'for function' then
                v_allowed := v_allowed || v_caller;
            end if;
        end;
    end loop;
    return tap.is(
        v_allowed, p_callers, format('of all roles only %s may call it', array_to_string(p_callers, ' and '))
    );
end;
$function$;
