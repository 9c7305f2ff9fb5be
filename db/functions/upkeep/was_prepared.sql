create or replace function forebay.was_prepared(p_name text)
    returns boolean
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say whether prepare_branch was ever told this name here: only then is a copy of that name one that was made to be a branch.
--
-- Returns    true or false
-- Errors     22023  p_name is null
-- Called by  forebay_upkeep
begin
    if p_name is null then
        raise exception 'p_name must not be null' using errcode = '22023';
    end if;
    return (select p_name = any(i.prepared) from forebay.installation as i);
end;
$function$;

comment on function forebay.was_prepared is
'Say whether prepare_branch was ever told this name here: only then is a copy of that name one that was made to be a branch.';
