create or replace function forebay.branch_copied(p_name text)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say in the original that the copy is made which prepare_branch was called for: from then on begin_branch refuses here.
--
-- The copy still awaits to be begun, and so differs from the original, whatever its sessions say of where they are.
--
-- Writes     forebay.installation
-- Errors     22023  p_name is null
--            42501  the login may not act as forebay_owner
-- Called by  forebay_upkeep
begin
    perform forebay._require_owner();
    if p_name is null then
        raise exception 'p_name must not be null' using errcode = '22023';
    end if;
    update forebay.installation as i set prepared = array_remove(i.prepared, p_name) || p_name
    where p_name = any(i.prepared);
end;
$function$;

comment on function forebay.branch_copied is
'Say in the original that the copy is made which prepare_branch was called for: from then on begin_branch refuses here.';
