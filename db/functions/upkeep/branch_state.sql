create or replace function forebay.branch_state()
    returns forebay.branch_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say whether this database is a branch, of what, and whether it is finished.
--
-- Returns    one row
-- Called by  forebay_upkeep
declare
    v_installation forebay.installation := forebay._limits();
begin
    return (
        v_installation.installation_id, forebay._branch_state(v_installation), v_installation.branch_name,
        v_installation.branch_of, v_installation.branched_at, v_installation.masked_at
    )::forebay.branch_state;
end;
$function$;

comment on function forebay.branch_state is 'Say whether this database is a branch, of what, and whether it is finished.';
