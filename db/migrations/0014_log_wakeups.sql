-- Wake-ups in a logged table: Lakebase keeps no other when its compute starts anew, and then nothing can be enqueued.
--
-- requires  0013_bill_by_place
-- locks     wakeups, for a moment
-- rewrites  wakeups, which is empty
-- breaks    nothing
-- revert    revert/0014_log_wakeups.sql

-- squawk-ignore-file ban-drop-table
-- What is dropped is empty, and may be gone already. Its trigger comes back in the same transaction.

drop table if exists forebay.wakeups;

create table forebay.wakeups (
    wakeup_id bigint generated always as identity,
    is_work   boolean not null,
    constraint wakeups_pkey primary key (wakeup_id)
);
comment on table forebay.wakeups is
'Empty but inside open transactions: one row asks for notifications when its transaction commits. See triggers/wakeups.sql.';

do $verify$
begin
    if (select c.relpersistence from pg_catalog.pg_class as c where c.oid = 'forebay.wakeups'::regclass) <> 'p' then
        raise exception 'expected forebay.wakeups to be logged';
    end if;
end;
$verify$;
