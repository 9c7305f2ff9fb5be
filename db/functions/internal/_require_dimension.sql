create or replace function forebay._require_dimension(p_dimension text)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse what costs are not added up by.
--
-- Errors  22023  p_dimension is none of the seven, or null
begin
    if p_dimension is null
        or p_dimension not in ('task', 'agent', 'customer', 'batch', 'model', 'day', 'try') then
        raise exception 'nothing is added up by "%"', left(p_dimension, 60)
            using errcode = '22023', hint = 'Dimensions: task, agent, customer, batch, model, day, try.';
    end if;
end;
$function$;

comment on function forebay._require_dimension is 'Refuse what costs are not added up by.';
