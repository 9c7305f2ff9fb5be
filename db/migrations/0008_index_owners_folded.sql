-- A person's batches are found by the name in any case: the index of owners holds it in lower case.
--
-- requires  0007_act_and_announce
-- locks     batches, for as long as it takes to build an index
-- rewrites  no table
-- breaks    nothing
-- revert    revert/0008_index_owners_folded.sql

-- squawk-ignore-file require-concurrent-index-deletion
-- It is not possible in the transaction, and takes no longer than the lock that creating the other one holds.

create index batches_owner_folded on forebay.batches (lower(owner), batch_id) where owner is not null;
drop index forebay.batches_owner;

do $verify$
begin
    if pg_catalog.to_regclass('forebay.batches_owner_folded') is null then
        raise exception 'index forebay.batches_owner_folded is missing';
    end if;
    if pg_catalog.to_regclass('forebay.batches_owner') is not null then
        raise exception 'index forebay.batches_owner is still there';
    end if;
end;
$verify$;
