create or replace function forebay._mask_spending(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Give customers their made-up names where spending and tasks are added up: p_limit rows or one customer more, after p_after.
--
-- Returns  the last customer that was done; null when there are no more
-- Writes   forebay.customers, forebay.spend_lifts, spend_entries, daily_spend, task_changes, task_rollups, masked_names;
--          deletes from customer_turns
-- Locks    the advisory locks of both folds
declare
    v_name forebay.masked_names;
    v_rows integer := 0;
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.daily_spend', 0));
    perform pg_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0));
    if p_after is null then
        perform forebay._mask_customers();
    end if;
    for v_name in
        select n.* from forebay.masked_names as n
        where n.kind = 'customer' and n.name > coalesce(p_after, '')
        order by n.name
    loop
        v_rows := v_rows + forebay._rename_spending(v_name.name, v_name.alias);
        if v_rows >= p_limit then
            return v_name.name;
        end if;
    end loop;
    return null;
end;
$function$;

comment on function forebay._mask_spending is
'Give customers their made-up names where spending and tasks are added up: p_limit rows or one customer more, after p_after.';
