-- What tasks used, cost and took: totals on each task, rollups of all of them, and what computing cost.
--
-- requires  0004_hold_quotas
-- locks     tasks and task_attempts, until the upgrade is done
-- rewrites  the tasks that have attempts, to add up what these used, and attempts with cached tokens; the rollups are
--           made of all tasks after it, in the same transaction. Together one to two minutes of one core and up to
--           0.5 GB of rollups per million tasks; tasks grows by what is rewritten, until `vacuum analyze forebay.tasks`
-- breaks    nothing
-- revert    revert/0005_measure_tasks.sql

alter table forebay.task_attempts
add column used_cached_tokens bigint  not null default 0,
add column compute_usd        numeric,
add column is_compute_final   boolean not null default false;
comment on column forebay.task_attempts.used_cached_tokens is
'The part of used_input_tokens that came from the provider''s cache, as far as known.';
comment on column forebay.task_attempts.compute_usd is
'What its machine cost by the records of compute_usage; null when there is none.';
comment on column forebay.task_attempts.is_compute_final is 'None of these records is provisional.';

alter table forebay.tasks
add column used_input_tokens    bigint   not null default 0,
add column used_output_tokens   bigint   not null default 0,
add column used_cached_tokens   bigint   not null default 0,
add column cost_usd             numeric  not null default 0,
add column ended_attempts       integer  not null default 0,
add column measured_attempts    integer  not null default 0,
add column priced_attempts      integer  not null default 0,
add column costed_attempts      integer  not null default 0,
add column provisional_attempts integer  not null default 0,
add column run_time             interval not null default '0',
add column compute_usd          numeric  not null default 0;
comment on column forebay.tasks.used_input_tokens is
'What its attempts used, as far as known; output and cached tokens and cost_usd likewise. Kept by a trigger.';
comment on column forebay.tasks.ended_attempts is 'How many of its attempts have ended.';
comment on column forebay.tasks.measured_attempts is
'Of how many of these the usage is known; one that was handed back before any call used nothing.';
comment on column forebay.tasks.priced_attempts is 'Of how many of these the cost of the calls is known.';
comment on column forebay.tasks.costed_attempts is 'Of how many of these compute_usd is known.';
comment on column forebay.tasks.provisional_attempts is 'Of how many of these compute_usd may still change.';
comment on column forebay.tasks.run_time is 'How long its ended attempts ran, from claim to end.';

create table forebay.task_changes (
    change_id            bigint generated always as identity,
    starts_at            timestamptz not null,
    agent                text        not null,
    customer             text        not null,
    status               text        not null,
    tasks                bigint      not null,
    ended_attempts       bigint      not null,
    measured_attempts    bigint      not null,
    priced_attempts      bigint      not null,
    costed_attempts      bigint      not null,
    provisional_attempts bigint      not null,
    input_tokens         bigint      not null,
    output_tokens        bigint      not null,
    cached_tokens        bigint      not null,
    llm_usd              numeric     not null,
    compute_usd          numeric     not null,
    buckets              smallint[]  not null,
    constraint task_changes_pkey primary key (change_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
comment on table forebay.task_changes is
'What changed in forebay.tasks and is not yet in task_rollups: an old row counts negative, a new one positive.';
comment on column forebay.task_changes.starts_at is 'When the task was created.';
comment on column forebay.task_changes.customer is ''''' for none.';
comment on column forebay.task_changes.buckets is
'Those that each of the tasks is in, when they are completed. See functions/internal/_buckets.sql.';

create table forebay.task_rollups (
    minutes              integer     not null,
    is_by_customer       boolean     not null,
    customer             text        not null,
    starts_at            timestamptz not null,
    agent                text        not null,
    status               text        not null,
    tasks                bigint      not null,
    ended_attempts       bigint      not null,
    measured_attempts    bigint      not null,
    priced_attempts      bigint      not null,
    costed_attempts      bigint      not null,
    provisional_attempts bigint      not null,
    input_tokens         bigint      not null,
    output_tokens        bigint      not null,
    cached_tokens        bigint      not null,
    llm_usd              numeric     not null,
    compute_usd          numeric     not null,
    buckets              smallint[]  not null,
    counts               bigint[]    not null,
    constraint task_rollups_pkey primary key (minutes, is_by_customer, customer, starts_at, agent, status),
    constraint task_rollups_minutes_known check (minutes in (15, 60, 1440, 40320)),
    constraint task_rollups_customer_of_one check (is_by_customer or customer = '')
) with (fillfactor = 90);
comment on table forebay.task_rollups is
'Tasks by when they were created, in slots of 15 minutes, an hour, a day and four weeks (UTC), without what task_changes still holds. No function deletes tasks: after whoever does, _rebuild_rollups has to run.';
comment on column forebay.task_rollups.is_by_customer is
'One customer''s, '''' for none; else of all. Slots of 15 minutes are kept of all only.';
comment on column forebay.task_rollups.buckets is
'How long completed tasks took and how sure they were, in buckets with tasks in them; counts says how many. See functions/internal/_buckets.sql.';

create table forebay.compute_usage (
    source      text        not null,
    record_id   text        not null,
    attempt_id  bigint,
    usd         numeric     not null,
    seconds     numeric,
    started_at  timestamptz,
    ended_at    timestamptz,
    is_final    boolean     not null,
    recorded_at timestamptz not null,
    constraint compute_usage_pkey primary key (source, record_id),
    constraint compute_usage_attempt_fkey foreign key (attempt_id)
    references forebay.task_attempts (attempt_id) on delete cascade,
    constraint compute_usage_source_length check (char_length(source) between 1 and 200),
    constraint compute_usage_record_length check (char_length(record_id) between 1 and 500),
    constraint compute_usage_not_negative check (usd >= 0 and seconds >= 0)
);
create index compute_usage_attempt on forebay.compute_usage (attempt_id) where attempt_id is not null;
comment on table forebay.compute_usage is 'What machines cost: one row a record of a source, such as a bill.';
comment on column forebay.compute_usage.attempt_id is 'The attempt that the machine ran for; null: not attributable.';
comment on column forebay.compute_usage.is_final is 'The source will not change it any more.';

create table forebay.compute_sources (
    source text        not null,
    as_of  timestamptz not null,
    constraint compute_sources_pkey primary key (source)
);
comment on table forebay.compute_sources is 'As of when each source of compute_usage was read last.';

create index task_attempts_to_cost on forebay.task_attempts (finished_at, attempt_id)
where finished_at is not null and compute_usd is null;

create type forebay.metrics_report as (
    enqueued bigint, processing bigint, completed bigint, failed bigint, cancelled bigint,
    ended_attempts bigint, measured_attempts bigint, priced_attempts bigint, costed_attempts bigint,
    input_tokens bigint, output_tokens bigint, cached_tokens bigint, llm_usd numeric,
    compute_usd numeric, compute_as_of timestamptz, is_compute_final boolean,
    response_median interval, response_p95 interval, queue_median interval, queue_p95 interval,
    run_median interval, run_p95 interval, is_exact boolean,
    confidence_median numeric, confidence_counts bigint[], without_confidence bigint, as_of timestamptz
);
comment on type forebay.metrics_report is
'metrics: one row. Sums are of what is known: of ended_attempts the usage of measured, the cost of priced, the machine''s cost of costed ones. Times are of completed tasks; is_exact false means at most 2.5 % off. confidence_counts are 20 bins of 0.05.';

create type forebay.metric_point as (
    starts_at timestamptz, ends_at timestamptz, enqueued bigint, processing bigint, completed bigint, failed bigint,
    cancelled bigint, input_tokens bigint, output_tokens bigint, cached_tokens bigint, llm_usd numeric,
    compute_usd numeric, response_median interval, response_p95 interval
);
comment on type forebay.metric_point is
'metric_series: one row a step, of the tasks created in it; times are at most 2.5 % off, null without a completed task.';

create type forebay.cost_line as (
    key text, tasks bigint, ended_attempts bigint, measured_attempts bigint, priced_attempts bigint,
    costed_attempts bigint, input_tokens bigint, output_tokens bigint, cached_tokens bigint, llm_usd numeric,
    compute_usd numeric
);
comment on type forebay.cost_line is
'cost_by: one row a task, agent, customer, batch, model or day; key is null for tasks without one. compute_usd is null by model.';

create type forebay.attempt_to_cost as (
    attempt_id bigint, task_id bigint, agent text, launcher text, run_id text, started_at timestamptz,
    finished_at timestamptz
);
comment on type forebay.attempt_to_cost is 'attempts_to_cost: an ended attempt whose machine no source has told the cost of.';

create type forebay.task_cell as (
    starts_at timestamptz, agent text, customer text, status text, tasks bigint,
    ended_attempts bigint, measured_attempts bigint, priced_attempts bigint, costed_attempts bigint,
    provisional_attempts bigint, input_tokens bigint, output_tokens bigint, cached_tokens bigint,
    llm_usd numeric, compute_usd numeric, buckets smallint[], counts bigint[]
);
comment on type forebay.task_cell is 'Inside: tasks that are counted together, or the change of such a count.';

create type forebay.time_slots as (minutes integer, from_at timestamptz, to_at timestamptz);
comment on type forebay.time_slots is
'Inside: a part of a range that whole slots of so many minutes fill; 0 minutes: that no slot fills.';

-- What attempts of before used: cached tokens of the source that counts, then the totals of their tasks.
update forebay.task_attempts as a
set used_cached_tokens = used.cached_tokens
from (
    select distinct on (u.attempt_id)
        u.attempt_id,
        coalesce(pg_catalog.sum(u.cached_tokens), 0)::bigint as cached_tokens
    from forebay.attempt_usage as u
    group by u.attempt_id, u.source
    order by
        u.attempt_id asc,
        pg_catalog.count(*) filter (
            where (u.input_tokens is not null and u.output_tokens is not null) or u.usd is not null
        ) desc,
        pg_catalog.count(*) filter (where u.input_tokens is not null and u.output_tokens is not null) desc,
        pg_catalog.count(u.usd) desc, u.source asc
) as used
where a.attempt_id = used.attempt_id and used.cached_tokens > 0;

alter table forebay.tasks disable trigger user;

update forebay.tasks as t
set used_input_tokens = total.input_tokens, used_output_tokens = total.output_tokens,
    used_cached_tokens = total.cached_tokens, cost_usd = total.usd, ended_attempts = total.ended,
    measured_attempts = total.measured, priced_attempts = total.priced, run_time = total.run_time
from (
    select
        a.task_id,
        pg_catalog.sum(a.used_input_tokens)::bigint as input_tokens,
        pg_catalog.sum(a.used_output_tokens)::bigint as output_tokens,
        pg_catalog.sum(a.used_cached_tokens)::bigint as cached_tokens,
        coalesce(pg_catalog.sum(a.cost_usd), 0) as usd,
        pg_catalog.count(a.finished_at)::integer as ended,
        (pg_catalog.count(a.finished_at) filter (
            where a.is_usage_known or (a.status = 'released' and a.used_calls = 0)
        ))::integer as measured,
        (pg_catalog.count(a.finished_at) filter (
            where a.is_cost_known or (a.status = 'released' and a.used_calls = 0)
        ))::integer as priced,
        coalesce(pg_catalog.sum(a.finished_at - a.started_at), interval '0') as run_time
    from forebay.task_attempts as a
    group by a.task_id
) as total
where t.task_id = total.task_id;

alter table forebay.tasks enable trigger user;

do $verify$
declare
    v_name text;
begin
    foreach v_name in array array['task_changes', 'task_rollups', 'compute_usage', 'compute_sources'] loop
        if pg_catalog.to_regclass('forebay.' || v_name) is null then
            raise exception 'expected a table forebay.%', v_name;
        end if;
    end loop;
    foreach v_name in array array[
        'metrics_report', 'metric_point', 'cost_line', 'attempt_to_cost', 'task_cell', 'time_slots'
    ] loop
        if pg_catalog.to_regtype('forebay.' || v_name) is null then
            raise exception 'expected a row type forebay.%', v_name;
        end if;
    end loop;
    if (select pg_catalog.count(*) from forebay.task_attempts as a where a.finished_at is not null)
        <> (select coalesce(pg_catalog.sum(t.ended_attempts), 0) from forebay.tasks as t) then
        raise exception 'expected the tasks to count all attempts that have ended';
    end if;
end;
$verify$;
