create or replace function forebay.own_batches(
    p_actor           text,
    p_before_batch_id bigint default null,
    p_limit           integer default 50
)
    returns setof forebay.batch_progress
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List p_actor's batches, the newest first, a page at a time: the next page is that before the last id of this one.
--
-- They are those of every spelling of p_actor in capitals and small letters.
--
-- Returns    one row a batch, by id downwards
-- Errors     22023  p_actor is null, or p_limit is not from 1 to 1,000
-- Called by  forebay_submitter
declare
    v_actor text := p_actor;
begin
    if p_actor is null then
        raise exception 'p_actor must not be null' using errcode = '22023';
    end if;
    perform forebay._require_between(p_limit, 'p_limit', 1, 1000);
    return query
    select p.*
    from (
        select b.batch_id from forebay.batches as b
        where forebay._is_person(b.owner, v_actor) and b.batch_id < coalesce(p_before_batch_id, 9223372036854775807)
        order by b.batch_id desc
        limit p_limit
    ) as own
    cross join lateral forebay.batch_progress(own.batch_id) as p
    order by own.batch_id desc;
end;
$function$;

comment on function forebay.own_batches is 'List p_actor''s batches, the newest first, a page at a time: the next page is that before the last id of this one.';
