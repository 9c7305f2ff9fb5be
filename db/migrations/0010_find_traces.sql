-- Traces of model calls: which attempts they are still looked for, and what their tool makes of a call by list prices.
--
-- requires  0007_act_and_announce
-- locks     attempt_usage, for a moment, and task_attempts, for as long as it takes to index its rows twice
-- rewrites  no table
-- breaks    nothing
-- revert    revert/0010_find_traces.sql

alter table forebay.attempt_usage
add column list_usd numeric,
add column is_partial boolean,
add column is_cumulative boolean not null default false,
add constraint attempt_usage_list_not_negative check (list_usd >= 0) not valid;
comment on column forebay.attempt_usage.list_usd is
'What whoever wrote the trace makes of the call by list prices: it counts where no price is registered.';
comment on column forebay.attempt_usage.is_partial is
'Whether the trace that the call was read from may have more to tell; null: the call was reported.';
comment on column forebay.attempt_usage.is_cumulative is
'The call is a session, which was told of by what it used so far; of that, this is the attempt''s.';

create table forebay.attempt_traces (
    attempt_id   bigint      not null,
    ended_at     timestamptz not null,
    looks        integer     not null default 0,
    next_look_at timestamptz,
    traces       integer     not null default 0,
    is_whole     boolean     not null default false,
    constraint attempt_traces_pkey primary key (attempt_id),
    constraint attempt_traces_attempt_fkey foreign key (attempt_id)
    references forebay.task_attempts (attempt_id) on delete cascade,
    constraint attempt_traces_not_negative check (looks >= 0 and traces >= 0)
) with (fillfactor = 80);
create index attempt_traces_due on forebay.attempt_traces (next_look_at, attempt_id) where next_look_at is not null;
create index attempt_traces_ended on forebay.attempt_traces (ended_at);
comment on table forebay.attempt_traces is
'Ended attempts whose traces are looked for, or were. Empty where nobody reads traces.';
comment on column forebay.attempt_traces.next_look_at is 'Null: nobody looks any more.';
comment on column forebay.attempt_traces.traces is 'How many traces of it were there at the last look.';
comment on column forebay.attempt_traces.is_whole is
'They had ended, and told of as many calls as the attempt itself.';

create index task_attempts_ended on forebay.task_attempts (finished_at, attempt_id) where finished_at is not null;
create index task_attempts_trace on forebay.task_attempts (trace_id, attempt_id) where trace_id is not null;

create type forebay.attempt_to_trace as (
    attempt_id bigint, task_id bigint, launch_key text, trace_id text, started_at timestamptz, finished_at timestamptz
);
comment on type forebay.attempt_to_trace is
'attempts_to_trace: an ended attempt. Its traces have launch_key as their tag forebay.launch_key; trace_id is what it, and no other, reported itself.';

do $verify$
begin
    if pg_catalog.to_regclass('forebay.attempt_traces') is null
        or pg_catalog.to_regclass('forebay.task_attempts_ended') is null
        or pg_catalog.to_regclass('forebay.task_attempts_trace') is null
        or pg_catalog.to_regtype('forebay.attempt_to_trace') is null then
        raise exception 'expected forebay.attempt_traces, indexes of attempts by end and trace, and attempt_to_trace';
    end if;
    if exists (select from forebay.attempt_usage as u where u.list_usd is not null) then
        raise exception 'expected no call to have a list price yet';
    end if;
end;
$verify$;
