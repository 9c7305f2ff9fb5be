-- A bill is of one workspace: runs_to_bill takes where runs were started, and names no run of elsewhere.
--
-- requires  0011_read_bills
-- locks     nothing
-- rewrites  no table
-- breaks    nothing: drivers of 0.4.0 call it as before
-- revert    revert/0013_bill_by_place.sql

-- squawk-ignore-file ban-drop-function
-- What is dropped comes back in the same transaction, with one argument more.

drop function if exists forebay.runs_to_bill(text[], text, bigint, integer);

do $verify$
begin
    if pg_catalog.to_regprocedure('forebay.runs_to_bill(text[], text, bigint, integer)') is not null then
        raise exception 'expected forebay.runs_to_bill to be gone until it comes with the other functions';
    end if;
end;
$verify$;
