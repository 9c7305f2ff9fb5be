create or replace function forebay.finish_branch()
    returns forebay.branch_state
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say that a branch in which everything is masked was vacuumed, so that nothing tells what was there before: it is finished.
--
-- Returns    one row
-- Writes     forebay.installation
-- Errors     42501  the login may not act as forebay_owner
--            QF405  this database is no branch that awaits to be finished
--            QF406  not everything in it is masked
-- Called by  forebay_upkeep
declare
    v_installation forebay.installation;
begin
    perform forebay._require_owner();
    select i.* into v_installation from forebay.installation as i for no key update;
    if forebay._branch_state(v_installation) <> 'unfinished' then
        raise exception 'this database is no unfinished branch' using errcode = 'QF405';
    end if;
    if v_installation.mask_step is distinct from 0 then
        raise exception 'the branch "%" is not all masked', v_installation.branch_name
            using errcode = 'QF406', hint = 'Call forebay.mask_data() until it is complete, and vacuum (full, analyze).';
    end if;
    update forebay.installation as i set mask_step = null;
    return forebay.branch_state();
end;
$function$;

comment on function forebay.finish_branch is
'Say that a branch in which everything is masked was vacuumed, so that nothing tells what was there before: it is finished.';
