create or replace function forebay._batches_done(p_now timestamptz)
    returns setof forebay.condition
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
as $function$
-- The batches of which a task ended since the last complete look and none waits or runs; some may have been told of before.
--
-- A task can be written as ended before a look and committed after it. So the time to look back to moves on only once a look
-- began after all transactions had ended that were there before that time. A minute more is for clocks that step back. The
-- first look finds nothing: what was done before it is not told.
--
-- Writes  forebay.announcement_marks
declare
    v_snapshot pg_snapshot := pg_current_snapshot();
    v_since    timestamptz;
begin
    select coalesce(max(m.looked_at) filter (where m.is_complete), min(m.looked_at)) into v_since
    from forebay.announcement_marks as m;
    return query
    select
        'batch.done', b.batch_id::text, extract(epoch from sums.finished_at)::text,
        jsonb_build_object(
            'batch_id', b.batch_id::text, 'name', b.name, 'owner', b.owner, 'customer', b.customer, 'tasks', sums.tasks,
            'completed', sums.completed, 'failed', sums.failed, 'cancelled', sums.cancelled, 'llm_usd', sums.llm_usd
        ),
        sums.finished_at
    from forebay.batches as b
    cross join lateral forebay._batch_sums(b.batch_id) as sums
    where b.batch_id in (
        select t.batch_id from forebay.tasks as t
        where t.agent = any(array(select a.agent from forebay.agents as a))
            and t.finished_at >= v_since - interval '1 minute' and t.batch_id is not null
    )
    and sums.finished_at is not null;

    update forebay.announcement_marks as m set is_complete = true
    where not m.is_complete and m.next_xid <= pg_snapshot_xmin(v_snapshot);
    insert into forebay.announcement_marks (looked_at, next_xid) values (p_now, pg_snapshot_xmax(v_snapshot))
    on conflict (looked_at) do nothing;
    delete from forebay.announcement_marks as m
    where m.looked_at < (select max(c.looked_at) from forebay.announcement_marks as c where c.is_complete);
end;
$function$;

comment on function forebay._batches_done is
'The batches of which a task ended since the last complete look and none waits or runs; some may have been told of before.';
