create or replace function forebay.open_installation(p_reason text default null, p_actor text default null)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Let a branch or a restored copy dispatch in this place. It stays marked as a branch; its tasks run here as well as where they came from.
--
-- Writes     forebay.installation, forebay.audit_log
-- Errors     QF406  the branch is not finished: not everything in it is masked, or what it was before is not vacuumed; or this is a
--                   copy that prepare_branch was called for, or of what it was called in, and the login may not act as forebay_owner, who may have it take over
-- Called by  forebay_operator
declare
    v_installation forebay.installation;
begin
    select i.* into v_installation from forebay.installation as i for no key update;
    if v_installation.branch_name is not null
        and (v_installation.masked_at is null or v_installation.mask_step is not null and not forebay._may_dispatch()) then
        raise exception 'the branch "%" is not finished: not everything in it is masked', v_installation.branch_name
            using errcode = 'QF406', hint = 'Delete it and create it anew, or call forebay.mask_data() until it is complete, vacuum, and call'
                ' forebay.finish_branch().';
    end if;
    if forebay._branch_state(v_installation) = 'copy' and v_installation.prepared <> '{}'
        and not pg_has_role(session_user, 'forebay_owner', 'member') then
        raise exception 'this copy may have been made to be a branch, and nothing in it is masked'
            using errcode = 'QF406', hint = 'If it is to take over as it is, a member of forebay_owner opens it.';
    end if;
    update forebay.installation as i set opened_in = forebay._cluster(), opened_home = forebay._here()
    where forebay._is_copy(i);
    perform forebay._audit('open_installation', null, null, p_reason, p_actor);
end;
$function$;

comment on function forebay.open_installation is 'Let a branch or a restored copy dispatch in this place. It stays marked as a branch; its tasks run here as well as where they came from.';
