create or replace function forebay.open_installation(p_reason text default null, p_actor text default null)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Let a branch or a restored copy dispatch in this cluster. It stays marked as a branch; its tasks run here as well as where they came from.
--
-- Writes     forebay.installation, forebay.audit_log
-- Called by  forebay_operator
begin
    update forebay.installation as i set opened_in = forebay._cluster() where forebay._is_copy(i);
    perform forebay._audit('open_installation', null, null, p_reason, p_actor);
end;
$function$;

comment on function forebay.open_installation is 'Let a branch or a restored copy dispatch in this cluster. It stays marked as a branch; its tasks run here as well as where they came from.';
