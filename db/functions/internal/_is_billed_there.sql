create or replace function forebay._is_billed_there(p_place text, p_settings text)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a bill, read with these settings, may tell of runs at a place: one of another workspace does not.
--
-- The settings of a workspace's bill end with its id. Where the place is an address, or unknown, it may be that workspace.
select coalesce(p_place !~ '^[0-9]+$' or p_place = substring(p_settings from 'workspace ([0-9]+)$'), true);
$function$;

comment on function forebay._is_billed_there is
'Whether a bill, read with these settings, may tell of runs at a place: one of another workspace does not.';
