create or replace function forebay._mask_rest()
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask what has few rows, forget what names somebody for a moment, and last what leads from a made-up name back.
--
-- Returns  null: there is no more
-- Writes   forebay.agents.pause_reason, forebay.schema_history.applied_by; deletes from forebay.announcements, dispatchers,
--          launcher_faults, masked_names
begin
    delete from forebay.announcements;
    delete from forebay.dispatchers;
    delete from forebay.launcher_faults;
    update forebay.agents as a set pause_reason = 'masked'
    where a.pause_reason not in ('masked', 'this is a branch');
    update forebay.schema_history as h set applied_by = 'masked' where h.applied_by <> 'masked';
    delete from forebay.masked_names;
    return null;
end;
$function$;

comment on function forebay._mask_rest is 'Mask what has few rows, forget what names somebody for a moment, and last what leads from a made-up name back.';
