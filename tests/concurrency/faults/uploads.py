"""Faults in uploads: what keeps a file in one batch or in none."""

from __future__ import annotations

from concurrency import test_uploads as uploads
from concurrency.faults.fault import INTERNAL, Fault

CLEAN = "functions/upkeep/uploads_to_clean.sql"
CLEANED = "functions/upkeep/uploads_cleaned.sql"
SUBMIT = "functions/submitter/submit_uploads.sql"

FAULTS = [
    Fault(
        "a submission does not lock its uploads",
        f"{INTERNAL}/_lock_upload.sql",
        "    for no key update;",
        "    ;",
        uploads.test_an_upload_is_in_one_of_two_submissions,
    ),
    Fault(
        "a submission does not wait for the clean-up",
        f"{INTERNAL}/_lock_upload.sql",
        "    for no key update;",
        "    ;",
        uploads.test_a_submission_comes_too_late_for_what_is_being_cleaned,
    ),
    Fault(
        "uploads are locked as they come",
        f"{INTERNAL}/_take_uploads.sql",
        "array(select ids.id from unnest(p_upload_ids) as ids (id) order by ids.id)",
        "p_upload_ids",
        uploads.test_uploads_are_locked_by_id,
    ),
    Fault(
        "an upload may be in two batches",
        f"{INTERNAL}/_lock_upload.sql",
        "if v_upload.task_id is not null then",
        "if false then",
        uploads.test_an_upload_is_in_one_of_two_submissions,
    ),
    Fault(
        "what was dropped can be submitted",
        f"{INTERNAL}/_lock_open_upload.sql",
        "if v_upload.dropped_at is not null then",
        "if false then",
        uploads.test_what_was_dropped_meanwhile_is_refused,
        ("finish",),
    ),
    Fault(
        "a key stands for anything",
        f"{INTERNAL}/_submitted_batch.sql",
        "if found and exists (",
        "if found and not exists (select) and exists (",
        uploads.test_a_key_that_is_being_used_for_others_is_refused,
    ),
    Fault(
        "a key in use is an error",
        f"{INTERNAL}/_open_batch.sql",
        "on conflict (owner, submission_key) where submission_key is not null do nothing",
        "",
        uploads.test_a_submission_twice_at_once_is_one_batch,
    ),
    Fault(
        "a submission takes the line last",
        SUBMIT,
        "perform forebay._join_line(array[p_agent]);",
        "",
        uploads.test_a_submission_takes_the_line_before_its_uploads,
    ),
    Fault(
        "the clean-up waits for submissions",
        CLEAN,
        "for no key update skip locked",
        "",
        uploads.test_the_clean_up_passes_what_is_being_submitted,
    ),
    Fault(
        "the clean-up marks nothing",
        CLEAN,
        "set dropped_at = coalesce(u.dropped_at, v_now)",
        "set dropped_at = u.dropped_at",
        uploads.test_a_submission_comes_too_late_for_what_is_being_cleaned,
    ),
    Fault(
        "the clean-up hides what a retried task will leave",
        CLEANED,
        "    for no key update;",
        "    ;",
        uploads.test_a_task_that_is_being_retried_is_not_cleaned,
    ),
    Fault(
        "a retried task is never cleaned again",
        f"{INTERNAL}/_retry.sql",
        "perform forebay._reopen_uploads(v_retried);",
        "",
        uploads.test_what_a_retried_task_leaves_is_cleaned_again,
    ),
]
