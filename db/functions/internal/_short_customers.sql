create or replace function forebay._short_customers(
    p_agent  forebay.agents,
    p_line   forebay.lined_up[],
    p_places integer[],
    p_now    timestamptz
)
    returns text[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The customers in p_line whose cap leaves too little for a task of theirs, and of whom nothing starts at p_places.
begin
    return array(
        select c.customer
        from unnest(p_line) with ordinality as l (
            task_id, priority, customer, waited, estimated_tokens, uses, place
        )
        inner join forebay._caps(p_agent, array(select distinct w.customer from unnest(p_line) as w), p_now) as c
            on c.customer = l.customer
        group by c.customer
        having bool_or(forebay._is_short(c, (l.uses).usd)) and not bool_or(l.place = any(p_places))
    );
end;
$function$;

comment on function forebay._short_customers is 'The customers in p_line whose cap leaves too little for a task of theirs, and of whom nothing starts at p_places.';
