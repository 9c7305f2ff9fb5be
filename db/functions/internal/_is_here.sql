create or replace function forebay._is_here(p_place text)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a place that _here gave is this one, as far as both say: null, or no word of a branch, says nothing.
declare
    v_here text;
begin
    if p_place is null then
        return true;
    end if;
    v_here := forebay._here();
    return split_part(v_here, ' ', 1) = split_part(p_place, ' ', 1)
        and (split_part(v_here, ' ', 2) in ('', split_part(p_place, ' ', 2)) or split_part(p_place, ' ', 2) = '');
end;
$function$;

comment on function forebay._is_here is 'Whether a place that _here gave is this one, as far as both say: null, or no word of a branch, says nothing.';
