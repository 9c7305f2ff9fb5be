create or replace function forebay.list_batches(
    p_from            timestamptz default null,
    p_to              timestamptz default null,
    p_customers       text[] default null,
    p_search          text default null,
    p_before_batch_id bigint default null,
    p_limit           integer default 50
)
    returns setof forebay.batch_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- List batches with their tasks by status, newest first, a page at a time: the next page is that before the last id of this one.
--
-- p_search is a batch's number, or else part of its name, customer or owner; that walks over batches. The tasks of a page's
-- batches are counted one by one.
--
-- Returns    one row a batch, by id downwards; finished_at as in batch_progress
-- Errors     22023  p_limit is not from 1 to 1,000
-- Called by  forebay_viewer
declare
    v_customers text[] := p_customers;
    v_search    text := lower(nullif(btrim(p_search), ''));
    v_number    bigint := case when v_search ~ '^[0-9]{1,18}$' then v_search::bigint end;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 1000);
    return query
    select
        b.batch_id, b.name, b.customer, b.owner, b.created_at, sums.tasks, sums.enqueued, sums.processing, sums.completed,
        sums.failed, sums.cancelled, sums.finished_at, sums.llm_usd, sums.ended_attempts, sums.priced_attempts
    from (
        select page.* from forebay.batches as page
        where (p_from is null or page.created_at >= p_from)
            and (p_to is null or page.created_at < p_to)
            and (v_customers is null or page.customer = any(v_customers))
            and (v_number is null or page.batch_id = v_number)
            and (
                v_search is null or v_number is not null or strpos(lower(page.name), v_search) > 0
                or strpos(lower(page.customer), v_search) > 0 or strpos(lower(page.owner), v_search) > 0
            )
            and page.batch_id < coalesce(p_before_batch_id, 9223372036854775807)
        order by page.batch_id desc
        limit p_limit
    ) as b
    cross join lateral forebay._batch_sums(b.batch_id) as sums
    order by b.batch_id desc;
end;
$function$;

comment on function forebay.list_batches is
'List batches with their tasks by status, newest first, a page at a time: the next page is that before the last id of this one.';
