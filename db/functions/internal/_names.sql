create or replace function forebay._names(p_names text[], p_name text)
    returns text[]
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The distinct names of p_names, sorted.
--
-- Errors  22023  the array or one of its elements is null, or an element is empty or longer than 200 characters
begin
    if p_names is null or array_position(p_names, null) is not null then
        raise exception '% must not be null or hold null', p_name using errcode = '22023';
    end if;
    if exists (select from unnest(p_names) as names (name) where char_length(names.name) not between 1 and 200) then
        raise exception '% must hold names of 1 to 200 characters', p_name using errcode = '22023';
    end if;
    return array(select names.name from unnest(p_names) as names (name) group by names.name order by names.name collate "C");
end;
$function$;

comment on function forebay._names is 'The distinct names of p_names, sorted.';
