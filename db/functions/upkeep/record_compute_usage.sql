create or replace function forebay.record_compute_usage(
    p_rows   jsonb,
    p_source text default 'local',
    p_as_of  timestamptz default null
)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Record what machines cost, from a source such as a bill; the same record again replaces its numbers.
--
-- p_rows is an array of objects: record_id (required, names the record at its source), usd (required), attempt_id, seconds,
-- started_at, ended_at, is_final (true unless the source may still change it), product (what was paid for, of a cost that
-- no run has to itself). usd may be negative, as corrections of a bill are. Without an attempt, or with one that does not
-- exist, a record is kept and attributed to nothing. Several records of an attempt are added up, but only those of one source: what
-- 'local' estimates gives way to any other. p_as_of (null: now) is as of when the source was read;
-- a time to come is taken for now.
--
-- Returns    how many records were new, or had changed
-- Writes     forebay.compute_usage, forebay.compute_sources, forebay.task_attempts, forebay.tasks
-- Locks      the source, then tasks, by id, and attempts, by id
-- Errors     22023  an argument is null or of a wrong type, or a record is bad, or there twice, which is named by its ordinal; nothing is recorded then
-- Called by  forebay_upkeep
declare
    v_now      timestamptz := forebay._now();
    v_records  forebay.compute_usage[];
    v_attempts bigint[];
    v_changed  integer;
begin
    if p_source is null or char_length(p_source) not between 1 and 200 then
        raise exception 'p_source must have 1 to 200 characters' using errcode = '22023';
    end if;
    v_records := forebay._parse_records(p_rows, p_source, v_now);
    insert into forebay.compute_sources as s (source, as_of)
    values (p_source, least(p_as_of, v_now))
    on conflict (source) do update set as_of = greatest(least(s.as_of, forebay._now()), excluded.as_of);

    v_attempts := array(
        select r.attempt_id from unnest(v_records) as r
        union
        select c.attempt_id
        from unnest(v_records) as r
        inner join forebay.compute_usage as c on c.source = p_source and c.record_id = r.record_id
    );
    perform forebay._lock_tasks(
        array(select a.task_id from forebay.task_attempts as a where a.attempt_id = any(v_attempts)), v_attempts
    );

    with recorded as (
        insert into forebay.compute_usage as c
        select
            r.source, r.record_id, a.attempt_id, r.usd, r.seconds, r.started_at, r.ended_at, r.is_final, r.recorded_at,
            r.product
        from unnest(v_records) as r
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

comment on function forebay.record_compute_usage is 'Record what machines cost, from a source such as a bill; the same record again replaces its numbers.';
