create or replace function forebay.list_prices(p_models text[] default null)
    returns setof forebay.price
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The prices that were registered, those of the past and the future too; p_models null means all models.
--
-- Returns    one row a model and range of time, by model and start; valid_until is null where it has no end
-- Called by  forebay_viewer
declare
    v_models text[] := p_models;
begin
    return query
    select
        p.model, p.valid_from, nullif(p.valid_until, 'infinity'), p.usd_per_m_input, p.usd_per_m_output,
        p.usd_per_m_cached, p.usd_per_page, p.usd_per_call
    from forebay.prices as p
    where v_models is null or p.model = any(v_models)
    order by p.model, p.valid_from;
end;
$function$;

comment on function forebay.list_prices is 'The prices that were registered, those of the past and the future too; p_models null means all models.';
