create or replace function forebay._fold_spend()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add the noted spending up by day, agent and customer; when somebody else is at it, leave it to them.
--
-- An entry is deleted and added in one statement: whoever reads both tables in one statement sees it once. Only the holder
-- of the lock writes here, so it never waits, and a rollback undoes both.
--
-- Writes  forebay.spend_entries, forebay.daily_spend
-- Locks   an advisory lock, without waiting
begin
    if not pg_try_advisory_xact_lock(hashtextextended('forebay.daily_spend', 0)) then
        return;
    end if;
    with folded as (
        delete from forebay.spend_entries as e returning e.*
    )
    insert into forebay.daily_spend as d (day, agent, customer, usd)
    select forebay._utc_day(f.spent_at), f.agent, f.customer, sum(f.usd)
    from folded as f
    group by forebay._utc_day(f.spent_at), f.agent, f.customer
    on conflict (day, agent, customer) do update set usd = d.usd + excluded.usd;
end;
$function$;

comment on function forebay._fold_spend is 'Add the noted spending up by day, agent and customer; when somebody else is at it, leave it to them.';
