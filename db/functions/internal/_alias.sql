create or replace function forebay._alias(p_kind text, p_name text)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The made-up name of a customer, person or worker: the same one each time, of nothing but chance. Null, '' and made-up names stay.
--
-- Until all is masked once, a made-up name is one that was made up here: a customer may really be called so.
--
-- Writes  forebay.masked_names
declare
    v_alias text;
begin
    if p_name is null or p_name = '' then
        return p_name;
    end if;
    if p_name ~ ('^' || p_kind || ' [0-9a-f]{12}$') and (
        exists (select from forebay.masked_names as n where n.alias = p_name)
        or exists (select from forebay.installation as i where i.masked_at is not null)
    ) then
        return p_name;
    end if;
    select n.alias into v_alias from forebay.masked_names as n where n.kind = p_kind and n.name = p_name;
    if v_alias is null then
        insert into forebay.masked_names (kind, name, alias)
        values (p_kind, p_name, p_kind || ' ' || forebay._chance())
        returning alias into v_alias;
    end if;
    return v_alias;
end;
$function$;

comment on function forebay._alias is
'The made-up name of a customer, person or worker: the same one each time, of nothing but chance. Null, '''' and made-up names stay.';
