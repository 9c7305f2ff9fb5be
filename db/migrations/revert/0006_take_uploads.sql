-- Drop what 0006 added. The functions that use it must be gone, and those of the release before applied again after it.

drop type
forebay.stored_upload, forebay.upload_to_clean, forebay.batch_task, forebay.batch_result, forebay.batch_outlook;
drop table forebay.uploads;
drop index forebay.batches_submission, forebay.batches_owner, forebay.tasks_ended;
alter table forebay.batches drop column submission_key;
create type forebay.batch_task as (
    task_id bigint, agent text, status text, priority integer, payload jsonb, attempt_count integer,
    progress_done integer, progress_total integer, confidence numeric, error jsonb,
    created_at timestamptz, finished_at timestamptz
);
