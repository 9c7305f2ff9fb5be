-- The trigger of forebay.late_wakeups: a transaction that was silenced and then stayed open speaks when it commits.

create or replace function forebay._notify_late()
    returns trigger
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Notify at commit for a transaction that was silenced more than 20 ms ago: the others' wake-ups may be over by now.
--
-- It runs at commit as whoever commits, so it is security definer.
begin
    delete from forebay.late_wakeups as w where w.wakeup_id = new.wakeup_id;
    if new.silenced_at < clock_timestamp() - interval '20 milliseconds' then
        perform pg_notify(new.channel, '');
    end if;
    return null;
end;
$function$;

comment on function forebay._notify_late is 'Notify at commit for a transaction that was silenced more than 20 ms ago: the others'' wake-ups may be over by now.';

drop trigger if exists late_wakeups_notify on forebay.late_wakeups;
create constraint trigger late_wakeups_notify
after insert on forebay.late_wakeups
deferrable initially deferred
for each row
execute function forebay._notify_late();
