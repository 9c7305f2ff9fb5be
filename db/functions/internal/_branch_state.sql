create or replace function forebay._branch_state(p_installation forebay.installation)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a database is: original; copy (nobody has begun it as a branch here); unfinished (begun, and not all masked); closed; or open.
begin
    return case
        when not forebay._is_copy(p_installation) then 'original'
        when not p_installation.is_branch or not forebay._is_here(p_installation.home) then 'copy'
        when p_installation.branch_name is not null and p_installation.masked_at is null then 'unfinished'
        when forebay._may_dispatch() then 'open'
        else 'closed'
    end;
end;
$function$;

comment on function forebay._branch_state is
'What a database is: original; copy (nobody has begun it as a branch here); unfinished (begun, and not all masked); closed; or open.';
