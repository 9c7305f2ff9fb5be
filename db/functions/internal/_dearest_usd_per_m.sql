create or replace function forebay._dearest_usd_per_m(p_now timestamptz)
    returns numeric
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The dearest token of all prices that hold at p_now, by the million; 0 when there is none.
begin
    return (
        select coalesce(max(greatest(p.usd_per_m_input, p.usd_per_m_output, p.usd_per_m_cached)), 0)
        from forebay.prices as p
        where p.valid_from <= p_now and p.valid_until > p_now and not exists (
            select from forebay.prices as later
            where later.model = p.model and later.valid_from > p.valid_from
                and later.valid_from <= p_now and later.valid_until > p_now
        )
    );
end;
$function$;

comment on function forebay._dearest_usd_per_m is 'The dearest token of all prices that hold at p_now, by the million; 0 when there is none.';
