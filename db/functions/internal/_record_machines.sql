create or replace function forebay._record_machines(p_records forebay.compute_usage[])
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record what machines cost, and bring their attempts up to date; the caller holds the source, of which all records are.
--
-- Returns  how many records were new, or had changed
-- Writes   forebay.compute_usage, forebay.task_attempts, forebay.tasks
-- Locks    tasks, by id, and attempts, by id
declare
    v_attempts bigint[];
    v_changed  integer;
begin
    v_attempts := array(
        select r.attempt_id from unnest(p_records) as r
        union
        select c.attempt_id
        from unnest(p_records) as r
        inner join forebay.compute_usage as c on c.source = r.source and c.record_id = r.record_id
    );
    perform forebay._lock_tasks(
        array(select a.task_id from forebay.task_attempts as a where a.attempt_id = any(v_attempts)), v_attempts
    );

    with recorded as (
        insert into forebay.compute_usage as c
        select
            r.source, r.record_id, a.attempt_id, r.usd, r.seconds, r.started_at, r.ended_at, r.is_final, r.recorded_at,
            r.product
        from unnest(p_records) as r
        left join forebay.task_attempts as a on a.attempt_id = r.attempt_id
        order by r.record_id collate "C"
        on conflict (source, record_id) do update set
            attempt_id = excluded.attempt_id, usd = excluded.usd, seconds = excluded.seconds,
            started_at = excluded.started_at, ended_at = excluded.ended_at, is_final = excluded.is_final,
            recorded_at = excluded.recorded_at, product = excluded.product
        where (c.attempt_id, c.usd, c.seconds, c.started_at, c.ended_at, c.is_final, c.product)
            is distinct from (
                excluded.attempt_id, excluded.usd, excluded.seconds, excluded.started_at, excluded.ended_at,
                excluded.is_final, excluded.product
            )
        returning 1
    )
    select count(*)::integer into v_changed from recorded;
    if v_changed > 0 then
        perform forebay._add_compute(v_attempts);
    end if;
    return v_changed;
end;
$function$;

comment on function forebay._record_machines is
'Record what machines cost, and bring their attempts up to date; the caller holds the source, of which all records are.';
