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
-- no run has to itself). usd may be negative, as corrections of a bill are, or null: something was used of which no price is
-- known; the cost of its attempt is then unknown until another record of that id tells it. Without an attempt, or with one that does not
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
    v_now     timestamptz := forebay._now();
    v_records forebay.compute_usage[];
begin
    perform forebay._require_source(p_source);
    v_records := forebay._parse_records(p_rows, p_source, v_now);
    insert into forebay.compute_sources as s (source, as_of)
    values (p_source, least(p_as_of, v_now))
    on conflict (source) do update
    set as_of = greatest(case when s.as_of is not null then least(s.as_of, forebay._now()) end, excluded.as_of);
    return forebay._record_machines(v_records);
end;
$function$;

comment on function forebay.record_compute_usage is 'Record what machines cost, from a source such as a bill; the same record again replaces its numbers.';
