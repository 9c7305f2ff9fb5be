create or replace function forebay.folder_to_clean()
    returns text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Name the folder in which the storage may be rid of what uploads left that died; null in a copy that nobody has opened.
--
-- Called by  forebay_upkeep
begin
    return case when forebay._may_dispatch() then forebay._upload_folder() end;
end;
$function$;

comment on function forebay.folder_to_clean is
'Name the folder in which the storage may be rid of what uploads left that died; null in a copy that nobody has opened.';
