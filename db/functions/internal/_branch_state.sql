create or replace function forebay._branch_state(p_installation forebay.installation)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a database is: original; copy (nobody has begun it as a branch here); unfinished (begun, and not all masked); closed; or open.
--
-- What is masked is unfinished until finish_branch says that nothing tells what was there before: its mask_step is 0 so long.
-- A copy that an operator opened without its being a branch has taken over: it is what the original was.
declare
    v_is_begun constant boolean := p_installation.branch_name is not null
        and p_installation.system_identifier = forebay._cluster() and forebay._is_here(p_installation.home);
begin
    return case
        when not forebay._is_copy(p_installation) or not v_is_begun and forebay._may_dispatch() then 'original'
        when not v_is_begun then 'copy'
        when p_installation.masked_at is null then 'unfinished'
        when forebay._may_dispatch() then 'open'
        when p_installation.mask_step is not null then 'unfinished'
        else 'closed'
    end;
end;
$function$;

comment on function forebay._branch_state is
'What a database is: original; copy (nobody has begun it as a branch here); unfinished (begun, and not all masked); closed; or open.';
