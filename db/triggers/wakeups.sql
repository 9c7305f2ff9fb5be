-- The trigger of forebay.wakeups: what a transaction asked for is decided when it commits. 0014 makes the table anew.

create or replace function forebay._wake()
    returns trigger
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Notify at commit, as far as the budget of notifications allows.
--
-- At commit, so that a transaction that stays open or rolls back spends nothing of the budget, and is not silenced by
-- others that will be over by then. It runs as whoever commits, so it is security definer.
begin
    delete from forebay.wakeups as w where w.wakeup_id = new.wakeup_id;
    perform forebay._notify('forebay_changes', 'forebay.changes_notified_until');
    if new.is_work then
        perform forebay._notify('forebay_work', 'forebay.work_notified_until');
    end if;
    return null;
end;
$function$;

comment on function forebay._wake is 'Notify at commit, as far as the budget of notifications allows.';

drop trigger if exists wakeups_notify on forebay.wakeups;
create constraint trigger wakeups_notify
after insert on forebay.wakeups
deferrable initially deferred
for each row
execute function forebay._wake();
