create or replace function forebay._require_read_committed(p_act text)
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that each statement of the transaction sees what was committed before it: under a lock, it must.
--
-- Errors  25001  it does not
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception '% must run at READ COMMITTED, not %', p_act, upper(current_setting('transaction_isolation'))
            using errcode = '25001', hint = 'Call it in a transaction of its own, at the default isolation level.';
    end if;
end;
$function$;

comment on function forebay._require_read_committed is 'Check that each statement of the transaction sees what was committed before it: under a lock, it must.';
