create or replace function forebay.record_bill(
    p_rows       jsonb,
    p_began_at   timestamptz,
    p_source     text default 'billing',
    p_shared_day date default null
)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Record what a reading of a bill tells, unless a later one has recorded; p_rows are as record_compute_usage takes them.
--
-- p_began_at is what begin_bill said. p_shared_day (null: none) is a day, in UTC, that p_rows tell what was shared of: what
-- else was recorded of it as shared is withdrawn. Once all is recorded call end_bill.
--
-- Returns    how many records were new, had changed or were withdrawn
-- Writes     forebay.compute_usage, forebay.compute_sources, forebay.task_attempts, forebay.tasks
-- Locks      the source, then tasks, by id, and attempts, by id
-- Errors     22023  p_rows, p_began_at or p_source is null, or a record is bad, or there twice, which is named by its ordinal; nothing is recorded then
--            QF206  a later reading has recorded
-- Called by  forebay_upkeep
declare
    v_records   forebay.compute_usage[];
    v_begins    timestamptz := p_shared_day::timestamp at time zone 'UTC';
    v_withdrawn integer;
begin
    perform forebay._hold_bill(p_source, p_began_at);
    v_records := forebay._parse_records(p_rows, p_source, forebay._now());
    delete from forebay.compute_usage as u
    where u.source = p_source and u.product is not null
        and u.started_at >= v_begins and u.started_at < v_begins + interval '24 hours'
        and not exists (select from unnest(v_records) as r where r.record_id = u.record_id);
    get diagnostics v_withdrawn = row_count;
    return v_withdrawn + forebay._record_machines(v_records);
end;
$function$;

comment on function forebay.record_bill is
'Record what a reading of a bill tells, unless a later one has recorded; p_rows are as record_compute_usage takes them.';
