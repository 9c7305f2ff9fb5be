-- Uploads on their way into a batch, and what a batch's owner sees of it.
--
-- requires  0005_measure_tasks
-- locks     batches, and tasks for as long as it takes to build an index
-- rewrites  nothing
-- breaks    drivers before 0.3.0: batch_tasks has more columns and parameters
-- revert    revert/0006_take_uploads.sql

-- squawk-ignore-file ban-drop-function, ban-drop-type
-- What is dropped comes back with its new shape in the same transaction.

drop function if exists forebay.batch_tasks(bigint, text);
drop function if exists forebay._count_ahead(forebay.tasks, timestamptz);
drop type forebay.batch_task;

alter table forebay.batches add column submission_key text;
alter table forebay.batches
add constraint batches_submission_key_length check (char_length(submission_key) between 1 and 200) not valid;
comment on column forebay.batches.submission_key is
'By what its owner''s submission is known, so that it can be repeated; null for a batch that was opened otherwise.';
create unique index batches_submission on forebay.batches (owner, submission_key) where submission_key is not null;
create index batches_owner on forebay.batches (owner, batch_id) where owner is not null;

create index tasks_ended on forebay.tasks (agent, finished_at) where finished_at is not null;

create table forebay.uploads (
    upload_id        uuid        not null,
    owner            text        not null,
    name             text        not null,
    document         text        not null,
    bytes            bigint,
    pages            integer,
    estimated_tokens bigint,
    opened_at        timestamptz not null,
    stored_at        timestamptz,
    task_id          bigint,
    dropped_at       timestamptz,
    cleaned_at       timestamptz,
    constraint uploads_pkey primary key (upload_id),
    constraint uploads_owner_length check (char_length(owner) between 1 and 200),
    constraint uploads_name_length check (char_length(name) between 1 and 1000),
    constraint uploads_not_negative check (bytes >= 0 and pages >= 0 and estimated_tokens >= 0),
    constraint uploads_submitted_or_dropped check (task_id is null or dropped_at is null),
    constraint uploads_submitted_when_stored check (task_id is null or stored_at is not null)
);
create index uploads_unsubmitted on forebay.uploads (owner, stored_at, upload_id)
where stored_at is not null and task_id is null and dropped_at is null;
create index uploads_to_remove on forebay.uploads (opened_at, upload_id) where task_id is null and cleaned_at is null;
create index uploads_to_tidy on forebay.uploads (task_id) where task_id is not null and cleaned_at is null;
create unique index uploads_task on forebay.uploads (task_id) where task_id is not null;
comment on table forebay.uploads is
'One row a file that a person uploads, written before its first byte. No foreign key to tasks: the file outlives them.';
comment on column forebay.uploads.name is 'What the person calls the file: data, never a path.';
comment on column forebay.uploads.document is 'What the storage calls it.';
comment on column forebay.uploads.stored_at is 'When all of it was stored and found to be readable.';
comment on column forebay.uploads.task_id is 'The task that it was submitted as.';
comment on column forebay.uploads.dropped_at is 'When its owner, or its age, gave it up: it cannot be submitted any more.';
comment on column forebay.uploads.cleaned_at is
'When the storage was rid of it, or of what its task left beside it; null again when the task is retried.';

create type forebay.stored_upload as (
    upload_id uuid, name text, document text, bytes bigint, pages integer, estimated_tokens bigint,
    opened_at timestamptz, stored_at timestamptz
);
comment on type forebay.stored_upload is 'list_uploads: one row a file that can be submitted.';

create type forebay.upload_to_clean as (upload_id uuid, document text, what text);
comment on type forebay.upload_to_clean is
'uploads_to_clean: what is file (the document itself) or leftovers (what its task left beside it).';

create type forebay.batch_task as (
    task_id bigint, agent text, status text, priority integer, payload jsonb, attempt_count integer,
    progress_done integer, progress_total integer, confidence numeric, fields jsonb, error jsonb, reprocess_of bigint,
    used_input_tokens bigint, used_output_tokens bigint, used_cached_tokens bigint, llm_usd numeric,
    is_cost_known boolean, created_at timestamptz, started_at timestamptz, finished_at timestamptz
);
comment on type forebay.batch_task is
'batch_tasks: one row a task of a batch, of its result only small fields; started_at is of the attempt that runs, llm_usd null while nothing of it is known.';

create type forebay.batch_result as (
    task_id bigint, agent text, status text, payload jsonb, result jsonb, confidence numeric, error jsonb,
    used_input_tokens bigint, used_output_tokens bigint, used_cached_tokens bigint, llm_usd numeric,
    is_cost_known boolean, created_at timestamptz, finished_at timestamptz
);
comment on type forebay.batch_result is 'batch_results: one row a task of a batch, with what went in and came out.';

create type forebay.batch_outlook as (
    batch_id bigint, name text, customer text, owner text, agents text[], created_at timestamptz, tasks bigint,
    enqueued bigint, processing bigint, completed bigint, failed bigint, cancelled bigint, finished_at timestamptz,
    ahead bigint, remaining_tokens bigint, per_minute numeric, limited_by text, time_left interval,
    confidence_median numeric, llm_usd numeric, is_cost_known boolean, as_of timestamptz
);
comment on type forebay.batch_outlook is
'batch_outlook: counts by status; ahead counts other tasks before its last waiting one; time_left is null while nothing can be said of it.';

do $verify$
declare
    v_name text;
begin
    foreach v_name in array array['uploads', 'uploads_to_remove', 'uploads_to_tidy', 'batches_submission', 'tasks_ended'] loop
        if pg_catalog.to_regclass('forebay.' || v_name) is null then
            raise exception 'forebay.% is missing', v_name;
        end if;
    end loop;
    foreach v_name in array array['stored_upload', 'upload_to_clean', 'batch_task', 'batch_result', 'batch_outlook'] loop
        if pg_catalog.to_regtype('forebay.' || v_name) is null then
            raise exception 'type forebay.% is missing', v_name;
        end if;
    end loop;
end;
$verify$;
