create or replace function forebay._ask_wakeup(p_is_work boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Ask for dashboards to be woken when this transaction commits, and dispatchers too if p_is_work; once is enough.
--
-- Writes  forebay.wakeups
declare
    v_marker text := pg_current_xact_id() || case when p_is_work then ' work' else ' changes' end;
begin
    if current_setting('forebay.wakeup', true) in (v_marker, pg_current_xact_id() || ' work') then
        return;
    end if;
    insert into forebay.wakeups (is_work) values (p_is_work);
    perform set_config('forebay.wakeup', v_marker, true);
end;
$function$;

comment on function forebay._ask_wakeup is 'Ask for dashboards to be woken when this transaction commits, and dispatchers too if p_is_work; once is enough.';
