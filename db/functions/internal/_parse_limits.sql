create or replace function forebay._parse_limits(p_quota text, p_limits jsonb)
    returns forebay.quota_limits[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Read the limits that register_quota was given.
--
-- Errors  22023  p_limits is no array of objects, a key is missing, of a wrong type or out of range, or a limit comes twice
declare
    v_item   jsonb;
    v_limits forebay.quota_limits[] := array[]::forebay.quota_limits[];
begin
    if coalesce(jsonb_typeof(p_limits), 'null') <> 'array' then
        raise exception 'p_limits must be a JSON array of limits' using errcode = '22023';
    end if;
    for v_item in select elements.value from jsonb_array_elements(p_limits) as elements loop
        v_limits := v_limits || forebay._parse_limit(p_quota, v_item);
    end loop;
    if (select count(distinct (l.unit, l.period)) from unnest(v_limits) as l) < cardinality(v_limits) then
        raise exception 'p_limits must not name one unit and period twice' using errcode = '22023';
    end if;
    return v_limits;
end;
$function$;

comment on function forebay._parse_limits is 'Read the limits that register_quota was given.';
