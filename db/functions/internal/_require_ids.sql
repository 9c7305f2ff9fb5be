create or replace function forebay._require_ids(p_ids bigint[], p_name text)
    returns bigint[]
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The distinct ids of p_ids, in order, without nulls.
--
-- Errors  22023  the array itself is null
begin
    if p_ids is null then
        raise exception '% must not be null', p_name using errcode = '22023';
    end if;
    return array(select distinct ids.id from unnest(p_ids) as ids (id) where ids.id is not null order by ids.id);
end;
$function$;

comment on function forebay._require_ids is 'The distinct ids of p_ids, in order, without nulls.';
