create or replace function forebay._upload_folder()
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Name the folder of the storage that has this database's uploads: a branch has one of its own, as it shares the storage.
declare
    v_installation forebay.installation := forebay._limits();
begin
    return case when v_installation.is_branch then format('uploads/%s', v_installation.installation_id) else 'uploads' end;
end;
$function$;

comment on function forebay._upload_folder is
'Name the folder of the storage that has this database''s uploads: a branch has one of its own, as it shares the storage.';
