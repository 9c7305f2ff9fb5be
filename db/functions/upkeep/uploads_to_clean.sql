create or replace function forebay.uploads_to_clean(p_older_than interval, p_limit integer default 100)
    returns setof forebay.upload_to_clean
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say what the storage still holds of uploads and is not needed any more.
--
-- A file that was not submitted within p_older_than is dropped by this call, so that nobody can submit it any more; commit,
-- remove it, and call uploads_cleaned. Until then it comes again. Of a task that ended so long ago what is left beside its
-- document may go; the document stays. In a copy that nobody has opened nothing may go: the files are the original's.
--
-- Returns    one row an upload, at most p_limit of each kind, the oldest first; what is file or leftovers
-- Writes     forebay.uploads
-- Locks      the uploads that it drops; it skips those that somebody else holds
-- Errors     22023  p_older_than is null or negative, or p_limit is not from 1 to 10,000
-- Called by  forebay_upkeep
declare
    v_now    timestamptz := forebay._now();
    v_before timestamptz := v_now - p_older_than;
begin
    if p_older_than is null or p_older_than < interval '0' then
        raise exception 'p_older_than must not be null or negative' using errcode = '22023';
    end if;
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if not forebay._may_dispatch() then
        return;
    end if;
    return query
    with stale as (
        select u.upload_id, u.opened_at from forebay.uploads as u
        where u.task_id is null and u.cleaned_at is null and u.opened_at <= v_before
        order by u.opened_at, u.upload_id
        limit p_limit
        for no key update skip locked
    ),
    dropped as (
        update forebay.uploads as u
        set dropped_at = coalesce(u.dropped_at, v_now)
        from stale as s
        where u.upload_id = s.upload_id
        returning u.upload_id, u.document, s.opened_at
    )
    select d.upload_id, d.document, 'file' from dropped as d order by d.opened_at, d.upload_id;

    return query
    select u.upload_id, u.document, 'leftovers'
    from forebay.uploads as u
    inner join forebay.tasks as t on t.task_id = u.task_id
    where u.task_id is not null and u.cleaned_at is null and t.finished_at <= v_before
    order by u.task_id
    limit p_limit;
end;
$function$;

comment on function forebay.uploads_to_clean is 'Say what the storage still holds of uploads and is not needed any more.';
