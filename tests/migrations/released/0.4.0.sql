-- Bring schema forebay to release 0.4.0: psql -v ON_ERROR_STOP=1 -f FILE
--
-- One transaction, of these steps:
--   new     migrations/0001_create_roles.sql
--   new     migrations/0002_create_agents_and_tasks.sql
--   new     migrations/0003_create_row_types.sql
--   new     migrations/0004_hold_quotas.sql
--   new     migrations/0005_measure_tasks.sql
--   new     migrations/0006_take_uploads.sql
--   new     migrations/0007_act_and_announce.sql
--   new     migrations/0008_index_owners_folded.sql
--   new     migrations/0009_run_lakeflow.sql
--   new     migrations/0010_find_traces.sql
--   new     migrations/0011_read_bills.sql
--   new     migrations/0012_make_branches.sql
--   new     functions/internal/_act.sql
--   new     functions/internal/_add_compute.sql
--   new     functions/internal/_add_to_rollups.sql
--   new     functions/internal/_admit.sql
--   new     functions/internal/_admit_principal.sql
--   new     functions/internal/_after_failure.sql
--   new     functions/internal/_aged_order.sql
--   new     functions/internal/_agent_gauges.sql
--   new     functions/internal/_agent_key.sql
--   new     functions/internal/_agent_outlook.sql
--   new     functions/internal/_agent_state.sql
--   new     functions/internal/_ahead_words.sql
--   new     functions/internal/_alias.sql
--   new     functions/internal/_ask_wakeup.sql
--   new     functions/internal/_attempt_document.sql
--   new     functions/internal/_audit.sql
--   new     functions/internal/_backoff.sql
--   new     functions/internal/_batch_explanations.sql
--   new     functions/internal/_batch_outlook.sql
--   new     functions/internal/_batch_results.sql
--   new     functions/internal/_batch_sums.sql
--   new     functions/internal/_batch_task.sql
--   new     functions/internal/_batch_tasks.sql
--   new     functions/internal/_batch_tasks_by_confidence.sql
--   new     functions/internal/_batches_done.sql
--   new     functions/internal/_boosted.sql
--   new     functions/internal/_branch_state.sql
--   new     functions/internal/_bucket_level.sql
--   new     functions/internal/_buckets.sql
--   new     functions/internal/_call_hindrance.sql
--   new     functions/internal/_called_at.sql
--   new     functions/internal/_calls_ahead.sql
--   new     functions/internal/_calls_to_come.sql
--   new     functions/internal/_cancel.sql
--   new     functions/internal/_candidates.sql
--   new     functions/internal/_cap_condition.sql
--   new     functions/internal/_cap_today.sql
--   new     functions/internal/_capped_customers.sql
--   new     functions/internal/_caps.sql
--   new     functions/internal/_cells.sql
--   new     functions/internal/_chance.sql
--   new     functions/internal/_claim.sql
--   new     functions/internal/_cluster.sql
--   new     functions/internal/_compute_source.sql
--   new     functions/internal/_conditions.sql
--   new     functions/internal/_configured_words.sql
--   new     functions/internal/_cost_in_rollups.sql
--   new     functions/internal/_cost_of_models.sql
--   new     functions/internal/_cost_of_tasks.sql
--   new     functions/internal/_cost_of_tries.sql
--   new     functions/internal/_count_ahead.sql
--   new     functions/internal/_count_expired.sql
--   new     functions/internal/_count_turns.sql
--   new     functions/internal/_counted_calls.sql
--   new     functions/internal/_customer_priorities.sql
--   new     functions/internal/_customers_with_tasks.sql
--   new     functions/internal/_dearest_usd_per_m.sql
--   new     functions/internal/_defer.sql
--   new     functions/internal/_disown_attempts.sql
--   new     functions/internal/_drop_rollups.sql
--   new     functions/internal/_effective_priority.sql
--   new     functions/internal/_effects.sql
--   new     functions/internal/_end_expired.sql
--   new     functions/internal/_end_observed.sql
--   new     functions/internal/_end_refusals.sql
--   new     functions/internal/_error.sql
--   new     functions/internal/_estimate.sql
--   new     functions/internal/_exact.sql
--   new     functions/internal/_exact_times.sql
--   new     functions/internal/_expect.sql
--   new     functions/internal/_expired_priority.sql
--   new     functions/internal/_expiry_error.sql
--   new     functions/internal/_explain_running.sql
--   new     functions/internal/_explain_waiting.sql
--   new     functions/internal/_fair_order.sql
--   new     functions/internal/_finished_per_minute.sql
--   new     functions/internal/_first_call.sql
--   new     functions/internal/_first_start.sql
--   new     functions/internal/_firsts.sql
--   new     functions/internal/_fits.sql
--   new     functions/internal/_fitting.sql
--   new     functions/internal/_flight_state.sql
--   new     functions/internal/_fold_changes.sql
--   new     functions/internal/_fold_quota.sql
--   new     functions/internal/_fold_spend.sql
--   new     functions/internal/_forget_calls.sql
--   new     functions/internal/_forget_refusals.sql
--   new     functions/internal/_free_at.sql
--   new     functions/internal/_gauge_words.sql
--   new     functions/internal/_get_agent.sql
--   new     functions/internal/_get_attempt.sql
--   new     functions/internal/_get_batch.sql
--   new     functions/internal/_get_effective.sql
--   new     functions/internal/_get_task.sql
--   new     functions/internal/_give_back.sql
--   new     functions/internal/_grant_call.sql
--   new     functions/internal/_halt.sql
--   new     functions/internal/_has_caps.sql
--   new     functions/internal/_has_customer_caps.sql
--   new     functions/internal/_has_in_flight.sql
--   new     functions/internal/_has_waiting.sql
--   new     functions/internal/_here.sql
--   new     functions/internal/_hindrance.sql
--   new     functions/internal/_hindrance_words.sql
--   new     functions/internal/_histogram_marks.sql
--   new     functions/internal/_histogram_times.sql
--   new     functions/internal/_hold_call.sql
--   new     functions/internal/_in_flight.sql
--   new     functions/internal/_in_unit.sql
--   new     functions/internal/_in_use.sql
--   new     functions/internal/_is_copy.sql
--   new     functions/internal/_is_current.sql
--   new     functions/internal/_is_expired.sql
--   new     functions/internal/_is_external.sql
--   new     functions/internal/_is_here.sql
--   new     functions/internal/_is_limited.sql
--   new     functions/internal/_is_person.sql
--   new     functions/internal/_is_short.sql
--   new     functions/internal/_is_small.sql
--   new     functions/internal/_is_weighed.sql
--   new     functions/internal/_join_line.sql
--   new     functions/internal/_json_boolean.sql
--   new     functions/internal/_json_integer.sql
--   new     functions/internal/_json_name.sql
--   new     functions/internal/_json_number.sql
--   new     functions/internal/_json_text.sql
--   new     functions/internal/_json_time.sql
--   new     functions/internal/_judge_call.sql
--   new     functions/internal/_known_calls.sql
--   new     functions/internal/_known_usd.sql
--   new     functions/internal/_last_minute.sql
--   new     functions/internal/_last_refusal.sql
--   new     functions/internal/_launcher_faults.sql
--   new     functions/internal/_launcher_words.sql
--   new     functions/internal/_learned.sql
--   new     functions/internal/_leave_room.sql
--   new     functions/internal/_levels.sql
--   new     functions/internal/_limits.sql
--   new     functions/internal/_line.sql
--   new     functions/internal/_line_key.sql
--   new     functions/internal/_line_state.sql
--   new     functions/internal/_lined_up.sql
--   new     functions/internal/_lock_agent.sql
--   new     functions/internal/_lock_attempt.sql
--   new     functions/internal/_lock_customers.sql
--   new     functions/internal/_lock_definition.sql
--   new     functions/internal/_lock_end_of_line.sql
--   new     functions/internal/_lock_open_upload.sql
--   new     functions/internal/_lock_quotas.sql
--   new     functions/internal/_lock_tasks.sql
--   new     functions/internal/_lock_upload.sql
--   new     functions/internal/_look_again_at.sql
--   new     functions/internal/_lowered.sql
--   new     functions/internal/_mask_attempts.sql
--   new     functions/internal/_mask_audit.sql
--   new     functions/internal/_mask_batches.sql
--   new     functions/internal/_mask_customers.sql
--   new     functions/internal/_mask_rest.sql
--   new     functions/internal/_mask_spending.sql
--   new     functions/internal/_mask_tasks.sql
--   new     functions/internal/_mask_uploads.sql
--   new     functions/internal/_masked_error.sql
--   new     functions/internal/_masked_run_state.sql
--   new     functions/internal/_match_keys.sql
--   new     functions/internal/_matching_tasks.sql
--   new     functions/internal/_may_defer.sql
--   new     functions/internal/_may_dispatch.sql
--   new     functions/internal/_may_retry.sql
--   new     functions/internal/_may_start.sql
--   new     functions/internal/_measure.sql
--   new     functions/internal/_moment_words.sql
--   new     functions/internal/_move_ids.sql
--   new     functions/internal/_names.sql
--   new     functions/internal/_need.sql
--   new     functions/internal/_newest_of_agents.sql
--   new     functions/internal/_newest_of_customers.sql
--   new     functions/internal/_next_round.sql
--   new     functions/internal/_note_announcements.sql
--   new     functions/internal/_notify.sql
--   new     functions/internal/_now.sql
--   new     functions/internal/_number_words.sql
--   new     functions/internal/_open_batch.sql
--   new     functions/internal/_open_calls.sql
--   new     functions/internal/_open_line.sql
--   new     functions/internal/_open_tasks.sql
--   new     functions/internal/_outlook_words.sql
--   new     functions/internal/_output_share.sql
--   new     functions/internal/_own_batch.sql
--   new     functions/internal/_page_of_attempts.sql
--   new     functions/internal/_page_of_tasks.sql
--   new     functions/internal/_parse_limit.sql
--   new     functions/internal/_parse_limits.sql
--   new     functions/internal/_parse_period.sql
--   new     functions/internal/_parse_records.sql
--   new     functions/internal/_parse_task.sql
--   new     functions/internal/_parse_usage.sql
--   new     functions/internal/_passes.sql
--   new     functions/internal/_passing.sql
--   new     functions/internal/_pause.sql
--   new     functions/internal/_pause_words.sql
--   new     functions/internal/_pay.sql
--   new     functions/internal/_period_words.sql
--   new     functions/internal/_pick.sql
--   new     functions/internal/_place_in_line.sql
--   new     functions/internal/_points_of_slots.sql
--   new     functions/internal/_price_call.sql
--   new     functions/internal/_projected_rooms.sql
--   new     functions/internal/_projected_usd.sql
--   new     functions/internal/_quota_limits.sql
--   new     functions/internal/_quota_rooms.sql
--   new     functions/internal/_quota_state.sql
--   new     functions/internal/_quota_throttle.sql
--   new     functions/internal/_ranked_line.sql
--   new     functions/internal/_rebuild_rollups.sql
--   new     functions/internal/_record_usage.sql
--   new     functions/internal/_recorded_usd.sql
--   new     functions/internal/_refill.sql
--   new     functions/internal/_refuse.sql
--   new     functions/internal/_remaining.sql
--   new     functions/internal/_rename_spending.sql
--   new     functions/internal/_reopen_uploads.sql
--   new     functions/internal/_report.sql
--   new     functions/internal/_report_effect.sql
--   new     functions/internal/_report_event.sql
--   new     functions/internal/_report_of_slots.sql
--   new     functions/internal/_request_burst.sql
--   new     functions/internal/_require_agent_definition.sql
--   new     functions/internal/_require_agents.sql
--   new     functions/internal/_require_between.sql
--   new     functions/internal/_require_call.sql
--   new     functions/internal/_require_count.sql
--   new     functions/internal/_require_delay.sql
--   new     functions/internal/_require_document.sql
--   new     functions/internal/_require_ids.sql
--   new     functions/internal/_require_launchers.sql
--   new     functions/internal/_require_open.sql
--   new     functions/internal/_require_owner.sql
--   new     functions/internal/_require_quotas.sql
--   new     functions/internal/_require_read_committed.sql
--   new     functions/internal/_require_short_line.sql
--   new     functions/internal/_require_statuses.sql
--   new     functions/internal/_require_unreported.sql
--   new     functions/internal/_require_worker.sql
--   new     functions/internal/_reservation.sql
--   new     functions/internal/_result_fault.sql
--   new     functions/internal/_retry.sql
--   new     functions/internal/_room.sql
--   new     functions/internal/_rule_words.sql
--   new     functions/internal/_run_outcome.sql
--   new     functions/internal/_run_words.sql
--   new     functions/internal/_search_tasks.sql
--   new     functions/internal/_seen.sql
--   new     functions/internal/_set_budget.sql
--   new     functions/internal/_set_shared.sql
--   new     functions/internal/_settle.sql
--   new     functions/internal/_settle_call.sql
--   new     functions/internal/_share.sql
--   new     functions/internal/_short_customers.sql
--   new     functions/internal/_slot_at.sql
--   new     functions/internal/_slots.sql
--   new     functions/internal/_spend.sql
--   new     functions/internal/_spent_today.sql
--   new     functions/internal/_stands_before.sql
--   new     functions/internal/_starts_at.sql
--   new     functions/internal/_step.sql
--   new     functions/internal/_still_asks.sql
--   new     functions/internal/_strict_line.sql
--   new     functions/internal/_submitted_batch.sql
--   new     functions/internal/_supplied_rooms.sql
--   new     functions/internal/_take_money.sql
--   new     functions/internal/_take_room.sql
--   new     functions/internal/_take_turns.sql
--   new     functions/internal/_take_uploads.sql
--   new     functions/internal/_take_usage.sql
--   new     functions/internal/_task_cell.sql
--   new     functions/internal/_task_filter.sql
--   new     functions/internal/_task_rooms.sql
--   new     functions/internal/_task_use.sql
--   new     functions/internal/_throttle.sql
--   new     functions/internal/_throttled_by.sql
--   new     functions/internal/_time_at.sql
--   new     functions/internal/_time_place.sql
--   new     functions/internal/_token_burst.sql
--   new     functions/internal/_told.sql
--   new     functions/internal/_trace_state.sql
--   new     functions/internal/_trace_wait.sql
--   new     functions/internal/_turn_cost.sql
--   new     functions/internal/_turns.sql
--   new     functions/internal/_unreadable.sql
--   new     functions/internal/_upsert_rollups.sql
--   new     functions/internal/_usage_source.sql
--   new     functions/internal/_usage_sources.sql
--   new     functions/internal/_utc_day.sql
--   new     functions/internal/_waiting_priorities.sql
--   new     functions/internal/_waiting_reason.sql
--   new     functions/internal/_waiting_words.sql
--   new     functions/internal/_waits_since.sql
--   new     functions/internal/_wake_due.sql
--   new     functions/internal/_wanted_statuses.sql
--   new     functions/internal/_window_length.sql
--   new     functions/internal/_window_used.sql
--   new     functions/internal/_within.sql
--   new     functions/internal/_without_quotas.sql
--   new     functions/submitter/batch_explanations.sql
--   new     functions/submitter/batch_outlook.sql
--   new     functions/submitter/batch_results.sql
--   new     functions/submitter/batch_tasks.sql
--   new     functions/submitter/batch_tasks_by_confidence.sql
--   new     functions/submitter/cancel_batch.sql
--   new     functions/submitter/drop_upload.sql
--   new     functions/submitter/enqueue.sql
--   new     functions/submitter/enqueue_many.sql
--   new     functions/submitter/finish_upload.sql
--   new     functions/submitter/list_uploads.sql
--   new     functions/submitter/open_batch.sql
--   new     functions/submitter/open_upload.sql
--   new     functions/submitter/own_batches.sql
--   new     functions/submitter/registered_agents.sql
--   new     functions/submitter/retry_batch.sql
--   new     functions/submitter/retry_batch_tasks.sql
--   new     functions/submitter/submit_uploads.sql
--   new     functions/worker/adopt.sql
--   new     functions/worker/dequeue.sql
--   new     functions/worker/observe_launcher.sql
--   new     functions/worker/observe_run.sql
--   new     functions/worker/record_run.sql
--   new     functions/worker/recover_claims.sql
--   new     functions/worker/release.sql
--   new     functions/worker/renew_leases.sql
--   new     functions/worker/runs_to_cancel.sql
--   new     functions/worker/sweep.sql
--   new     functions/agent/begin_attempt.sql
--   new     functions/agent/callback.sql
--   new     functions/agent/complete.sql
--   new     functions/agent/complete_many.sql
--   new     functions/agent/fail.sql
--   new     functions/agent/may_call.sql
--   new     functions/agent/report_progress.sql
--   new     functions/agent/report_usage.sql
--   new     functions/operator/act_on_matching.sql
--   new     functions/operator/annotate.sql
--   new     functions/operator/cancel.sql
--   new     functions/operator/lift_spend_cap.sql
--   new     functions/operator/open_installation.sql
--   new     functions/operator/pause_agent.sql
--   new     functions/operator/register_agent.sql
--   new     functions/operator/register_customer.sql
--   new     functions/operator/register_price.sql
--   new     functions/operator/register_quota.sql
--   new     functions/operator/reprioritize.sql
--   new     functions/operator/reprocess.sql
--   new     functions/operator/resume_agent.sql
--   new     functions/operator/retry.sql
--   new     functions/viewer/agent_names.sql
--   new     functions/viewer/agent_status.sql
--   new     functions/viewer/batch_progress.sql
--   new     functions/viewer/cost_by.sql
--   new     functions/viewer/cost_sources.sql
--   new     functions/viewer/cost_summary.sql
--   new     functions/viewer/count_matching.sql
--   new     functions/viewer/customer_costs.sql
--   new     functions/viewer/customer_status.sql
--   new     functions/viewer/explain_task.sql
--   new     functions/viewer/health.sql
--   new     functions/viewer/list_attempts.sql
--   new     functions/viewer/list_audit.sql
--   new     functions/viewer/list_batches.sql
--   new     functions/viewer/list_compute_sources.sql
--   new     functions/viewer/list_prices.sql
--   new     functions/viewer/list_tasks.sql
--   new     functions/viewer/metric_series.sql
--   new     functions/viewer/metrics.sql
--   new     functions/viewer/monitoring.sql
--   new     functions/viewer/quota_status.sql
--   new     functions/viewer/schema_version.sql
--   new     functions/viewer/server_time.sql
--   new     functions/viewer/shared_costs.sql
--   new     functions/viewer/table_sizes.sql
--   new     functions/viewer/task_counts.sql
--   new     functions/viewer/task_detail.sql
--   new     functions/reader/read_batch_explanations.sql
--   new     functions/reader/read_batch_outlook.sql
--   new     functions/reader/read_batch_results.sql
--   new     functions/reader/read_batch_tasks.sql
--   new     functions/reader/read_batch_tasks_by_confidence.sql
--   new     functions/reader/task_result.sql
--   new     functions/upkeep/announcement_sent.sql
--   new     functions/upkeep/attempts_to_cost.sql
--   new     functions/upkeep/attempts_to_trace.sql
--   new     functions/upkeep/begin_bill.sql
--   new     functions/upkeep/begin_branch.sql
--   new     functions/upkeep/branch_state.sql
--   new     functions/upkeep/collect_announcements.sql
--   new     functions/upkeep/list_clones.sql
--   new     functions/upkeep/mask_data.sql
--   new     functions/upkeep/prepare_branch.sql
--   new     functions/upkeep/record_compute_usage.sql
--   new     functions/upkeep/record_traces.sql
--   new     functions/upkeep/runs_to_bill.sql
--   new     functions/upkeep/uploads_cleaned.sql
--   new     functions/upkeep/uploads_to_clean.sql
--   new     triggers/agents.sql
--   new     triggers/task_attempts.sql
--   new     triggers/tasks.sql
--   new     triggers/wakeups.sql
--   new     grants.sql
--   new     0.4.0

\set ON_ERROR_STOP on
\set QUIET on
\encoding UTF8
begin;
set transaction isolation level read committed;
set local lock_timeout = '5s';
set local check_function_bodies = off;
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('forebay.schema')) \g /dev/null

\echo new migrations/0001_create_roles.sql
-- The roles, the schema that forebay_owner owns, and the ledger of what is installed in it.
--
-- requires  PostgreSQL 15, and a superuser or a role with CREATEROLE that may create schemas in this database
-- locks     nothing
-- rewrites  nothing
-- breaks    nothing
-- revert    revert/0001_create_roles.sql
--
-- Roles belong to the cluster: those that another database's installation created stay as they are.
-- Run it in a transaction: from its second half on the transaction acts as forebay_owner.

do $roles$
declare
    v_role    text;
    v_comment text;
begin
    if pg_catalog.current_setting('server_version_num')::integer < 150000 then
        raise exception 'Forebay needs PostgreSQL 15 or newer, and this server is %',
            pg_catalog.current_setting('server_version')
            using errcode = 'feature_not_supported';
    end if;
    for v_role, v_comment in
        values
        ('forebay_owner', 'Owns schema forebay and all that is in it; nobody logs in as it.'),
        ('forebay_submitter', 'May call the functions that submit tasks and batches.'),
        ('forebay_worker', 'May call the functions that claim tasks and keep their leases.'),
        ('forebay_agent', 'May call the functions that report usage, progress and results.'),
        ('forebay_operator', 'May call the functions that define agents and change tasks.'),
        ('forebay_viewer', 'May call the functions that show tasks without payloads and results.'),
        ('forebay_reader', 'May call the functions that show payloads and results.'),
        ('forebay_upkeep', 'May call the functions that keep the database small and correct.')
    loop
        if exists (select from pg_catalog.pg_roles as r where r.rolname = v_role) then
            continue;
        end if;
        begin
            execute pg_catalog.format('create role %I nologin', v_role);
            execute pg_catalog.format('comment on role %I is %L', v_role, v_comment);
        exception
            when duplicate_object or unique_violation then
                null;  -- an installation in another database was quicker
        end;
    end loop;
exception
    when insufficient_privilege then
        raise exception 'role "%" may not create roles', current_user
            using errcode = 'insufficient_privilege',
                hint = 'Install as a superuser, or as a role with CREATEROLE.';
end;
$roles$;

do $membership$
begin
    if not pg_catalog.pg_has_role(
        current_user,
        'forebay_owner',
        case when pg_catalog.current_setting('server_version_num')::integer < 160000 then 'MEMBER' else 'SET' end
    ) then
        grant forebay_owner to current_user;
    end if;
exception
    when insufficient_privilege then
        raise exception 'role "%" may not act as forebay_owner, which another role created', current_user
            using errcode = 'insufficient_privilege',
                hint = pg_catalog.format('As a superuser run: grant forebay_owner to %I', current_user);
end;
$membership$;

create schema forebay authorization forebay_owner;

set local role forebay_owner;

alter default privileges for role forebay_owner revoke execute on functions from public;

comment on schema forebay is
'The control plane of long-running AI-agent work. Call its functions; nobody but forebay_owner reads its tables.';

create table forebay.schema_history (
    name       text        not null,
    kind       text        not null,
    sha256     text,
    release    text        not null,
    applied_at timestamptz not null,
    applied_by text        not null,
    runs       integer     not null default 1,
    constraint schema_history_pkey primary key (name),
    constraint schema_history_kind_known check (kind in ('versioned', 'repeatable', 'release')),
    constraint schema_history_sha256_of_files check ((kind = 'release') = (sha256 is null)),
    constraint schema_history_release_is_numbers check (release ~ '^[0-9]+(\.[0-9]+)*$'),
    constraint schema_history_release_names_itself check (kind <> 'release' or name = release)
);
comment on table forebay.schema_history is
'One row a file of db/ that was applied, and one row a release that was installed. Written by the installer alone.';
comment on column forebay.schema_history.name is 'The file below db/, or the release.';
comment on column forebay.schema_history.kind is
'versioned: applied once and frozen; repeatable: applied again when its text changed; release: not a file.';
comment on column forebay.schema_history.release is 'Which release of Forebay applied it last.';
comment on column forebay.schema_history.runs is 'How often it was applied.';

do $verify$
begin
    if current_user <> 'forebay_owner' then
        raise exception 'expected to act as forebay_owner, not as %', current_user;
    end if;
    if not exists (
        select
        from pg_catalog.pg_default_acl as d
        where d.defaclrole = 'forebay_owner'::regrole and d.defaclobjtype = 'f' and d.defaclnamespace = 0
    ) then
        raise exception 'functions of forebay_owner would be executable by PUBLIC';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0001_create_roles.sql', 'versioned', 'd5c88b075065fc4799b53272e21ded871ffba4458a6a2641506dbf403e3a6dbe', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0002_create_agents_and_tasks.sql
-- The tables of the queue: agents and their budgets, batches, tasks, attempts, usage, the audit log.
--
-- requires  0001_create_roles
-- locks     nothing that exists before it
-- rewrites  nothing
-- breaks    nothing
-- revert    revert/0002_create_agents_and_tasks.sql

create table forebay.installation (
    is_singleton      boolean     not null default true,
    installation_id   uuid        not null default gen_random_uuid(),
    system_identifier bigint      not null,
    is_branch         boolean     not null default false,
    opened_in         bigint,
    max_payload_bytes integer     not null default 1048576,
    max_result_bytes  integer     not null default 1048576,
    max_batch_size    integer     not null default 10000,
    adoption_grace    interval    not null default '2 minutes',
    report_grace      interval    not null default '30 seconds',
    constraint installation_pkey primary key (is_singleton),
    constraint installation_is_one_row check (is_singleton),
    constraint installation_limits_positive check (
        max_payload_bytes > 0 and max_result_bytes > 0 and max_batch_size > 0
        and adoption_grace >= interval '0' and report_grace >= interval '0'
    )
);
comment on table forebay.installation is
'One row: the identity of this database, whether it is a copy, and the settings that hold for all agents.';
comment on column forebay.installation.system_identifier is
'Of the cluster that this row was written in; another value there means a restored copy.';
comment on column forebay.installation.opened_in is
'The cluster in which an operator let this branch or copy dispatch; a copy of it elsewhere has to be opened anew.';

create table forebay.agents (
    agent                    text        not null,
    launcher                 text        not null,
    job_id                   bigint,
    entry_point              text,
    max_concurrent_tasks     integer,
    max_tpm                  bigint,
    max_rpm                  integer,
    tpm_burst                numeric     not null,
    lease                    interval    not null,
    timeout                  interval    not null,
    max_attempts             integer     not null,
    max_releases             integer     not null,
    backoff_base             interval    not null,
    backoff_max              interval    not null,
    on_lost_lease            text        not null,
    late_results             text        not null,
    default_estimated_tokens bigint      not null,
    retention                interval    not null,
    paused_until             timestamptz,
    pause_reason             text,
    created_at               timestamptz not null,
    updated_at               timestamptz not null,
    constraint agents_pkey primary key (agent),
    constraint agents_name_length check (char_length(agent) between 1 and 200),
    constraint agents_launcher_known check (launcher in ('pull', 'local', 'lakeflow')),
    constraint agents_limits_not_negative check (max_concurrent_tasks >= 0 and max_tpm >= 0 and max_rpm >= 0),
    constraint agents_burst_positive check (tpm_burst > 0 and tpm_burst <= 100),
    constraint agents_durations_positive check (
        lease > interval '0' and timeout > interval '0' and backoff_base > interval '0'
        and backoff_max >= backoff_base and retention > interval '0'
    ),
    constraint agents_attempts_positive check (max_attempts >= 1 and max_releases >= 0),
    constraint agents_estimate_not_negative check (default_estimated_tokens >= 0),
    constraint agents_on_lost_lease_known check (on_lost_lease in ('retry', 'fail')),
    constraint agents_late_results_known check (late_results in ('accept', 'reject'))
);
comment on table forebay.agents is
'What an agent is and what it may use. Limits live here and nowhere else. Read by dequeue, never locked by it.';

create table forebay.agent_budgets (
    agent         text        not null,
    tokens        numeric,
    requests      numeric,
    refilled_at   timestamptz not null,
    limited_since timestamptz,
    constraint agent_budgets_pkey primary key (agent),
    constraint agent_budgets_agent_fkey foreign key (agent) references forebay.agents (agent) on delete cascade
) with (fillfactor = 50);
comment on table forebay.agent_budgets is
'One narrow row an agent: the admission lock, and the levels of its two buckets. Null means no such limit.';
comment on column forebay.agent_budgets.tokens is 'Tokens left as of refilled_at; negative after a task larger than the burst.';
comment on column forebay.agent_budgets.limited_since is 'Attempts claimed before it were never charged to this bucket.';
comment on column forebay.agent_budgets.requests is 'Claims left as of refilled_at.';

create table forebay.agent_settlements (
    settlement_id bigint generated always as identity,
    agent         text        not null,
    tokens        bigint      not null,
    settled_at    timestamptz not null,
    constraint agent_settlements_pkey primary key (settlement_id)
);
create index agent_settlements_agent on forebay.agent_settlements (agent);
comment on table forebay.agent_settlements is
'Charged minus actual tokens of ended attempts, waiting for the next dequeue to fold them into the bucket.';

create table forebay.batches (
    batch_id   bigint generated always as identity,
    name       text        not null,
    customer   text,
    owner      text,
    metadata   jsonb       not null,
    created_at timestamptz not null,
    constraint batches_pkey primary key (batch_id),
    constraint batches_name_length check (char_length(name) between 1 and 500)
);
comment on table forebay.batches is 'The parent of many tasks: one person''s upload, one extraction.';

create table forebay.tasks (
    task_id          bigint generated by default as identity,
    agent            text        not null,
    status           text        not null default 'enqueued',
    priority         smallint    not null default 0,
    batch_id         bigint,
    customer         text,
    idempotency_key  text,
    payload          jsonb       not null,
    estimated_tokens bigint,
    max_attempts     integer,
    is_ready         boolean     not null default true,
    available_at     timestamptz not null,
    attempt_id       bigint,
    locked_by        text,
    attempt_no       integer     not null default 0,
    attempt_count    integer     not null default 0,
    release_count    integer     not null default 0,
    result           jsonb,
    confidence       numeric,
    error            jsonb,
    reprocess_of     bigint,
    created_at       timestamptz not null,
    finished_at      timestamptz,
    constraint tasks_pkey primary key (task_id),
    constraint tasks_status_known check (status in ('enqueued', 'processing', 'completed', 'failed', 'cancelled')),
    constraint tasks_claim_when_processing check (
        (status = 'processing') = (attempt_id is not null) and (status = 'processing') = (locked_by is not null)
    ),
    constraint tasks_finished_when_terminal check (
        (status in ('completed', 'failed', 'cancelled')) = (finished_at is not null)
    ),
    constraint tasks_finished_after_created check (finished_at >= created_at),
    constraint tasks_counts_not_negative check (attempt_count >= 0 and release_count >= 0 and attempt_no >= 0),
    constraint tasks_confidence_range check (confidence between 0 and 1)
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index tasks_ready on forebay.tasks (agent, priority desc, created_at, task_id)
where status = 'enqueued' and is_ready;
create index tasks_delayed on forebay.tasks (agent, available_at) where status = 'enqueued' and not is_ready;
create unique index tasks_idempotency on forebay.tasks (agent, idempotency_key) where idempotency_key is not null;
create index tasks_batch on forebay.tasks (batch_id, task_id) where batch_id is not null;
create index tasks_reprocess on forebay.tasks (reprocess_of) where reprocess_of is not null;
create index tasks_created on forebay.tasks (created_at, task_id);
comment on table forebay.tasks is
'One row a task. No foreign key to agents and batches: both are checked in enqueue_many.';
comment on column forebay.tasks.is_ready is 'False while available_at lies ahead; dequeue and sweep turn it when it is due.';
comment on column forebay.tasks.attempt_id is 'The current attempt, while processing: the fencing token.';
comment on column forebay.tasks.attempt_no is 'How many attempts were claimed in all.';
comment on column forebay.tasks.attempt_count is 'How many of them were spent; an operator''s retry sets it to 0.';
comment on column forebay.tasks.error is 'The last failure.';

create table forebay.task_attempts (
    attempt_id       bigint generated by default as identity,
    task_id          bigint      not null,
    agent            text        not null,
    launcher         text        not null,
    attempt_no       integer     not null,
    status           text        not null default 'claimed',
    worker           text        not null,
    launch_token     text        not null,
    run_id           text,
    run_state        jsonb,
    run_ended_at     timestamptz,
    trace_id         text,
    lease_expires_at timestamptz not null,
    deadline_at      timestamptz not null,
    estimated_tokens bigint      not null,
    charged_tokens   bigint,
    is_stop_pending  boolean     not null default false,
    stop_asked_at    timestamptz,
    progress_done    integer,
    progress_total   integer,
    result           jsonb,
    confidence       numeric,
    error            jsonb,
    started_at       timestamptz not null,
    reported_at      timestamptz,
    finished_at      timestamptz,
    constraint task_attempts_pkey primary key (attempt_id),
    constraint task_attempts_task_fkey foreign key (task_id) references forebay.tasks (task_id) on delete cascade,
    constraint task_attempts_number unique (task_id, attempt_no),
    constraint task_attempts_launch_token unique (launch_token),
    constraint task_attempts_status_known check (
        status in ('claimed', 'running', 'succeeded', 'failed', 'released', 'lost', 'superseded', 'cancelled')
    ),
    constraint task_attempts_finished_when_ended check (
        (status not in ('claimed', 'running')) = (finished_at is not null)
    ),
    constraint task_attempts_finished_after_started check (finished_at >= started_at)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index task_attempts_open on forebay.task_attempts (agent) where finished_at is null;
create index task_attempts_to_stop on forebay.task_attempts (launcher, attempt_id) where is_stop_pending;
comment on table forebay.task_attempts is
'One row a claim. The lease lives here, in a column that no index holds, so that renewing it stays a HOT update.';
comment on column forebay.task_attempts.estimated_tokens is 'What the claim was estimated at: the task''s estimate or the agent''s default.';
comment on column forebay.task_attempts.charged_tokens is
'What the agent''s bucket is charged with for this attempt now; null when the agent had no max_tpm at the claim.';
comment on column forebay.task_attempts.is_stop_pending is
'The attempt was ended from outside, and nothing has shown yet that its worker or run has stopped.';
comment on column forebay.task_attempts.reported_at is 'When the attempt itself first said how it ended.';
comment on column forebay.task_attempts.result is 'A result that did not become the task''s, kept for audit.';

create table forebay.attempt_usage (
    attempt_id    bigint      not null,
    source        text        not null,
    call_id       text        not null,
    model         text,
    input_tokens  bigint,
    output_tokens bigint,
    cached_tokens bigint,
    cost_usd      numeric,
    started_at    timestamptz,
    latency_ms    bigint,
    trace_id      text,
    recorded_at   timestamptz not null,
    constraint attempt_usage_pkey primary key (attempt_id, source, call_id),
    constraint attempt_usage_attempt_fkey foreign key (attempt_id)
    references forebay.task_attempts (attempt_id) on delete cascade,
    constraint attempt_usage_source_known check (source in ('agent', 'trace')),
    constraint attempt_usage_not_negative check (
        input_tokens >= 0 and output_tokens >= 0 and cached_tokens >= 0 and cost_usd >= 0 and latency_ms >= 0
    )
);
comment on table forebay.attempt_usage is 'One row a model call and source. Null is unknown, never zero.';
comment on column forebay.attempt_usage.cached_tokens is 'The part of input_tokens that came from the provider''s cache.';

create table forebay.audit_log (
    audit_id     bigint generated always as identity,
    acted_at     timestamptz not null,
    action       text        not null,
    task_id      bigint,
    agent        text,
    session_role text        not null,
    actor        text,
    reason       text,
    details      jsonb,
    constraint audit_log_pkey primary key (audit_id)
);
create index audit_log_task on forebay.audit_log (task_id) where task_id is not null;
comment on table forebay.audit_log is 'Every act of an operator or a batch''s owner: who, when, why. One row a task or agent that changed.';

create table forebay.dispatchers (
    worker        text        not null,
    first_seen_at timestamptz not null,
    last_claim_at timestamptz,
    last_sweep_at timestamptz,
    constraint dispatchers_pkey primary key (worker)
) with (fillfactor = 50);
comment on table forebay.dispatchers is
'Who claims and sweeps, for health(). Written at most once in five seconds a worker; nothing is decided by it.';

create table forebay.run_outcomes (
    launcher         text    not null,
    life_cycle_state text    not null,
    result_state     text    not null default '*',
    termination_code text    not null default '*',
    outcome          text    not null,
    is_ended         boolean not null,
    may_report_yet   boolean not null default false,
    note             text    not null,
    constraint run_outcomes_pkey primary key (launcher, life_cycle_state, result_state, termination_code),
    constraint run_outcomes_outcome_known check (outcome in ('renew', 'requeue', 'retry', 'fail', 'pause_agent'))
);
comment on column forebay.run_outcomes.may_report_yet is
'The run did start, so a report can still be on its way: the outcome follows after the report grace.';
comment on table forebay.run_outcomes is
'What follows from a state that a launcher saw a run in. * matches anything; the row with the fewest * wins.';

create unlogged table forebay.wakeups (
    wakeup_id bigint generated always as identity,
    is_work   boolean not null,
    constraint wakeups_pkey primary key (wakeup_id)
);
comment on table forebay.wakeups is
'Empty but inside open transactions: one row asks for notifications when its transaction commits. See triggers/wakeups.sql.';

create sequence forebay.work_notified_until as bigint minvalue 0 start 0;
create sequence forebay.changes_notified_until as bigint minvalue 0 start 0;
comment on sequence forebay.work_notified_until is
'Not a counter: how far ahead, in ms of the epoch, forebay_work has been notified. See functions/internal/_notify.sql.';
comment on sequence forebay.changes_notified_until is
'Not a counter: how far ahead, in ms of the epoch, forebay_changes has been notified. See functions/internal/_notify.sql.';

insert into forebay.installation (system_identifier)
select control.system_identifier from pg_catalog.pg_control_system() as control;

insert into forebay.run_outcomes
(launcher, life_cycle_state, result_state, termination_code, outcome, is_ended, may_report_yet, note)
values
('lakeflow', 'QUEUED', '*', '*', 'renew', false, false, 'waits for room in the workspace'),
('lakeflow', 'PENDING', '*', '*', 'renew', false, false, 'waits for a cluster'),
('lakeflow', 'BLOCKED', '*', '*', 'renew', false, false, 'waits for something upstream'),
('lakeflow', 'WAITING_FOR_RETRY', '*', '*', 'renew', false, false, 'the job retries by itself'),
('lakeflow', 'RUNNING', '*', '*', 'renew', false, false, 'alive'),
('lakeflow', 'TERMINATING', '*', '*', 'renew', false, false, 'about to end'),
('lakeflow', 'TERMINATED', '*', '*', 'retry', true, true, 'ended in a way that is not listed'),
('lakeflow', 'TERMINATED', 'SUCCESS', '*', 'retry', true, true, 'ended well'),
('lakeflow', 'TERMINATED', 'SUCCESS_WITH_FAILURES', '*', 'retry', true, true, 'ended well in part'),
('lakeflow', 'TERMINATED', 'FAILED', '*', 'retry', true, true, 'the code failed'),
('lakeflow', 'TERMINATED', 'TIMEDOUT', '*', 'retry', true, true, 'the job''s own timeout ended it'),
('lakeflow', 'TERMINATED', 'CANCELED', '*', 'retry', true, true, 'somebody cancelled it in the workspace'),
(
    'lakeflow', 'TERMINATED', 'MAXIMUM_CONCURRENT_RUNS_REACHED', '*', 'requeue', true, false,
    'never started: the job runs as many as it may'
),
('lakeflow', 'SKIPPED', '*', '*', 'requeue', true, false, 'never started'),
('lakeflow', 'INTERNAL_ERROR', '*', '*', 'retry', true, false, 'the platform failed'),
('lakeflow', 'NOT_FOUND', '*', '*', 'retry', true, false, 'the workspace does not know the run'),
('lakeflow', 'UNAUTHORIZED', '*', '*', 'pause_agent', true, false, 'the workspace refuses us: an operator must act');

do $verify$
begin
    perform 1 from forebay.installation as i where not i.is_branch;
    if not found then
        raise exception 'forebay.installation has no row';
    end if;
    if (select pg_catalog.count(*) from pg_catalog.pg_class as c
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'r' and c.relname <> 'schema_history') <> 12 then
        raise exception 'expected 12 tables in schema forebay';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0002_create_agents_and_tasks.sql', 'versioned', '2c1fbf18c74e0332d64029c80d29acba5533e27af6ec31b31ea3d5a7123ff4a4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0003_create_row_types.sql
-- The shapes of the rows that the public functions return, one composite type each.
--
-- requires  0002_create_agents_and_tasks
-- locks     nothing
-- rewrites  nothing
-- breaks    nothing
-- revert    revert/0003_create_row_types.sql

create type forebay.enqueued_task as (ordinal integer, task_id bigint, created boolean);
comment on type forebay.enqueued_task is 'enqueue_many: one row a task, ordinal from 1; created is false when the key was known.';

create type forebay.claimed_attempt as (
    task_id bigint, attempt_id bigint, attempt_no integer, agent text, launcher text, job_id bigint, entry_point text,
    payload jsonb, priority integer, batch_id bigint, customer text, estimated_tokens bigint, launch_token text,
    lease_expires_at timestamptz, deadline_at timestamptz
);
comment on type forebay.claimed_attempt is 'dequeue: one row an attempt.';

create type forebay.adopted_attempt as (
    task_id bigint, attempt_id bigint, attempt_no integer, agent text, launcher text, job_id bigint, entry_point text,
    payload jsonb, priority integer, batch_id bigint, customer text, estimated_tokens bigint, launch_token text,
    lease_expires_at timestamptz, deadline_at timestamptz, run_id text
);
comment on type forebay.adopted_attempt is 'adopt: dequeue''s row, and the run if one was recorded.';

create type forebay.renewed_lease as (attempt_id bigint, state text, lease_expires_at timestamptz);
comment on type forebay.renewed_lease is 'renew_leases: state is renewed, cancel_requested, lost or finished.';

create type forebay.run_to_cancel as (
    attempt_id bigint, task_id bigint, agent text, launcher text, job_id bigint, run_id text, launch_token text
);
comment on type forebay.run_to_cancel is 'runs_to_cancel: a run whose attempt was ended from outside.';

create type forebay.sweep_result as (requeued integer, failed integer, woken integer);
comment on type forebay.sweep_result is 'sweep: how many tasks went back in line, failed, and became due.';

create type forebay.reported_attempt as (attempt_id bigint, status text, effect text);
comment on type forebay.reported_attempt is
'complete_many: the task''s status after it; effect is completed, retrying, failed, kept, recorded or none.';

create type forebay.task_effect as (task_id bigint, status text, effect text);
comment on type forebay.task_effect is
'An act on tasks: the status after it; effect is cancelled, retried, reprioritized, none or unknown.';

create type forebay.reprocessed_task as (task_id bigint, status text, effect text, new_task_id bigint);
comment on type forebay.reprocessed_task is 'reprocess: effect is reprocessed, none or unknown.';

create type forebay.batch_task as (
    task_id bigint, agent text, status text, priority integer, payload jsonb, attempt_count integer,
    progress_done integer, progress_total integer, confidence numeric, error jsonb,
    created_at timestamptz, finished_at timestamptz
);
comment on type forebay.batch_task is 'batch_tasks: one row a task of the caller''s batch, without its result.';

create type forebay.batch_progress as (
    batch_id bigint, name text, customer text, owner text, created_at timestamptz, tasks bigint, enqueued bigint,
    processing bigint, completed bigint, failed bigint, cancelled bigint, finished_at timestamptz
);
comment on type forebay.batch_progress is 'batch_progress: counts by status; finished_at once nothing is left to do.';

create type forebay.task_count as (status text, tasks bigint);
comment on type forebay.task_count is 'task_counts: one row for each of the five statuses.';

create type forebay.task_summary as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, locked_by text,
    available_at timestamptz, attempt_count integer, attempt_id bigint, progress_done integer, progress_total integer,
    confidence numeric, error_kind text, created_at timestamptz, finished_at timestamptz, reprocess_of bigint
);
comment on type forebay.task_summary is 'list_tasks: one row a task, newest first.';

create type forebay.task_detail as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, owner text,
    idempotency_key text, estimated_tokens bigint, max_attempts integer, available_at timestamptz, locked_by text,
    attempt_id bigint, attempt_no integer, attempt_count integer, release_count integer, confidence numeric,
    error jsonb, reprocess_of bigint, reprocessed_by bigint[], created_at timestamptz, finished_at timestamptz,
    attempts jsonb, usage jsonb, audit jsonb
);
comment on type forebay.task_detail is
'task_detail: the task without payload and result; attempts, usage and audit are arrays of objects, oldest first.';

create type forebay.task_result as (
    task_id bigint, status text, payload jsonb, result jsonb, confidence numeric, error jsonb, kept_results jsonb
);
comment on type forebay.task_result is
'task_result: what went in and came out; kept_results are those of other attempts, as objects with attempt_id and result.';

create type forebay.task_explanation as (
    task_id bigint, status text, reason text, explanation text, waiting_until timestamptz, ahead bigint
);
comment on type forebay.task_explanation is
'explain_task: reason is one word, explanation a sentence; waiting_until null means not known; ahead counts tasks before it.';

create type forebay.agent_state as (
    agent text, launcher text, state text, waiting bigint, delayed bigint, in_use bigint, max_concurrent_tasks integer,
    max_tpm bigint, token_level numeric, token_burst numeric, in_flight_tokens bigint, max_rpm integer,
    request_level numeric, request_burst numeric, paused_until timestamptz, pause_reason text,
    oldest_waiting_at timestamptz, job_id bigint, entry_point text, lease interval, timeout interval,
    max_attempts integer
);
comment on type forebay.agent_state is
'agent_status: state is open, paused, full, out_of_tokens, out_of_requests or closed; levels are as of now.';

create type forebay.health_report as (
    schema_version text, installation_id uuid, is_branch boolean, may_dispatch boolean, dispatchers jsonb,
    listeners integer, last_claim_at timestamptz, last_sweep_at timestamptz, oldest_waiting_at timestamptz,
    expired_leases bigint, oldest_transaction_at timestamptz, notify_queue_usage double precision
);
comment on type forebay.health_report is
'health: dispatchers are objects with worker, first_seen_at, last_claim_at, last_sweep_at; notify_queue_usage is 0 to 1.';

create type forebay.serving_round as (agents text[], floor integer, is_only boolean);
comment on type forebay.serving_round is 'Inside dequeue: the agents whose turn it is, and the priority down to which.';

create type forebay.held_attempt as (task forebay.tasks, attempt forebay.task_attempts);
comment on type forebay.held_attempt is 'Inside reports: an attempt and its task, both locked.';

do $verify$
begin
    if (select pg_catalog.count(*) from pg_catalog.pg_class as c
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'c') <> 20 then
        raise exception 'expected 20 row types in schema forebay';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0003_create_row_types.sql', 'versioned', '0e1b9666d7fe946b311632fa3a0ee86d2fb06992126b879a0adb73a4a1e474c2', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0004_hold_quotas.sql
-- Quotas shared by agents, learned estimates, refusals, customers, prices and spending.
--
-- requires  0003_create_row_types
-- locks     agents, tasks, task_attempts and attempt_usage, for as long as it takes to add columns and two indexes
-- rewrites  no table; it fills the new columns of calls with a cost, of attempts in flight, and of today's
-- breaks    drivers before 0.2.0: agent_status and explain_task have more columns, register_agent more parameters
-- revert    revert/0004_hold_quotas.sql

-- squawk-ignore-file ban-drop-function, ban-drop-type
-- The functions that are dropped come back with their new signatures in the same transaction.

drop function if exists forebay.agent_status(text[]);
drop function if exists forebay.explain_task(bigint);
drop function if exists forebay.register_agent(
    text, text, bigint, text, integer, bigint, integer, numeric, interval, interval, integer, integer, interval,
    interval, text, text, bigint, interval, text, text
);
drop function if exists forebay._explain_waiting(forebay.tasks);
drop function if exists forebay._explain_running(forebay.tasks);
drop function if exists forebay._admit(
    text, forebay.agents, integer, integer, numeric, numeric, bigint[], timestamptz
);
drop function if exists forebay._agent_state(forebay.agents, timestamptz);
drop function if exists forebay._claim(text, text, integer, integer);
drop function if exists forebay._expired_priority(text, timestamptz);
drop function if exists forebay._fits(bigint, numeric, numeric, numeric, numeric);
drop function if exists forebay._head(text, timestamptz);
drop function if exists forebay._head_fits(forebay.agents, forebay.tasks, timestamptz);
drop function if exists forebay._parse_task(text, jsonb, forebay.batches, integer, timestamptz);
drop function if exists forebay._record_usage(bigint, jsonb);
drop function if exists forebay._refilled_at(forebay.agents, bigint, timestamptz);
drop function if exists forebay._open_line(text, boolean);
drop function if exists forebay._settle(forebay.task_attempts, boolean);
drop function if exists forebay._usage_tokens(bigint);
drop function if exists forebay._waiting_words(forebay.task_explanation, forebay.agents, forebay.tasks);
drop function if exists forebay.task_detail(bigint);
drop type forebay.agent_state;
drop type forebay.task_detail;
drop type forebay.task_explanation;

alter table forebay.agents
add column max_waiting         integer,
add column aging               interval,
add column reserve_after       interval not null default '60 seconds',
add column is_fair_by_customer boolean  not null default false,
add column max_usd_per_day     numeric,
add column max_deferrals       integer  not null default 100,
add column max_deferral_time   interval not null default '1 day',
add column quotas              text[]   not null default '{}';
alter table forebay.agents
add constraint agents_line_limits check (
    max_waiting >= 0 and aging > interval '0' and reserve_after >= interval '0'
) not valid,
add constraint agents_spend_not_negative check (max_usd_per_day >= 0) not valid,
add constraint agents_deferrals_bounded check (max_deferrals >= 0 and max_deferral_time > interval '0') not valid;
comment on column forebay.agents.max_waiting is 'How many tasks may wait; enqueue refuses more. Null: any number.';
comment on column forebay.agents.aging is
'Each such time that a task has waited counts as one more of priority. Null: strict priority.';
comment on column forebay.agents.reserve_after is
'A task that does not fit and has waited so long is passed by nobody any more.';
comment on column forebay.agents.quotas is 'The quotas it draws on beside its own limits, by name.';

alter table forebay.agent_budgets add column turn numeric not null default 0;
comment on column forebay.agent_budgets.turn is
'Fair share: where the turns stand, in tokens; no customer''s count lies behind it.';

alter table forebay.tasks
add column deferral_count integer not null default 0,
add column deferred_since timestamptz,
add column is_shared      boolean not null default false;
comment on column forebay.tasks.deferral_count is
'How often a provider refused it since deferred_since; no attempt was spent by it.';
comment on column forebay.tasks.is_shared is
'Its agent serves its customers in turns: the task is found by its customer.';
create index tasks_shared on forebay.tasks (agent, customer, priority desc, created_at, task_id)
where status = 'enqueued' and is_ready and is_shared;

alter table forebay.task_attempts
add column customer               text,
add column expected_input_tokens  bigint   not null default 0,
add column expected_output_tokens bigint   not null default 0,
add column expected_calls         numeric  not null default 1,
add column expected_usd           numeric  not null default 0,
add column used_input_tokens      bigint   not null default 0,
add column used_output_tokens     bigint   not null default 0,
add column used_calls             integer  not null default 0,
add column is_usage_known         boolean  not null default false,
add column cost_usd               numeric,
add column is_cost_known          boolean  not null default false,
add column asks_first             boolean  not null default false,
add column call_asked_at          timestamptz,
add column call_input_tokens      bigint,
add column call_output_tokens     bigint,
add column call_quota             text,
add column call_holds             text[]   not null default '{}',
add column call_free_at           timestamptz,
add column call_wait_until        timestamptz,
add column held_up                interval not null default '0';
alter table forebay.task_attempts set (fillfactor = 50);
comment on column forebay.task_attempts.expected_input_tokens is
'What the claim expected it to use: the estimate times what the agent has learned; output and calls likewise.';
comment on column forebay.task_attempts.expected_usd is
'What the claim expected it to cost; 0 when it has ended for nothing, by a release or a refusal.';
comment on column forebay.task_attempts.used_input_tokens is
'What its calls have used as far as reported, from the more complete source; output and calls likewise.';
comment on column forebay.task_attempts.is_usage_known is 'Every reported call says its input and its output tokens.';
comment on column forebay.task_attempts.cost_usd is
'What its reported calls cost as far as known; null when nothing is.';
comment on column forebay.task_attempts.is_cost_known is 'The cost of every reported call is known.';
comment on column forebay.task_attempts.asks_first is
'It has called may_call: its calls wait for their turn by themselves.';
comment on column forebay.task_attempts.call_asked_at is
'Since when a call waits for the quota; call_input_tokens and call_output_tokens say for how much.';
comment on column forebay.task_attempts.call_quota is 'The quota that the waiting call waits for.';
comment on column forebay.task_attempts.call_holds is
'The quotas that had no room for the waiting call since it waits: it holds its room there.';
comment on column forebay.task_attempts.call_free_at is
'When call_quota will have room for the waiting call; null: when other calls end.';
comment on column forebay.task_attempts.call_wait_until is
'When the waiting call was told to ask again; one that does not ask in time has lost its place.';
comment on column forebay.task_attempts.held_up is 'How long its calls have waited for a quota in all.';
create index task_attempts_started on forebay.task_attempts (agent, started_at);
create index task_attempts_measured on forebay.task_attempts (agent, finished_at)
where status = 'succeeded' and is_usage_known;
create index task_attempts_asking on forebay.task_attempts (agent, call_asked_at)
where call_asked_at is not null and finished_at is null;
create index task_attempts_stopping on forebay.task_attempts (agent, finished_at)
where is_stop_pending and status in ('cancelled', 'superseded');
create index task_attempts_open_of_customer on forebay.task_attempts (customer)
where finished_at is null and customer is not null;
create index task_attempts_untold on forebay.task_attempts (agent, finished_at)
where finished_at is not null and expected_usd > 0 and (not is_cost_known or reported_at is null);
create index task_attempts_untold_of_customer on forebay.task_attempts (customer, finished_at)
where finished_at is not null and expected_usd > 0 and (not is_cost_known or reported_at is null)
and customer is not null;

alter table forebay.attempt_usage add column pages numeric;
alter table forebay.attempt_usage add column usd numeric;
alter table forebay.attempt_usage add column counted_usd numeric;
alter table forebay.attempt_usage
add constraint attempt_usage_more_not_negative check (pages >= 0 and usd >= 0) not valid;
comment on column forebay.attempt_usage.pages is 'Pages that were paid by the page.';
comment on column forebay.attempt_usage.usd is
'What it cost: the reported cost_usd, else by the price of its time; null when neither is known.';
comment on column forebay.attempt_usage.counted_usd is
'What of usd is in the attempt''s cost_usd and in the spending; null for calls of the source that does not count.';

create table forebay.quotas (
    quota      text        not null,
    headroom   numeric     not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint quotas_pkey primary key (quota),
    constraint quotas_name_length check (char_length(quota) between 1 and 200),
    constraint quotas_headroom_range check (headroom >= 0 and headroom < 1)
) with (fillfactor = 50);
comment on table forebay.quotas is
'One row a provider''s quota, shared by the agents that name it. Its row is the quota''s lock.';
comment on column forebay.quotas.headroom is 'The share of each window that is left unused.';

create table forebay.quota_limits (
    quota       text        not null,
    unit        text        not null,
    period      interval    not null,
    kind        text        not null,
    amount      bigint      not null,
    burst       numeric,
    level       numeric,
    refilled_at timestamptz not null,
    since       timestamptz not null,
    constraint quota_limits_pkey primary key (quota, unit, period),
    constraint quota_limits_quota_fkey foreign key (quota) references forebay.quotas (quota) on delete cascade,
    constraint quota_limits_unit_known check (
        unit in ('requests', 'tokens', 'input_tokens', 'output_tokens', 'concurrent_calls')
    ),
    constraint quota_limits_kind_known check (kind in ('bucket', 'window', 'count')),
    constraint quota_limits_kind_of_unit check ((kind = 'count') = (unit = 'concurrent_calls')),
    constraint quota_limits_level_of_buckets check (
        (kind = 'bucket') = (level is not null) and (kind = 'bucket') = (burst is not null)
    ),
    constraint quota_limits_period_positive check (
        period >= interval '0' and (kind = 'count') = (period = interval '0')
    ),
    constraint quota_limits_not_negative check (amount >= 0)
) with (fillfactor = 50);
comment on table forebay.quota_limits is
'One row a limit of a quota. A bucket holds its level here, a window its calls in quota_slots; a count has neither.';
comment on column forebay.quota_limits.burst is 'How much a bucket holds when it is full.';
comment on column forebay.quota_limits.since is 'Since when it is a limit: calls of before do not count against it.';

create table forebay.quota_slots (
    quota   text        not null,
    unit    text        not null,
    period  interval    not null,
    slot_at timestamptz not null,
    used    numeric     not null,
    constraint quota_slots_pkey primary key (quota, unit, period, slot_at),
    constraint quota_slots_limit_fkey foreign key (quota, unit, period)
    references forebay.quota_limits (quota, unit, period) on delete cascade
) with (fillfactor = 50);
comment on table forebay.quota_slots is
'What the calls of a window used, in parts of its period; written under the quota''s lock.';

create table forebay.quota_settlements (
    settlement_id bigint generated always as identity,
    quota         text        not null,
    called_at     timestamptz not null,
    requests      integer     not null,
    input_tokens  bigint      not null,
    output_tokens bigint      not null,
    constraint quota_settlements_pkey primary key (settlement_id)
);
create index quota_settlements_quota on forebay.quota_settlements (quota);
comment on table forebay.quota_settlements is
'What calls used beyond what they were granted (negative: less), waiting for the next holder of the quota''s lock to fold it in.';

create table forebay.attempt_calls (
    attempt_id    bigint      not null,
    call_no       integer     not null,
    call_id       text,
    quotas        text[]      not null,
    granted_at    timestamptz not null,
    input_tokens  bigint      not null,
    output_tokens bigint      not null,
    is_over       boolean     not null default false,
    constraint attempt_calls_pkey primary key (attempt_id, call_no),
    constraint attempt_calls_attempt_fkey foreign key (attempt_id)
    references forebay.task_attempts (attempt_id) on delete cascade
);
comment on table forebay.attempt_calls is 'Calls that may_call granted, until their tokens are reported.';
comment on column forebay.attempt_calls.quotas is 'The quotas that were charged, which its usage settles.';
comment on column forebay.attempt_calls.is_over is
'It was reported, but not all of its tokens: those that are not known keep their grant, the others have none left.';

create table forebay.refusals (
    refusal_id   bigint generated always as identity,
    agent        text        not null,
    quota        text,
    in_flight    integer     not null,
    share        numeric     not null,
    lowered_at   timestamptz not null,
    paused_until timestamptz not null,
    constraint refusals_pkey primary key (refusal_id)
);
create index refusals_agent on forebay.refusals (agent, paused_until) where quota is null;
create index refusals_quota on forebay.refusals (quota, paused_until) where quota is not null;
comment on table forebay.refusals is
'A provider''s refusals, each written without any lock: pauses and lowered limits are worked out from them. A sweep removes old ones.';
comment on column forebay.refusals.share is 'What share of the limits it left, from lowered_at on.';
comment on column forebay.refusals.in_flight is
'How many tasks of the agent were processing: where an agent without a limit ramps up from.';

create table forebay.error_policies (
    kind           text     not null,
    is_final       boolean  not null,
    spends_attempt boolean  not null,
    pauses         text     not null,
    default_wait   interval,
    note           text     not null,
    constraint error_policies_pkey primary key (kind),
    constraint error_policies_pauses_known check (pauses in ('never', 'when told', 'always'))
);
comment on table forebay.error_policies is 'What follows from the kind of an error: the one table of it.';
comment on column forebay.error_policies.pauses is
'Whether the agent (and its quota) pauses: when told means only when the error came with a time to wait.';
comment on column forebay.error_policies.default_wait is
'How long the task waits when the error names no time; null: the agent''s backoff.';

create table forebay.customers (
    customer        text        not null,
    priority_boost  integer     not null,
    max_usd_per_day numeric,
    created_at      timestamptz not null,
    updated_at      timestamptz not null,
    constraint customers_pkey primary key (customer),
    constraint customers_name_length check (char_length(customer) between 1 and 200),
    constraint customers_boost_range check (priority_boost between -10000 and 10000),
    constraint customers_spend_not_negative check (max_usd_per_day >= 0)
) with (fillfactor = 50);
create index customers_capped on forebay.customers (customer) where max_usd_per_day is not null;
comment on table forebay.customers is
'Customers with terms of their own; a customer without a row has none. Its row is the lock of its spending.';

create table forebay.customer_turns (
    agent    text    not null,
    customer text    not null,
    served   numeric not null,
    constraint customer_turns_pkey primary key (agent, customer)
) with (fillfactor = 50);
comment on table forebay.customer_turns is
'How much of an agent that shares fairly each customer has had, in tokens; '''' stands for tasks without a customer.';

create table forebay.prices (
    model             text        not null,
    valid_from        timestamptz not null,
    valid_until       timestamptz not null default 'infinity',
    usd_per_m_input   numeric,
    usd_per_m_output  numeric,
    usd_per_m_cached  numeric,
    usd_per_page      numeric,
    usd_per_call      numeric,
    registered_at     timestamptz not null,
    constraint prices_pkey primary key (model, valid_from),
    constraint prices_valid_range check (valid_from < valid_until),
    constraint prices_not_negative check (
        usd_per_m_input >= 0 and usd_per_m_output >= 0 and usd_per_m_cached >= 0
        and usd_per_page >= 0 and usd_per_call >= 0
    )
);
comment on table forebay.prices is
'What a model costs, in US dollars: tokens by the million. Where ranges overlap, the later valid_from holds.';

create table forebay.spend_entries (
    entry_id   bigint generated always as identity,
    agent      text        not null,
    customer   text        not null,
    spent_at   timestamptz not null,
    usd        numeric     not null,
    constraint spend_entries_pkey primary key (entry_id)
);
create index spend_entries_agent on forebay.spend_entries (agent);
create index spend_entries_customer on forebay.spend_entries (customer) where customer <> '';
comment on table forebay.spend_entries is 'Changes of attempts'' costs, waiting to be added up in daily_spend.';

create table forebay.daily_spend (
    day      date    not null,
    agent    text    not null,
    customer text    not null,
    usd      numeric not null,
    constraint daily_spend_pkey primary key (day, agent, customer)
) with (fillfactor = 50);
create index daily_spend_customer on forebay.daily_spend (customer, day) where customer <> '';
comment on table forebay.daily_spend is
'What was spent on a day (UTC) for an agent and a customer ('''' for none), without what spend_entries still holds.';

create table forebay.spend_lifts (
    day       date        not null,
    agent     text        not null,
    customer  text        not null,
    extra_usd numeric     not null,
    lifted_at timestamptz not null,
    constraint spend_lifts_pkey primary key (day, agent, customer),
    constraint spend_lifts_of_one check ((agent = '') <> (customer = '')),
    constraint spend_lifts_not_negative check (extra_usd >= 0)
);
comment on table forebay.spend_lifts is
'What an operator allowed on a day (UTC) beyond a cap: of an agent, or of a customer, the other is
''''.';

insert into forebay.error_policies (kind, is_final, spends_attempt, pauses, default_wait, note) values
(
    'rate_limited', false, false, 'always', '60 seconds',
    'the provider refuses calls: nobody calls until the time it names'
),
(
    'overloaded', false, false, 'when told', null,
    'the provider is overloaded: the task waits, others only when it names a time'
),
('infrastructure', false, true, 'never', null, 'a machine or network failed'),
('timeout', false, true, 'never', null, 'it took longer than it may'),
('agent_bug', false, true, 'never', null, 'the agent''s code failed; unknown kinds count as this'),
('context_too_long', true, true, 'never', null, 'the same input would be too long again'),
('content_filtered', true, true, 'never', null, 'the same input would be refused again'),
('bad_input', true, true, 'never', null, 'the same input would be bad again');

create type forebay.agent_state as (
    agent text, launcher text, state text, waiting bigint, delayed bigint, in_use bigint, max_concurrent_tasks integer,
    max_tpm bigint, token_level numeric, token_burst numeric, in_flight_tokens bigint, max_rpm integer,
    request_level numeric, request_burst numeric, paused_until timestamptz, pause_reason text,
    oldest_waiting_at timestamptz, job_id bigint, entry_point text, lease interval, timeout interval,
    max_attempts integer,
    effective_share numeric, effective_concurrent_tasks integer, effective_tpm bigint, effective_rpm integer,
    projected_tpm bigint, starts_last_minute bigint, tokens_last_minute bigint,
    learned_samples integer, learned_ratio numeric, learned_input_ratio numeric, learned_output_ratio numeric,
    typical_tokens bigint, typical_calls numeric, tokens_per_second numeric,
    usd_today numeric, usd_projected numeric, max_usd_per_day numeric,
    max_waiting integer, aging interval, reserve_after interval, is_fair_by_customer boolean, quotas jsonb,
    tpm_burst numeric, max_releases integer, backoff_base interval, backoff_max interval, on_lost_lease text,
    late_results text, default_estimated_tokens bigint, retention interval, max_deferrals integer,
    max_deferral_time interval, quota_names text[], hindrance text
);
comment on type forebay.agent_state is
'agent_status: state is one word, levels are as of now; effective limits are the configured ones times effective_share; quotas is an array of quota_state objects; hindrance says what the first task that does not fit lacks.';

create type forebay.quota_state as (
    quota text, unit text, period interval, kind text, amount bigint, effective_amount numeric,
    used numeric, room numeric, projected numeric, open_calls bigint, waiting_calls bigint,
    paused_until timestamptz, agents text[], task_room numeric
);
comment on type forebay.quota_state is
'quota_status: one row a limit. used is what counts against it now, room what a call could take now, projected what tasks in flight will still use within its period, task_room what a new task could take.';

create type forebay.task_explanation as (
    task_id bigint, status text, reason text, explanation text, waiting_until timestamptz, ahead bigint,
    subject text, unit text, needs numeric, has numeric, amount numeric, period interval
);
comment on type forebay.task_explanation is
'explain_task: reason is the rule in one word, explanation a sentence; waiting_until is the earliest start, null when not known; ahead counts tasks before it; subject is the agent, quota or customer whose rule it is, which has so much left of amount, of which the task needs so much.';

create type forebay.customer_state as (
    customer text, priority_boost integer, max_usd_per_day numeric, extra_usd numeric, usd_today numeric,
    usd_projected numeric, waiting bigint, in_use bigint
);
comment on type forebay.customer_state is
'customer_status: one row a customer that has terms of its own; extra_usd is what was allowed today beyond the cap.';

create type forebay.price as (
    model text, valid_from timestamptz, valid_until timestamptz, usd_per_m_input numeric, usd_per_m_output numeric,
    usd_per_m_cached numeric, usd_per_page numeric, usd_per_call numeric
);
comment on type forebay.price is
'list_prices: one row a model and range of time, in US dollars; tokens by the million.';

create type forebay.spend_cap as (customer text, amount numeric, has numeric);
comment on type forebay.spend_cap is
'Inside: a cap of today and what is left of it; customer null means the agent''s own.';

create type forebay.task_detail as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, owner text,
    idempotency_key text, estimated_tokens bigint, max_attempts integer, available_at timestamptz, locked_by text,
    attempt_id bigint, attempt_no integer, attempt_count integer, release_count integer, deferral_count integer,
    deferred_since timestamptz, confidence numeric, error jsonb, reprocess_of bigint, reprocessed_by bigint[],
    created_at timestamptz, finished_at timestamptz, attempts jsonb, usage jsonb, audit jsonb
);
comment on type forebay.task_detail is
'task_detail: the task without payload and result; attempts, usage and audit are arrays of objects, oldest first.';

create type forebay.call_permit as (
    decision text, wait_until timestamptz, waits interval, quota text, unit text, needs numeric, has numeric,
    reason text
);
comment on type forebay.call_permit is
'may_call: decision is go, wait (and ask again after waits, which is at wait_until) or stop (the attempt holds its task no more).';

create type forebay.call_verdict as (permit forebay.call_permit, free_at timestamptz);
comment on type forebay.call_verdict is
'Inside may_call: its answer, and when the limit that hinders the call will have room; null when not known.';

create type forebay.learned as (
    samples integer, input_permille bigint, output_permille bigint, typical_input bigint, typical_output bigint,
    calls numeric, tokens_per_second numeric, asks_first boolean, usd_per_m_tokens numeric
);
comment on type forebay.learned is 'Inside: what an agent''s recent finished attempts say of the next ones.';

create type forebay.expected_use as (calls numeric, input_tokens bigint, output_tokens bigint, usd numeric);
comment on type forebay.expected_use is 'Inside: what one attempt is expected to use.';

create type forebay.throttle as (paused_until timestamptz, reason text, share numeric, in_flight integer);
comment on type forebay.throttle is
'Inside: what a provider''s refusals mean for an agent now; share is of its limits, in_flight where it was refused.';

create type forebay.quota_room as (
    quota text, unit text, period interval, amount double precision, takes_any boolean,
    seconds double precision, room double precision
);
comment on type forebay.quota_room is
'Inside: how much of a limit is left to new tasks within so many seconds from now.';

create type forebay.lined_up as (
    task_id bigint, priority integer, customer text, waited interval, estimated_tokens bigint,
    uses forebay.expected_use
);
comment on type forebay.lined_up is 'Inside: a task in line; priority has what it gained by waiting.';

create type forebay.fit as (
    places integer[], reason text, task_id bigint, subject text, unit text, needs numeric, has numeric, amount numeric,
    period interval
);
comment on type forebay.fit is
'Inside: which places of a line may start now, and what stopped the first that may not: needs more of unit than subject has.';

create type forebay.opened_line as (agent forebay.agents, moved integer, room integer);
comment on type forebay.opened_line is
'Inside dequeue: an agent that is locked, how many tasks joined its line just now, and how many may start.';

-- What was reported before this release counts as it would have since: costs of calls, what attempts in flight
-- use and may still use, and what was spent today (UTC).
update forebay.attempt_usage
set usd = cost_usd
where cost_usd is not null;

update forebay.task_attempts as a
set customer = t.customer,
    expected_input_tokens = pg_catalog.ceil(coalesce(a.charged_tokens, a.estimated_tokens) * 0.8),
    expected_output_tokens = coalesce(a.charged_tokens, a.estimated_tokens)
        - pg_catalog.ceil(coalesce(a.charged_tokens, a.estimated_tokens) * 0.8)
from forebay.tasks as t
where t.task_id = a.task_id and (a.finished_at is null or a.is_stop_pending);

with recent as (
    select
        a.attempt_id,
        a.agent,
        a.started_at,
        t.customer
    from forebay.task_attempts as a
    inner join forebay.tasks as t on a.task_id = t.task_id
    where a.finished_at is null or a.is_stop_pending
        or a.finished_at >= pg_catalog.date_trunc('day', pg_catalog.now(), 'UTC')
),

counting as (
    select distinct on (u.attempt_id)
        u.attempt_id,
        u.source
    from forebay.attempt_usage as u
    inner join recent as r on u.attempt_id = r.attempt_id
    group by u.attempt_id, u.source
    order by
        u.attempt_id asc,
        pg_catalog.count(*) filter (where u.input_tokens is not null and u.output_tokens is not null) desc,
        pg_catalog.count(u.usd) desc, u.source
),

calls as (
    update forebay.attempt_usage as u
    set counted_usd = u.usd
    from counting as c
    inner join recent as r on c.attempt_id = r.attempt_id
    where u.attempt_id = c.attempt_id and u.source = c.source
    returning
        u.*, r.agent, coalesce(r.customer, '') as customer,
        (
            greatest(r.started_at, least(u.recorded_at, coalesce(u.started_at, u.recorded_at))) at time zone 'UTC'
        )::date as day
),

measured as (
    update forebay.task_attempts as a
    set used_input_tokens = used.input_tokens, used_output_tokens = used.output_tokens, used_calls = used.calls,
        is_usage_known = used.is_known, cost_usd = used.usd, is_cost_known = used.is_cost_known
    from (
        select
            c.attempt_id,
            coalesce(pg_catalog.sum(c.input_tokens), 0)::bigint as input_tokens,
            coalesce(pg_catalog.sum(c.output_tokens), 0)::bigint as output_tokens,
            (pg_catalog.count(*) filter (where c.input_tokens + c.output_tokens is distinct from 0))::integer as calls,
            pg_catalog.bool_and(c.input_tokens is not null and c.output_tokens is not null) as is_known,
            pg_catalog.sum(c.usd) as usd,
            pg_catalog.bool_and(c.usd is not null) as is_cost_known
        from calls as c
        group by c.attempt_id
    ) as used
    where a.attempt_id = used.attempt_id
)

insert into forebay.daily_spend (day, agent, customer, usd)
select
    c.day,
    c.agent,
    c.customer,
    pg_catalog.sum(c.usd) as usd
from calls as c
where c.usd is not null
group by c.day, c.agent, c.customer;

do $verify$
begin
    if (select pg_catalog.count(*) from pg_catalog.pg_class as c
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'r' and c.relname <> 'schema_history') <> 25 then
        raise exception 'expected 25 tables in schema forebay';
    end if;
    if (select pg_catalog.count(*) from pg_catalog.pg_class as c
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'c') <> 33 then
        raise exception 'expected 33 row types in schema forebay';
    end if;
    if (select pg_catalog.count(*) from forebay.error_policies) <> 8 then
        raise exception 'expected a policy for each of the 8 kinds of errors';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0004_hold_quotas.sql', 'versioned', 'f5901b93f6219ca006115f4015cc9fcccef8ee239b7e27d8e47688aea63fb0bb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0005_measure_tasks.sql
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
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0005_measure_tasks.sql', 'versioned', 'd832a2ebaadaeb51f2b06037002ab72b7d748154c23830b1ced9c446fa7fb587', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0006_take_uploads.sql
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
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0006_take_uploads.sql', 'versioned', '32ebc844ace0806b640d72eecaac606cf3a3503b3013046ff43a89a32b4505b0', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0007_act_and_announce.sql
-- What operators look at and act on: lists that stay quick with millions of tasks, and what has to be announced.
--
-- requires  0006_take_uploads
-- locks     tasks, task_attempts and audit_log, for as long as it takes to build eight indexes
-- rewrites  no table
-- breaks    drivers before 0.3.0: list_tasks, task_detail and health have more columns
-- revert    revert/0007_act_and_announce.sql

-- squawk-ignore-file ban-drop-function, ban-drop-type
-- The functions that are dropped come back with their new signatures in the same transaction.

drop function if exists forebay.list_tasks(
    timestamptz, timestamptz, text[], text[], text[], bigint, bigint, integer
);
drop function if exists forebay.task_detail(bigint);
drop function if exists forebay.health();
drop function if exists forebay._line_state(text, timestamptz);
drop function if exists forebay._require_size(jsonb, text, integer);
drop type forebay.task_summary;
drop type forebay.task_detail;
drop type forebay.health_report;

create index tasks_listed on forebay.tasks (agent, status, created_at, task_id);
create index tasks_of_customer on forebay.tasks (customer, status, created_at, task_id) where customer is not null;
create index tasks_unsure on forebay.tasks (confidence) where confidence < 0.8;
create index task_attempts_stopped on forebay.task_attempts (status, started_at, attempt_id)
where status in ('failed', 'released', 'lost', 'superseded', 'cancelled');
create index task_attempts_run on forebay.task_attempts (run_id) where run_id is not null;
create index task_attempts_lost on forebay.task_attempts (finished_at) where status = 'lost';
create index audit_log_agent on forebay.audit_log (agent, audit_id) where agent is not null;
create index audit_log_actor on forebay.audit_log (actor, audit_id) where actor is not null;

create table forebay.announcements (
    announcement_id uuid        not null default gen_random_uuid(),
    kind            text        not null,
    subject         text        not null,
    occurrence      text        not null,
    details         jsonb       not null,
    occurred_at     timestamptz not null,
    created_at      timestamptz not null,
    ended_at        timestamptz,
    tries           integer     not null default 0,
    next_try_at     timestamptz not null,
    settled_at      timestamptz,
    last_error      text,
    constraint announcements_pkey primary key (announcement_id),
    constraint announcements_kind_known check (
        kind in ('agent.paused', 'waiting.too_long', 'spend_cap.reached', 'batch.done')
    ),
    constraint announcements_tries_not_negative check (tries >= 0)
) with (fillfactor = 70);
create unique index announcements_current on forebay.announcements (kind, subject, occurrence) where ended_at is null;
create index announcements_due on forebay.announcements (next_try_at) where settled_at is null;
comment on table forebay.announcements is
'What has to be told once: a condition that began, or a batch that is done. Written by collect_announcements.';
comment on column forebay.announcements.occurrence is
'Tells one time from another where the condition itself does not: when the batch was done, the day and the cap.';
comment on column forebay.announcements.ended_at is 'When the condition was seen to hold no more.';
comment on column forebay.announcements.next_try_at is 'Not handed out before: its lease, or the wait after a failure.';
comment on column forebay.announcements.settled_at is 'When it was sent, or given up (last_error is not null).';

create table forebay.announcement_marks (
    looked_at   timestamptz not null,
    next_xid    xid8        not null,
    is_complete boolean     not null default false,
    constraint announcement_marks_pkey primary key (looked_at)
);
comment on table forebay.announcement_marks is
'When batches that are done were looked for. Written by collect_announcements.';
comment on column forebay.announcement_marks.next_xid is 'Transactions from this one on began after it.';
comment on column forebay.announcement_marks.is_complete is
'A later look saw all that transactions from before it wrote: nothing of before it needs to be looked at again.';

create type forebay.task_summary as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, locked_by text,
    available_at timestamptz, attempt_count integer, attempt_id bigint, progress_done integer, progress_total integer,
    confidence numeric, error_kind text, created_at timestamptz, finished_at timestamptz, reprocess_of bigint,
    batch_name text, used_input_tokens bigint, used_output_tokens bigint, used_cached_tokens bigint,
    is_usage_known boolean, cost_usd numeric, is_cost_known boolean, run_time interval
);
comment on type forebay.task_summary is
'list_tasks: one row a task, newest first; tokens, cost_usd and run_time are those of all its attempts, null where nothing is known.';

create type forebay.task_detail as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, owner text,
    idempotency_key text, estimated_tokens bigint, max_attempts integer, available_at timestamptz, locked_by text,
    attempt_id bigint, attempt_no integer, attempt_count integer, release_count integer, deferral_count integer,
    deferred_since timestamptz, confidence numeric, error jsonb, reprocess_of bigint, reprocessed_by bigint[],
    created_at timestamptz, finished_at timestamptz, attempts jsonb, usage jsonb, audit jsonb,
    batch_name text, used_input_tokens bigint, used_output_tokens bigint, used_cached_tokens bigint,
    is_usage_known boolean, cost_usd numeric, is_cost_known boolean, compute_usd numeric, run_time interval,
    as_of timestamptz
);
comment on type forebay.task_detail is
'task_detail: the task without payload and result; attempts, usage and audit are arrays of objects, oldest first; as_of is the server''s time.';

create type forebay.health_report as (
    schema_version text, installation_id uuid, is_branch boolean, may_dispatch boolean, dispatchers jsonb,
    listeners integer, last_claim_at timestamptz, last_sweep_at timestamptz, oldest_waiting_at timestamptz,
    expired_leases bigint, oldest_transaction_at timestamptz, notify_queue_usage double precision,
    oldest_transaction_of text, connections integer, max_connections integer, database_bytes bigint,
    server_version text, as_of timestamptz
);
comment on type forebay.health_report is
'health: dispatchers are objects with worker, first_seen_at, last_claim_at, last_sweep_at; notify_queue_usage is 0 to 1.';

create type forebay.batch_summary as (
    batch_id bigint, name text, customer text, owner text, created_at timestamptz, tasks bigint, enqueued bigint,
    processing bigint, completed bigint, failed bigint, cancelled bigint, finished_at timestamptz,
    llm_usd numeric, ended_attempts bigint, priced_attempts bigint
);
comment on type forebay.batch_summary is
'list_batches: counts by status; llm_usd is that of priced_attempts of ended_attempts, null where nothing is known.';

create type forebay.attempt_summary as (
    attempt_id bigint, task_id bigint, attempt_no integer, agent text, launcher text, status text, worker text,
    run_id text, trace_id text, started_at timestamptz, finished_at timestamptz, lease_expires_at timestamptz,
    error_kind text, error_message text, used_input_tokens bigint, used_output_tokens bigint,
    used_cached_tokens bigint, is_usage_known boolean, cost_usd numeric, is_cost_known boolean,
    task_status text, batch_id bigint, customer text
);
comment on type forebay.attempt_summary is 'list_attempts: one row an attempt, newest first; task_status is what its task is now.';

create type forebay.audit_entry as (
    audit_id bigint, acted_at timestamptz, action text, task_id bigint, agent text, session_role text, actor text,
    reason text, details jsonb
);
comment on type forebay.audit_entry is 'list_audit: one row a task or agent that an act changed, latest first.';

create type forebay.table_size as (
    name text, row_estimate bigint, bytes bigint, dead_rows bigint, last_autovacuum_at timestamptz
);
comment on type forebay.table_size is 'table_sizes: one row a table, largest first; bytes has its indexes.';

create type forebay.gauge as (metric text, help text, labels jsonb, value double precision);
comment on type forebay.gauge is 'monitoring: one row a metric and set of labels; units are in the metric''s name.';

create type forebay.effect_count as (effect text, tasks bigint);
comment on type forebay.effect_count is 'act_on_matching: how many tasks each effect had.';

create type forebay.announcement as (
    announcement_id uuid, kind text, subject text, details jsonb, occurred_at timestamptz, tries integer
);
comment on type forebay.announcement is
'collect_announcements: kind is agent.paused, waiting.too_long, spend_cap.reached or batch.done; tries counts this one too.';

create type forebay.task_filter as (
    created_from timestamptz, created_to timestamptz, statuses text[], agents text[], customers text[],
    batch_id bigint, max_confidence numeric, is_search boolean, found_tasks bigint[], found_batches bigint[],
    found_customers text[]
);
comment on type forebay.task_filter is
'Inside: which tasks are asked for, a search resolved to the ids and names that it means.';

create type forebay.condition as (
    kind text, subject text, occurrence text, details jsonb, occurred_at timestamptz
);
comment on type forebay.condition is 'Inside collect_announcements: what holds now and has to be told once.';

comment on type forebay.task_effect is
'An act on tasks: the status after it; effect is cancelled, retried, reprioritized, annotated, none or unknown.';

do $verify$
declare
    v_name text;
begin
    foreach v_name in array array[
        'announcements', 'announcement_marks', 'tasks_listed', 'tasks_of_customer', 'tasks_unsure',
        'task_attempts_stopped', 'task_attempts_run', 'task_attempts_lost', 'audit_log_agent', 'audit_log_actor'
    ] loop
        if pg_catalog.to_regclass('forebay.' || v_name) is null then
            raise exception 'expected forebay.% to be there', v_name;
        end if;
    end loop;
    foreach v_name in array array[
        'task_summary', 'task_detail', 'health_report', 'batch_summary', 'attempt_summary', 'audit_entry', 'table_size',
        'gauge', 'effect_count', 'announcement', 'task_filter', 'condition'
    ] loop
        if pg_catalog.to_regtype('forebay.' || v_name) is null then
            raise exception 'expected the type forebay.% to be there', v_name;
        end if;
    end loop;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0007_act_and_announce.sql', 'versioned', '9a3a1d07714b7d7692f27eeb4d7ecb9b08223bc913a727e0606240879d2f1833', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0008_index_owners_folded.sql
-- A person's batches are found by the name in any case: the index of owners holds it in lower case.
--
-- requires  0007_act_and_announce
-- locks     batches, for as long as it takes to build an index
-- rewrites  no table
-- breaks    nothing
-- revert    revert/0008_index_owners_folded.sql

-- squawk-ignore-file require-concurrent-index-deletion
-- It is not possible in the transaction, and takes no longer than the lock that creating the other one holds.

create index batches_owner_folded on forebay.batches (lower(owner), batch_id) where owner is not null;
drop index forebay.batches_owner;

do $verify$
begin
    if pg_catalog.to_regclass('forebay.batches_owner_folded') is null then
        raise exception 'index forebay.batches_owner_folded is missing';
    end if;
    if pg_catalog.to_regclass('forebay.batches_owner') is not null then
        raise exception 'index forebay.batches_owner is still there';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0008_index_owners_folded.sql', 'versioned', '89acc08aae511f91351f1ce00382210934c4de5af4417e64759ea41ecb94b3b4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0009_run_lakeflow.sql
-- What a Databricks workspace says about runs, launches and itself, and what follows from it.
--
-- requires  0007_act_and_announce
-- locks     run_outcomes, for a moment
-- rewrites  no table
-- breaks    nothing
-- revert    revert/0009_run_lakeflow.sql

alter table forebay.run_outcomes add column is_held_up boolean not null default false;
comment on column forebay.run_outcomes.is_held_up is
'Nothing can begin at this moment: the deadline of an attempt without a run is put off.';

create table forebay.launcher_faults (
    worker   text        not null,
    launcher text        not null,
    reason   text        not null,
    began_at timestamptz not null,
    seen_at  timestamptz not null,
    constraint launcher_faults_pkey primary key (worker, launcher)
) with (fillfactor = 50);
comment on table forebay.launcher_faults is
'Which dispatcher cannot start runs with which launcher, and why. Shown, and nothing is decided by it.';
comment on column forebay.launcher_faults.seen_at is 'When it was last seen: after two minutes it counts no more.';

-- Rows that an installation added itself stay as they are.
insert into forebay.run_outcomes
(launcher, life_cycle_state, result_state, termination_code, outcome, is_ended, may_report_yet, is_held_up, note)
values
('lakeflow', 'WAITING', '*', '*', 'renew', false, false, false, 'the job retries by itself'),
('lakeflow', 'TERMINATED', 'EXCLUDED', '*', 'retry', true, false, false, 'never started: a condition was not met'),
('lakeflow', 'TERMINATED', 'UPSTREAM_FAILED', '*', 'retry', true, true, false, 'a task before it failed'),
('lakeflow', 'TERMINATED', 'UPSTREAM_CANCELED', '*', 'retry', true, true, false, 'a task before it was cancelled'),
('lakeflow', 'TERMINATED', 'DISABLED', '*', 'pause_agent', true, false, false, 'the job is disabled'),
('lakeflow', 'LAUNCH_FAILED', '*', '*', 'renew', false, false, false, 'a run may exist: the same token finds out'),
('lakeflow', 'LAUNCH_FAILED', 'UNREACHABLE', '*', 'renew', false, false, true, 'the workspace does not answer'),
('lakeflow', 'LAUNCH_FAILED', '401', '*', 'renew', false, false, true, 'the workspace does not accept our credentials'),
('lakeflow', 'LAUNCH_FAILED', '429', '*', 'renew', false, false, true, 'the workspace takes no more requests now'),
('lakeflow', 'LAUNCH_FAILED', '502', '*', 'renew', false, false, true, 'the workspace is not available'),
('lakeflow', 'LAUNCH_FAILED', '503', '*', 'renew', false, false, true, 'the workspace is not available'),
('lakeflow', 'LAUNCH_FAILED', '504', '*', 'renew', false, false, true, 'the workspace is not available'),
('lakeflow', 'LAUNCH_FAILED', '400', '*', 'retry', true, false, false, 'the workspace refuses this launch'),
(
    'lakeflow', 'LAUNCH_FAILED', '403', '*', 'pause_agent', true, false, false,
    'the workspace does not let us start the job: give our service principal CAN_MANAGE_RUN on it'
),
(
    'lakeflow', 'LAUNCH_FAILED', '404', '*', 'pause_agent', true, false, false,
    'the workspace does not know the job: register the agent with the id of one'
),
(
    'lakeflow', 'LAUNCH_FAILED', 'NO_JOB', '*', 'pause_agent', true, false, false,
    'the agent has no job: register it with the id of one'
),
('lakeflow', 'POLL_FAILED', '*', '*', 'renew', false, false, false, 'the run could not be asked'),
(
    'lakeflow', 'POLL_FAILED', '403', '*', 'pause_agent', false, false, false,
    'the workspace does not let us see the run: give our service principal CAN_MANAGE_RUN on its job'
)
on conflict do nothing;

insert into forebay.run_outcomes
(launcher, life_cycle_state, termination_code, outcome, is_ended, may_report_yet, note)
select
    'lakeflow' as launcher,
    life.word,
    codes.termination_code,
    codes.outcome,
    true as is_ended,
    codes.may_report_yet,
    codes.note
from (values ('TERMINATED'), ('INTERNAL_ERROR'), ('SKIPPED')) as life (word)
cross join (
    values
    ('SUCCESS', 'retry', true, 'ended well'),
    ('SUCCESS_WITH_FAILURES', 'retry', true, 'ended well in part'),
    ('RUN_EXECUTION_ERROR', 'retry', true, 'the code failed'),
    ('USER_CANCELED', 'retry', true, 'somebody cancelled it in the workspace'),
    ('CANCELED', 'retry', true, 'it was cancelled, or ran into the job''s own timeout'),
    ('CLUSTER_TERMINATED_BY_USER', 'retry', true, 'somebody ended its cluster'),
    ('INTERNAL_ERROR', 'retry', true, 'the platform failed'),
    ('DRIVER_ERROR', 'retry', true, 'its driver process failed'),
    ('CLUSTER_ERROR', 'retry', true, 'its cluster failed'),
    ('CLOUD_FAILURE', 'retry', true, 'the cloud failed'),
    ('STORAGE_ACCESS_ERROR', 'retry', true, 'storage could not be read'),
    ('BREAKING_CHANGE', 'retry', true, 'ended by a change of Spark'),
    ('REPOSITORY_CHECKOUT_FAILED', 'retry', false, 'never started: its code could not be fetched'),
    ('LIBRARY_INSTALLATION_ERROR', 'retry', false, 'never started: a library could not be installed'),
    ('SKIPPED', 'requeue', false, 'never started'),
    ('MAX_CONCURRENT_RUNS_EXCEEDED', 'requeue', false, 'never started: the job runs as many as it may'),
    ('MAX_JOB_QUEUE_SIZE_EXCEEDED', 'requeue', false, 'never started: as many of its runs wait as may'),
    ('WORKSPACE_RUN_LIMIT_EXCEEDED', 'requeue', false, 'never started: the workspace runs as many as it may'),
    ('CLUSTER_REQUEST_LIMIT_EXCEEDED', 'requeue', false, 'never started: too many clusters were asked for'),
    ('MAX_SPARK_CONTEXTS_EXCEEDED', 'requeue', false, 'never started: its cluster runs as many as it may'),
    ('UNAUTHORIZED_ERROR', 'pause_agent', false, 'the job lacks a permission'),
    ('RESOURCE_NOT_FOUND', 'pause_agent', false, 'something that the job needs is not there'),
    ('INVALID_RUN_CONFIGURATION', 'pause_agent', false, 'the job''s configuration is invalid'),
    ('INVALID_CLUSTER_REQUEST', 'pause_agent', false, 'the job asks for a cluster that cannot be'),
    ('FEATURE_DISABLED', 'pause_agent', false, 'the job needs what the workspace has disabled'),
    ('DISABLED', 'pause_agent', false, 'the job is disabled'),
    ('BUDGET_POLICY_LIMIT_EXCEEDED', 'pause_agent', false, 'the job''s budget is spent')
) as codes (termination_code, outcome, may_report_yet, note)
where life.word <> 'SKIPPED' or codes.outcome = 'pause_agent'
on conflict do nothing;

do $verify$
begin
    if (
        select pg_catalog.count(distinct o.termination_code) from forebay.run_outcomes as o where o.launcher = 'lakeflow'
    ) < 28 then
        raise exception 'expected a row in forebay.run_outcomes for each of 27 termination codes';
    end if;
    if pg_catalog.to_regclass('forebay.launcher_faults') is null then
        raise exception 'expected forebay.launcher_faults to be there';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0009_run_lakeflow.sql', 'versioned', 'b41423d4b0b3e0a5507cf30cc9b85f89767ec51b95fdfb2ea01a934cd5a61b14', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0010_find_traces.sql
-- Traces of model calls: which attempts they are still looked for, and what their tool makes of a call by list prices.
--
-- requires  0007_act_and_announce
-- locks     attempt_usage, for a moment, and task_attempts, for as long as it takes to index its rows
-- rewrites  no table
-- breaks    nothing
-- revert    revert/0010_find_traces.sql

alter table forebay.attempt_usage
add column list_usd numeric,
add constraint attempt_usage_list_not_negative check (list_usd >= 0) not valid;
comment on column forebay.attempt_usage.list_usd is
'What whoever wrote the trace makes of the call by list prices: it counts where no price is registered.';

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

create type forebay.attempt_to_trace as (
    attempt_id bigint, task_id bigint, launch_key text, trace_id text, started_at timestamptz, finished_at timestamptz
);
comment on type forebay.attempt_to_trace is
'attempts_to_trace: an ended attempt. Its traces have launch_key as their tag forebay.launch_key; trace_id is what it reported itself.';

do $verify$
begin
    if pg_catalog.to_regclass('forebay.attempt_traces') is null
        or pg_catalog.to_regclass('forebay.task_attempts_ended') is null
        or pg_catalog.to_regtype('forebay.attempt_to_trace') is null then
        raise exception 'expected forebay.attempt_traces, an index of attempts by their end, and attempt_to_trace';
    end if;
    if exists (select from forebay.attempt_usage as u where u.list_usd is not null) then
        raise exception 'expected no call to have a list price yet';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0010_find_traces.sql', 'versioned', 'bfe0bc7804b43e5d43e032c19c7dda65c1621857270e370ebb22591ab743dc18', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0011_read_bills.sql
-- What a bill tells: corrections below zero, costs that no run has to itself, and rows that answer what work cost.
--
-- requires  0007_act_and_announce
-- locks     compute_usage, compute_sources and installation, for as long as it takes to check the first one's rows
-- rewrites  no table
-- breaks    drivers before 0.4.0: cost_by has a column more
-- revert    revert/0011_read_bills.sql

-- squawk-ignore-file ban-drop-type, ban-drop-function, ban-drop-constraint, constraint-missing-not-valid
-- What is dropped comes back in the same transaction. The rows of compute_usage are few: they are checked at once.

alter table forebay.compute_usage
drop constraint compute_usage_not_negative,
add column product text,
add constraint compute_usage_seconds_not_negative check (seconds >= 0),
add constraint compute_usage_estimate_not_negative check (usd >= 0 or source <> 'local'),
add constraint compute_usage_product_length check (char_length(product) between 1 and 200),
add constraint compute_usage_shared_or_attributed check (product is null or attempt_id is null);
comment on column forebay.compute_usage.product is
'What was paid for, as the source calls it, where no run has the cost to itself; null: it was for a run.';
comment on column forebay.compute_usage.usd is 'Below zero where a bill took back more than it has told of.';

create index compute_usage_provisional on forebay.compute_usage (source, attempt_id)
where not is_final and attempt_id is not null;
create index compute_usage_shared on forebay.compute_usage (started_at) where product is not null;

alter table forebay.installation
add column billing_latency interval not null default '24 hours',
add constraint installation_billing_latency_positive check (billing_latency >= interval '0');
comment on column forebay.installation.billing_latency is
'How long after something ran its bill may still lack rows: until then what it cost is provisional.';

drop function if exists forebay.cost_by(
    text, timestamptz, timestamptz, text[], text[], text[], integer
);
drop function if exists forebay._cost_in_rollups(text, timestamptz, timestamptz, text[], text[], text[]);
drop function if exists forebay._cost_of_models(timestamptz, timestamptz, text[], text[], text[]);
drop type forebay.cost_line;

create type forebay.cost_line as (
    key text, tasks bigint, ended_attempts bigint, measured_attempts bigint, priced_attempts bigint,
    costed_attempts bigint, provisional_attempts bigint, input_tokens bigint, output_tokens bigint,
    cached_tokens bigint, llm_usd numeric, compute_usd numeric
);
comment on type forebay.cost_line is
'cost_by: one row a task, agent, customer, batch, model, day or try; key is null for tasks without one. compute_usd is null by model. Of costed_attempts, provisional ones may still change.';

create type forebay.bill_reading as (day date, began_at timestamptz, settled_until timestamptz);
comment on type forebay.bill_reading is
'begin_bill: rows that came on that day (UTC) or later have to be read, null for none; what ran until settled_until is final.';

create type forebay.run_to_bill as (
    attempt_id bigint, run_id text, started_at timestamptz, finished_at timestamptz, is_settled boolean
);
comment on type forebay.run_to_bill is
'runs_to_bill: an attempt whose run a bill may tell of; is_settled: it ended so long ago that all rows should be there.';

create type forebay.cost_summary as (
    tasks bigint, ended_attempts bigint, measured_attempts bigint, priced_attempts bigint, costed_attempts bigint,
    provisional_attempts bigint, input_tokens bigint, output_tokens bigint, cached_tokens bigint, pages numeric,
    llm_usd numeric, compute_usd numeric, provisional_usd numeric, is_final boolean,
    first_tries bigint, first_llm_usd numeric, first_compute_usd numeric,
    retries bigint, retry_llm_usd numeric, retry_compute_usd numeric,
    llm_tasks bigint, llm_median numeric, llm_p95 numeric,
    compute_tasks bigint, compute_median numeric, compute_p95 numeric,
    whole_tasks bigint, whole_median numeric, whole_p95 numeric, as_of timestamptz
);
comment on type forebay.cost_summary is
'cost_summary: one row. Sums are of what is known; medians and 95th percentiles are those of a task, over the llm, compute and whole tasks that are over and whose cost is known.';

create type forebay.cost_source as (part text, source text, basis text, attempts bigint, usd numeric);
comment on type forebay.cost_source is
'cost_sources: how much of a part (llm, compute) came from which source, and on what basis. usd is null where it is unknown.';

create type forebay.customer_cost as (
    customer text, agent text, tasks bigint, ended_attempts bigint, measured_attempts bigint, priced_attempts bigint,
    costed_attempts bigint, provisional_attempts bigint, input_tokens bigint, output_tokens bigint,
    cached_tokens bigint, pages numeric, llm_usd numeric, retry_llm_usd numeric, compute_usd numeric,
    retry_compute_usd numeric, provisional_usd numeric, retry_provisional_usd numeric
);
comment on type forebay.customer_cost is
'customer_costs: one row a customer and agent. The six amounts hold nothing twice: calls and machines (final, provisional) of first tries and of retries.';

create type forebay.shared_cost as (
    source text, product text, usd numeric, is_final boolean, from_at timestamptz, to_at timestamptz
);
comment on type forebay.shared_cost is 'shared_costs: what no run has to itself, by product as the bill calls it.';

do $verify$
declare
    v_name text;
begin
    foreach v_name in array array[
        'cost_line', 'bill_reading', 'run_to_bill', 'cost_summary', 'cost_source', 'customer_cost', 'shared_cost'
    ] loop
        if pg_catalog.to_regtype('forebay.' || v_name) is null then
            raise exception 'expected a row type forebay.%', v_name;
        end if;
    end loop;
    if exists (
        select from pg_catalog.pg_constraint as c
        where c.conrelid = 'forebay.compute_usage'::pg_catalog.regclass and c.conname = 'compute_usage_not_negative'
    ) then
        raise exception 'expected compute_usage to take corrections below zero';
    end if;
    if (select i.billing_latency from forebay.installation as i) is null then
        raise exception 'expected the installation to know the latency of bills';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0011_read_bills.sql', 'versioned', '14f87a9c8143822d724acaef38e486661c2c3fe91d07e7c7cd4f1fcb9cc9a8c3', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new migrations/0012_make_branches.sql
-- Branches to debug with: where the installation is at home, what a branch is called, and how far its masking has come.
--
-- requires  0007_act_and_announce
-- locks     installation, for a moment
-- rewrites  no table
-- breaks    nothing
-- revert    revert/0012_make_branches.sql

alter table forebay.installation
add column home        text,
add column opened_home text,
add column branch_name text,
add column branch_of   uuid,
add column branched_at timestamptz,
add column mask_step   integer,
add column mask_after  text,
add column masked_at   timestamptz;
comment on column forebay.installation.home is
'Which database this row was written for, as _here says it: a copy elsewhere in the same cluster, or on another branch of Lakebase, is known by it. Null until the first branch is made.';
comment on column forebay.installation.opened_home is
'Where the operator opened it, in the cluster of opened_in; null: anywhere there.';
comment on column forebay.installation.branch_name is 'What begin_branch was told; null for what it did not make.';
comment on column forebay.installation.branch_of is 'The installation_id of what it is a branch of.';
comment on column forebay.installation.mask_step is 'Which part mask_data is at; null: at none.';
comment on column forebay.installation.mask_after is 'The last key of that part that it has masked; null: none yet.';
comment on column forebay.installation.masked_at is 'When mask_data had masked everything; a branch of before it cannot be opened.';

create table forebay.masked_names (
    kind  text not null,
    name  text not null,
    alias text not null,
    constraint masked_names_pkey primary key (kind, name),
    constraint masked_names_alias unique (alias),
    constraint masked_names_kind_known check (kind in ('customer', 'person', 'worker'))
);
comment on table forebay.masked_names is
'What mask_data calls customers, persons and workers, so that one has one name everywhere. Emptied when all is masked: nothing leads back.';

create type forebay.branch_state as (
    installation_id uuid, state text, branch_name text, branch_of uuid, branched_at timestamptz, masked_at timestamptz
);
comment on type forebay.branch_state is
'branch_state, begin_branch: one row; state is original, copy (not begun as a branch), unfinished (not all masked), closed or open.';

create type forebay.mask_state as (part text, is_complete boolean);
comment on type forebay.mask_state is
'mask_data: the part that it got to, null when everything is masked (is_complete).';

create type forebay.clone as (name text);
comment on type forebay.clone is 'list_clones: a database beside this one.';

do $verify$
begin
    if pg_catalog.to_regclass('forebay.masked_names') is null
        or pg_catalog.to_regtype('forebay.branch_state') is null
        or pg_catalog.to_regtype('forebay.mask_state') is null
        or pg_catalog.to_regtype('forebay.clone') is null then
        raise exception 'expected forebay.masked_names, branch_state, mask_state and clone to be there';
    end if;
    if exists (select from forebay.installation as i where i.home is not null or i.masked_at is not null) then
        raise exception 'expected the installation to have no home yet';
    end if;
end;
$verify$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('migrations/0012_make_branches.sql', 'versioned', '389002e651064173eb25fb4320ccefbf12d48817db02a38cc86e73723ea6ebd6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_act.sql
create or replace function forebay._act(
    p_act      text,
    p_task_ids bigint[],
    p_priority integer,
    p_note     text,
    p_reason   text,
    p_actor    text
)
    returns setof forebay.effect_count
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Do one act to tasks, and count its effects; null for p_priority is what the act itself takes then.
--
-- Errors  22023  p_act is no act, or what the act asks for is missing
declare
    v_effects text[];
begin
    case p_act
        when 'cancel' then
            v_effects := array(select e.effect from forebay.cancel(p_task_ids, p_reason, p_actor) as e);
        when 'retry' then
            v_effects := array(select e.effect from forebay.retry(p_task_ids, p_priority, p_reason, p_actor) as e);
        when 'reprocess' then
            v_effects := array(
                select e.effect from forebay.reprocess(p_task_ids, null, coalesce(p_priority, 10), p_reason, p_actor) as e
            );
        when 'reprioritize' then
            v_effects := array(select e.effect from forebay.reprioritize(p_task_ids, p_priority, p_reason, p_actor) as e);
        when 'annotate' then
            v_effects := array(select e.effect from forebay.annotate(p_task_ids, p_note, p_reason, p_actor) as e);
        else
            raise exception 'no act is called "%"', left(p_act, 200)
                using errcode = '22023', hint = 'Acts: cancel, retry, reprocess, reprioritize, annotate.';
    end case;
    return query
    select done.effect, count(*) from unnest(v_effects) as done (effect) group by done.effect order by done.effect;
end;
$function$;

comment on function forebay._act is
'Do one act to tasks, and count its effects; null for p_priority is what the act itself takes then.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_act.sql', 'repeatable', 'fe35d626f29e57bc6207eb82bc696f0f9d7cb453f51bae03d67fad42a819f109', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_add_compute.sql
create or replace function forebay._add_compute(p_attempt_ids bigint[])
    returns void
    language sql
    volatile
    security invoker
as $function$
-- Bring what the attempts' machines cost up to date with the records; the caller holds attempts and tasks.
--
-- Records of one source count, never of two: that of _compute_source.
--
-- Writes  forebay.task_attempts
update forebay.task_attempts as a
set compute_usd = c.usd, is_compute_final = c.is_final
from (
    select ids.attempt_id, sum(u.usd) as usd, coalesce(bool_and(u.is_final), false) as is_final
    from unnest(p_attempt_ids) as ids (attempt_id)
    left join forebay.compute_usage as u
        on u.attempt_id = ids.attempt_id and u.source = forebay._compute_source(ids.attempt_id)
    group by ids.attempt_id
) as c
where a.attempt_id = c.attempt_id and (a.compute_usd, a.is_compute_final) is distinct from (c.usd, c.is_final);
$function$;

comment on function forebay._add_compute is 'Bring what the attempts'' machines cost up to date with the records; the caller holds attempts and tasks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_add_compute.sql', 'repeatable', 'cbd7f09f5e9450be93ecabb68aee04edf867520b374cc7d525fcc2ebfc239362', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_add_to_rollups.sql
create or replace function forebay._add_to_rollups(p_cells forebay.task_cell[])
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
    set enable_hashjoin = on
    set work_mem = '64MB'
    set jit = off
as $function$
-- Add cells to the rollups of all widths; the caller holds the fold's advisory lock.
--
-- Each width is added up from the one before it, of all customers together and of each: cells get fewer on the way.
--
-- Writes  forebay.task_rollups
declare
    v_origin         constant timestamptz := timestamptz '2000-01-03 00:00:00+00';
    v_widths         constant integer[] := array[15, 60, 1440, 40320];
    v_cells          forebay.task_cell[];
    v_is_by_customer boolean;
    v_minutes        integer;
begin
    foreach v_is_by_customer in array array[false, true] loop
        v_cells := p_cells;
        foreach v_minutes in array case when v_is_by_customer then v_widths[2:] else v_widths end loop
            with cells as materialized (
                select
                    date_bin(make_interval(mins => v_minutes), c.starts_at, v_origin) as slot_at,
                    case when v_is_by_customer then c.customer else '' end as of_customer, c.*
                from unnest(v_cells) as c
            ), sums as (
                select
                    c.slot_at, c.agent, c.of_customer, c.status, sum(c.tasks)::bigint as tasks,
                    sum(c.ended_attempts)::bigint as ended, sum(c.measured_attempts)::bigint as measured,
                    sum(c.priced_attempts)::bigint as priced, sum(c.costed_attempts)::bigint as costed,
                    sum(c.provisional_attempts)::bigint as provisional, sum(c.input_tokens)::bigint as input_tokens,
                    sum(c.output_tokens)::bigint as output_tokens, sum(c.cached_tokens)::bigint as cached_tokens,
                    sum(c.llm_usd) as llm_usd, sum(c.compute_usd) as compute_usd
                from cells as c
                group by c.slot_at, c.agent, c.of_customer, c.status
            ), filled as (
                select
                    h.slot_at, h.agent, h.of_customer, h.status, array_agg(h.bucket order by h.bucket) as buckets,
                    array_agg(h.tasks order by h.bucket) as counts
                from (
                    select c.slot_at, c.agent, c.of_customer, c.status, b.bucket, sum(b.tasks)::bigint as tasks
                    from cells as c
                    cross join lateral unnest(c.buckets, c.counts) as b (bucket, tasks)
                    group by c.slot_at, c.agent, c.of_customer, c.status, b.bucket
                    having sum(b.tasks) <> 0
                ) as h
                group by h.slot_at, h.agent, h.of_customer, h.status
            )
            select array_agg((
                s.slot_at, s.agent, s.of_customer, s.status, s.tasks, s.ended, s.measured, s.priced, s.costed, s.provisional,
                s.input_tokens, s.output_tokens, s.cached_tokens, s.llm_usd, s.compute_usd, coalesce(f.buckets, '{}'),
                coalesce(f.counts, '{}')
            )::forebay.task_cell)
            into v_cells
            from sums as s
            left join filled as f using (slot_at, agent, of_customer, status);
            perform forebay._upsert_rollups(v_cells, v_minutes, v_is_by_customer);
        end loop;
    end loop;
end;
$function$;

comment on function forebay._add_to_rollups is 'Add cells to the rollups of all widths; the caller holds the fold''s advisory lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_add_to_rollups.sql', 'repeatable', '1d1f09445201b7108cf4765d877f1421a30a436c8ea8f36caa5129d536b18073', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_admit.sql
create or replace function forebay._admit(
    p_worker text,
    p_agent  forebay.agents,
    p_line   forebay.lined_up[],
    p_now    timestamptz
)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Turn the tasks, which the caller has locked, into attempts, and pay for them.
--
-- Returns  one row an attempt, in the order of p_line
-- Writes   forebay.tasks, forebay.task_attempts, and what _pay and _take_turns do
begin
    perform forebay._pay(p_agent, p_line, p_now);
    if p_agent.is_fair_by_customer then
        perform forebay._take_turns(p_agent, p_line);
    end if;
    return query
    with admitted as (
        select
            l.*,
            nextval('forebay.task_attempts_attempt_id_seq') as attempt_id,
            'fb-' || gen_random_uuid() as launch_token
        from unnest(p_line) with ordinality as l (
            task_id, priority, customer, waited, estimated_tokens, uses, place
        )
    ), claimed as (
        update forebay.tasks as t
        set status = 'processing', attempt_id = a.attempt_id, locked_by = p_worker,
            attempt_no = t.attempt_no + 1, attempt_count = t.attempt_count + 1
        from admitted as a
        where t.task_id = a.task_id
        returning t.*, a.estimated_tokens as tokens, a.uses, a.place, a.launch_token
    ), attempts as (
        insert into forebay.task_attempts (
            attempt_id, task_id, agent, launcher, attempt_no, worker, launch_token, lease_expires_at, deadline_at,
            estimated_tokens, charged_tokens, started_at, customer, expected_input_tokens, expected_output_tokens,
            expected_calls, expected_usd
        )
        select
            c.attempt_id, c.task_id, p_agent.agent, p_agent.launcher, c.attempt_no, p_worker,
            c.launch_token, p_now + least(p_agent.lease, p_agent.timeout), p_now + p_agent.timeout, c.tokens,
            case when p_agent.max_tpm is not null then (c.uses).input_tokens + (c.uses).output_tokens end, p_now, c.customer,
            (c.uses).input_tokens, (c.uses).output_tokens, (c.uses).calls, (c.uses).usd
        from claimed as c
    )
    select
        c.task_id, c.attempt_id, c.attempt_no, c.agent, p_agent.launcher, p_agent.job_id, p_agent.entry_point, c.payload,
        c.priority::integer, c.batch_id, c.customer, c.tokens, c.launch_token,
        p_now + least(p_agent.lease, p_agent.timeout), p_now + p_agent.timeout
    from claimed as c
    order by c.place;
end;
$function$;

comment on function forebay._admit is 'Turn the tasks, which the caller has locked, into attempts, and pay for them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_admit.sql', 'repeatable', '3b98d4c5fbfac3000344912502e6beac58c2476b66395bbdd1ce9375186ed964', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_admit_principal.sql
create or replace function forebay._admit_principal(p_name text, p_kind text, p_roles text[])
    returns text[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Give a principal of the workspace its login in this database of Lakebase, and make it a member of callers' roles.
--
-- p_kind is SERVICE_PRINCIPAL, USER or GROUP; p_roles are names such as forebay_agent. What is there already is left as it is, and no role is taken away.
-- Whoever installed the schema calls it: its login was made through OAuth, and it may create roles and has the admin option on ours.
--
-- Returns    what was missing until now: the principal's own name if its login was, and the roles that it became a member of
-- Errors     22023  a name is empty, a kind or a role is unknown
--            42501  the login may not act as forebay_owner, or may not create roles
--            58P01  there is no extension databricks_auth: this is no database of Lakebase
declare
    v_callers constant text[] := array[
        'forebay_submitter', 'forebay_worker', 'forebay_agent', 'forebay_operator', 'forebay_viewer', 'forebay_reader', 'forebay_upkeep'
    ];
    v_given  text[] := array[]::text[];
    v_schema name;
    v_role   text;
    -- Who made a role in PostgreSQL 16 or newer has its admin option, and may not act as it by that.
    v_kind   constant text := case when current_setting('server_version_num')::integer < 160000 then 'MEMBER' else 'SET' end;
begin
    perform forebay._require_owner();
    if coalesce(p_name, '') = '' then
        raise exception 'p_name must not be empty' using errcode = '22023';
    end if;
    if p_kind is null or p_kind not in ('SERVICE_PRINCIPAL', 'USER', 'GROUP') then
        raise exception 'p_kind must be SERVICE_PRINCIPAL, USER or GROUP' using errcode = '22023';
    end if;
    if p_roles is null or not p_roles <@ v_callers then
        raise exception 'p_roles must be callers'' roles such as forebay_agent' using errcode = '22023';
    end if;

    if not exists (select from pg_roles as r where r.rolname = p_name) then
        if not exists (select from pg_proc as p where p.proname = 'databricks_create_role') then
            create extension if not exists databricks_auth with schema public;
        end if;
        select n.nspname into strict v_schema
        from pg_proc as p inner join pg_namespace as n on n.oid = p.pronamespace
        where p.proname = 'databricks_create_role'
        order by n.nspname
        limit 1;
        execute format('select %I.databricks_create_role($1, $2)', v_schema) using p_name, p_kind;
        v_given := array[p_name];
    end if;
    foreach v_role in array p_roles loop
        if not pg_has_role(p_name, v_role, v_kind) then
            execute format('grant %I to %I', v_role, p_name);
            v_given := v_given || v_role;
        end if;
    end loop;
    return v_given;
end;
$function$;

comment on function forebay._admit_principal is
'Give a principal of the workspace its login in this database of Lakebase, and make it a member of callers'' roles.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_admit_principal.sql', 'repeatable', '39c0c147b90ee0b199de175e1bf1aef16339974cb7d465aec5abc6a18f059c18', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_after_failure.sql
create or replace function forebay._after_failure(
    p_attempt     forebay.task_attempts,
    p_task        forebay.tasks,
    p_agent       forebay.agents,
    p_error       jsonb,
    p_retryable   boolean,
    p_retry_after interval
)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Move a task whose attempt reported a failure, by what error_policies says of the error's kind.
--
-- A kind that spends no attempt defers the task as long as its deferrals are within the agent's bounds; after that it spends
-- one as any other; either way the provider is not paid for it. A final kind ends the task whatever p_retryable says.
--
-- Returns  the task's status after it
-- Writes   forebay.tasks, forebay.refusals, forebay.task_attempts.expected_usd
declare
    v_policy    forebay.error_policies;
    v_wait      interval;
    v_may_retry boolean;
begin
    select p.* into v_policy from forebay.error_policies as p where p.kind = p_error ->> 'kind';
    v_wait := coalesce(p_retry_after, v_policy.default_wait);
    v_may_retry := p_retryable and not v_policy.is_final;
    if v_policy.pauses = 'always' or v_policy.pauses = 'when told' and p_retry_after is not null then
        perform forebay._refuse(p_attempt, p_agent, p_error ->> 'quota', v_wait);
    end if;
    if not v_policy.spends_attempt then
        update forebay.task_attempts as a set expected_usd = 0 where a.attempt_id = p_attempt.attempt_id;
    end if;
    if v_may_retry and not v_policy.spends_attempt and forebay._may_defer(p_agent, p_task, forebay._now()) then
        return forebay._defer(p_task, p_agent, p_error, v_wait);
    end if;
    return forebay._give_back(p_task, p_agent, p_error, v_may_retry, v_wait, false);
end;
$function$;

comment on function forebay._after_failure is 'Move a task whose attempt reported a failure, by what error_policies says of the error''s kind.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_after_failure.sql', 'repeatable', '19605e6982596b0563d60820e8ff95609b0ad4e04c8bf08f4cb6e6059a75a6a4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_aged_order.sql
create or replace function forebay._aged_order(
    p_agent  forebay.agents,
    p_limit  integer,
    p_floor  integer,
    p_now    timestamptz,
    p_locks  boolean,
    p_capped text[],
    p_except bigint[]
)
    returns bigint[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first p_limit tasks in line by effective priority, then age, then id; with p_locks not those that were not woken yet.
--
-- Inside a priority the older one has aged more, so each priority's line is in order already, and only its first p_limit
-- are read: the tasks behind them cost nothing.
begin
    return array(
        with waiting as (
            select firsts.*
            from forebay._waiting_priorities(p_agent.agent) as p (priority)
            cross join lateral (
                select t as task from forebay.tasks as t
                where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready and t.priority = p.priority
                    and (t.customer is null or t.customer <> all(p_capped)) and t.task_id <> all(p_except)
                order by t.created_at, t.task_id
                limit p_limit
            ) as firsts
            union all
            select t from forebay.tasks as t
            where not p_locks and t.agent = p_agent.agent and t.status = 'enqueued' and not t.is_ready
                and t.available_at <= p_now and (t.customer is null or t.customer <> all(p_capped))
        )
        select (w.task).task_id
        from waiting as w
        cross join lateral (select forebay._effective_priority(p_agent, w.task, p_now) as priority) as effective
        where p_floor is null or effective.priority >= p_floor
        order by effective.priority desc, (w.task).created_at, (w.task).task_id
        limit p_limit
    );
end;
$function$;

comment on function forebay._aged_order is 'The first p_limit tasks in line by effective priority, then age, then id; with p_locks not those that were not woken yet.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_aged_order.sql', 'repeatable', '8a853a50f497fdca6f6196e95453fa99235b88fdc79a5372eca3ad8a7f719bbc', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_agent_gauges.sql
create or replace function forebay._agent_gauges(p_agent text, p_now timestamptz)
    returns table (metric text, state text, value double precision)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What monitoring tells of an agent; state is that of its tasks, null for other metrics.
declare
    v_agent forebay.agents := forebay._get_effective(p_agent, p_now);
    v_since timestamptz := p_now - interval '1 hour';
    v_waits timestamptz := forebay._waits_since(p_agent, p_now);
begin
    return query
    select told.metric, told.state, told.value::double precision
    from forebay._line_state(p_agent, p_now) as line
    cross join forebay._levels(v_agent, p_now) as levels
    cross join forebay._last_minute(p_agent, p_now) as minute
    cross join lateral (
        values
        ('forebay_tasks', 'waiting', line.waiting::numeric),
        ('forebay_tasks', 'delayed', line.delayed),
        ('forebay_tasks', 'processing', (
            select count(*) from forebay.task_attempts as a where a.agent = p_agent and a.finished_at is null
        )),
        ('forebay_oldest_waiting_seconds', null, coalesce(extract(epoch from greatest(p_now - v_waits, interval '0')), 0)),
        ('forebay_starts_last_minute', null, minute.starts),
        ('forebay_tokens_last_minute', null, minute.tokens),
        ('forebay_refusals_last_hour', null, (
            select count(*) from forebay.refusals as r where r.agent = p_agent and r.lowered_at > v_since
        )),
        ('forebay_lost_leases_last_hour', null, (
            select count(*) from forebay.task_attempts as a
            where a.status = 'lost' and a.finished_at > v_since and a.agent = p_agent
        )),
        ('forebay_token_bucket_level', null, levels.tokens),
        ('forebay_token_bucket_size', null, forebay._token_burst(v_agent)),
        ('forebay_token_limit_per_minute', null, v_agent.max_tpm),
        ('forebay_request_limit_per_minute', null, v_agent.max_rpm),
        ('forebay_concurrency_limit', null, v_agent.max_concurrent_tasks),
        ('forebay_paused', null, coalesce(v_agent.paused_until > p_now, false)::integer),
        ('forebay_cost_today_usd', null, (forebay._spent_today(p_agent, null, p_now)).recorded),
        ('forebay_spend_cap_usd', null, forebay._cap_today(p_agent, '', v_agent.max_usd_per_day, p_now))
    ) as told (metric, state, value)
    where told.value is not null;
end;
$function$;

comment on function forebay._agent_gauges is
'What monitoring tells of an agent; state is that of its tasks, null for other metrics.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_agent_gauges.sql', 'repeatable', '2c82980485a0d9b4357200e39c122b991426e8aa111499d4edc30b5138a6b2eb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_agent_key.sql
create or replace function forebay._agent_key(p_agent text)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- The key of the agent's advisory lock.
select hashtextextended('forebay.agent ' || p_agent, 0);
$function$;

comment on function forebay._agent_key is 'The key of the agent''s advisory lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_agent_key.sql', 'repeatable', 'a3485185c8d3b59a229f11d9a952ce90dcd0d7c51ebc86e0d8145213555b9891', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_agent_outlook.sql
create or replace function forebay._agent_outlook(
    p_agent        text,
    p_batch_id     bigint,
    p_now          timestamptz,
    out is_needed  boolean,
    out ahead      bigint,
    out tokens     bigint,
    out per_minute numeric,
    out limited_by text,
    out time_left  interval
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What an agent still has to do for a batch, and how long that will take; is_needed is false where it has nothing to do.
--
-- ahead counts tasks of others before the batch's last one in line, up to 100,000 of a priority; tokens is what the
-- batch's tasks in line are expected to use. What runs now has to end too. Each limit's time is what has to start, less its
-- room now, by what it lets pass a minute. A pause comes on top of it, and a cap of spending until it is over.
declare
    v_agent forebay.agents := forebay._get_effective(p_agent, p_now);
    v_open  record;
    v_last  forebay.tasks;
    v_use   forebay.expected_use;
    v_limit record;
    v_halt  record;
begin
    select o.* into v_open from forebay._open_tasks(p_batch_id, v_agent) as o;
    is_needed := v_open.waiting + v_open.running > 0;
    ahead := 0;
    tokens := 0;
    if not is_needed then
        return;
    end if;

    per_minute := forebay._finished_per_minute(v_agent.agent, p_now);
    if v_open.waiting > 0 then
        select t.* into v_last from forebay.tasks as t
        where t.batch_id = p_batch_id and t.agent = v_agent.agent and t.status = 'enqueued'
        order by forebay._effective_priority(v_agent, t, p_now), t.created_at desc, t.task_id desc
        limit 1;
        ahead := greatest(0, coalesce(
            forebay._count_ahead(v_last, p_now, 100000), forebay._count_turns(v_last)
        ) - v_open.waiting + 1);
        v_use := forebay._expect(v_agent, forebay._learned(v_agent.agent), v_open.estimate);
        tokens := v_open.waiting * (v_use.input_tokens + v_use.output_tokens);
    end if;
    time_left := make_interval(secs => (60 * (ahead + v_open.waiting + forebay._in_use(v_agent.agent)) / per_minute)::double precision);

    select r.* into v_limit
    from forebay._passing(v_agent, v_use, ahead + v_open.waiting, p_now) as r
    order by r.takes desc
    limit 1;
    if found and (v_limit.takes is null or v_limit.takes > time_left) then
        time_left := v_limit.takes;
        limited_by := v_limit.words;
    end if;
    select h.* into v_halt from forebay._halt(v_agent, v_last, p_now) as h;
    if v_halt.words is not null then
        limited_by := v_halt.words;
        time_left := time_left + v_halt.lasts;
    end if;
    if v_open.due_at - p_now > time_left then
        time_left := v_open.due_at - p_now;
    end if;
end;
$function$;

comment on function forebay._agent_outlook is 'What an agent still has to do for a batch, and how long that will take; is_needed is false where it has nothing to do.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_agent_outlook.sql', 'repeatable', '73784257f0c52efb7244f73ed79f938b16fe307c0e611f16f97d7cf4964acb23', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_agent_state.sql
create or replace function forebay._agent_state(p_agent forebay.agents, p_now timestamptz)
    returns forebay.fit
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- In one word, whether the agent admits, as reason; and what the first task that does not fit lacks.
--
-- The word is closed, paused, full, out_of_requests, out_of_tokens, quota, spend_cap or open. The agent is the one that
-- _get_effective gives.
declare
    v_fit forebay.fit;
begin
    if p_agent.max_tpm = 0 or p_agent.max_rpm = 0 or p_agent.max_concurrent_tasks = 0 then
        v_fit.reason := 'closed';
    elsif p_agent.paused_until > p_now then
        v_fit.reason := 'paused';
    elsif forebay._in_use(p_agent.agent, p_agent.max_concurrent_tasks) >= p_agent.max_concurrent_tasks then
        v_fit.reason := 'full';
    elsif forebay._room(p_agent, p_now) = 0 then
        v_fit.reason := 'out_of_requests';
    elsif not forebay._is_weighed(p_agent) then
        v_fit.reason := 'open';
    else
        v_fit := forebay._fitting(p_agent, forebay._line(p_agent, 101, null, p_now, false), 1, p_now);
        v_fit.reason := case when v_fit.places = '{}' then coalesce(v_fit.reason, 'open') else 'open' end;
    end if;
    return v_fit;
end;
$function$;

comment on function forebay._agent_state is
'In one word, whether the agent admits, as reason; and what the first task that does not fit lacks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_agent_state.sql', 'repeatable', 'f1894c01eb2e0359e8126e4cdd5a1aa90bb83d1fab2c0ae97b3952be074069c7', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_ahead_words.sql
create or replace function forebay._ahead_words(p_ahead bigint)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- How many tasks are before one, as the sentence that ends why it waits, with a space before it.
select case
    when p_ahead = 1 then ' 1 task is before it.'
    when p_ahead > 1 then format(' %s tasks are before it.', forebay._number_words(p_ahead))
    else ''
end;
$function$;

comment on function forebay._ahead_words is
'How many tasks are before one, as the sentence that ends why it waits, with a space before it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_ahead_words.sql', 'repeatable', 'e26b2c777e025caf044e67e792bdca5a081d5fdff50d426a2eca0b097fe0a869', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_alias.sql
create or replace function forebay._alias(p_kind text, p_name text)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The made-up name of a customer, person or worker: the same one each time, of nothing but chance. Null, '' and made-up names stay.
--
-- Writes  forebay.masked_names
declare
    v_alias text;
begin
    if p_name is null or p_name = '' or p_name ~ ('^' || p_kind || ' [0-9a-f]{12}$') then
        return p_name;
    end if;
    select n.alias into v_alias from forebay.masked_names as n where n.kind = p_kind and n.name = p_name;
    if v_alias is null then
        insert into forebay.masked_names (kind, name, alias)
        values (p_kind, p_name, p_kind || ' ' || forebay._chance())
        returning alias into v_alias;
    end if;
    return v_alias;
end;
$function$;

comment on function forebay._alias is
'The made-up name of a customer, person or worker: the same one each time, of nothing but chance. Null, '''' and made-up names stay.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_alias.sql', 'repeatable', 'd98ab7f3cdde44b06d0de0d4a8802de2fc62fb084f2992bd81a9886ea92b8df0', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_ask_wakeup.sql
create or replace function forebay._ask_wakeup(p_is_work boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Ask for dashboards to be woken when this transaction commits, and dispatchers too if p_is_work; once is enough.
--
-- Writes  forebay.wakeups
declare
    v_marker text := pg_current_xact_id() || case when p_is_work then ' work' else ' changes' end;
begin
    if current_setting('forebay.wakeup', true) in (v_marker, pg_current_xact_id() || ' work') then
        return;
    end if;
    insert into forebay.wakeups (is_work) values (p_is_work);
    perform set_config('forebay.wakeup', v_marker, true);
end;
$function$;

comment on function forebay._ask_wakeup is 'Ask for dashboards to be woken when this transaction commits, and dispatchers too if p_is_work; once is enough.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_ask_wakeup.sql', 'repeatable', 'ea3529365d510cf512f1a0078fc072fce111b6a7ff87d7fd89c6b8a8af7a50eb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_attempt_document.sql
create or replace function forebay._attempt_document(p_attempt forebay.task_attempts)
    returns jsonb
    language sql
    stable
    security invoker
as $function$
-- An attempt as task_detail shows it: without its result, and without what its calls are waiting for.
select to_jsonb(shown) from (
    select
        p_attempt.attempt_id, p_attempt.attempt_no, p_attempt.agent, p_attempt.launcher, p_attempt.status, p_attempt.worker,
        p_attempt.launch_token, p_attempt.run_id, p_attempt.run_state, p_attempt.run_ended_at, p_attempt.trace_id,
        p_attempt.lease_expires_at, p_attempt.deadline_at, p_attempt.is_stop_pending, p_attempt.stop_asked_at,
        p_attempt.progress_done, p_attempt.progress_total, p_attempt.confidence, p_attempt.error,
        p_attempt.estimated_tokens, p_attempt.charged_tokens, p_attempt.expected_input_tokens, p_attempt.expected_output_tokens,
        p_attempt.expected_calls, p_attempt.expected_usd, p_attempt.used_input_tokens, p_attempt.used_output_tokens,
        p_attempt.used_cached_tokens, p_attempt.used_calls, p_attempt.is_usage_known,
        forebay._usage_source(p_attempt.attempt_id) as usage_source, p_attempt.cost_usd,
        p_attempt.is_cost_known, p_attempt.compute_usd, p_attempt.is_compute_final,
        extract(epoch from p_attempt.held_up) as held_up_seconds,
        p_attempt.started_at, p_attempt.reported_at, p_attempt.finished_at,
        (
            select forebay._trace_state(t) from forebay.attempt_traces as t where t.attempt_id = p_attempt.attempt_id
        ) as trace_state
) as shown;
$function$;

comment on function forebay._attempt_document is
'An attempt as task_detail shows it: without its result, and without what its calls are waiting for.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_attempt_document.sql', 'repeatable', '656b09de097ac41cfced82824ef3f93fb2e20419fc0f699b57e4196109f6d5c5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_audit.sql
create or replace function forebay._audit(
    p_action   text,
    p_task_ids bigint[],
    p_agent    text,
    p_reason   text,
    p_actor    text,
    p_details  jsonb default null
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record an act: one row for each task of p_task_ids, or one row for p_agent when that is null.
begin
    insert into forebay.audit_log (acted_at, action, task_id, agent, session_role, actor, reason, details)
    select forebay._now(), p_action, ids.task_id, p_agent, session_user, left(p_actor, 200), left(p_reason, 2000), p_details
    from unnest(coalesce(p_task_ids, array[null::bigint])) as ids (task_id);
end;
$function$;

comment on function forebay._audit is 'Record an act: one row for each task of p_task_ids, or one row for p_agent when that is null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_audit.sql', 'repeatable', '5aaafc89472ce203c6af52123fd031c69f7d52f9936208a041d35543c3aab3da', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_backoff.sql
create or replace function forebay._backoff(p_base interval, p_max interval, p_attempt_count integer)
    returns interval
    language sql
    volatile
    security invoker
as $function$
-- How long a task waits after its p_attempt_count-th spent attempt: doubling from p_base up to p_max, less up to a tenth.
--
-- In seconds as numeric, and with the exponent held at 60, so that no count overflows; the tenth is random, so that tasks
-- which failed together do not return together.
select make_interval(secs => (
    least(
        extract(epoch from p_max),
        extract(epoch from p_base) * power(2::numeric, least(greatest(p_attempt_count, 1) - 1, 60))
    ) * (1 - random()::numeric / 10)
)::double precision);
$function$;

comment on function forebay._backoff is 'How long a task waits after its p_attempt_count-th spent attempt: doubling from p_base up to p_max, less up to a tenth.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_backoff.sql', 'repeatable', 'e5fd54a476f52e7631d845c69930d339c8775bc8229726e12a0cc90668661f04', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_batch_explanations.sql
create or replace function forebay._batch_explanations(p_batch_id bigint, p_task_ids bigint[])
    returns setof forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Why those of the given tasks wait that do and belong to the batch, by id.
--
-- As explain_task says it, but for the reason of a pause: operators write it for each other.
--
-- Errors  22023  p_task_ids is null, or has more than 200 ids
declare
    v_ids bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_now timestamptz := forebay._now();
begin
    perform forebay._require_between(cardinality(v_ids), 'the number of tasks', 0, 200);
    return query
    select
        e.task_id, e.status, e.reason,
        case e.reason
            when 'paused' then concat(
                forebay._pause_words(forebay._get_effective(t.agent, v_now), v_now), '.', forebay._ahead_words(e.ahead)
            )
            else e.explanation
        end,
        e.waiting_until, e.ahead, e.subject, e.unit, e.needs, e.has, e.amount, e.period
    from forebay.tasks as t
    cross join lateral forebay.explain_task(t.task_id) as e
    where t.task_id = any(v_ids) and t.batch_id = p_batch_id and t.status = 'enqueued'
    order by t.task_id;
end;
$function$;

comment on function forebay._batch_explanations is 'Why those of the given tasks wait that do and belong to the batch, by id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_batch_explanations.sql', 'repeatable', 'ec3e81411551aaa2d3d53bd16114f544b64dd0c56e6533cb2e5b90b073be0b66', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_batch_outlook.sql
create or replace function forebay._batch_outlook(p_batch forebay.batches)
    returns forebay.batch_outlook
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How far the batch has come, what it has cost, and how long it will still take; of several agents the slowest decides.
declare
    v_now     timestamptz := forebay._now();
    v_outlook forebay.batch_outlook;
begin
    select
        p_batch.batch_id, p_batch.name, p_batch.customer, p_batch.owner, of_tasks.agents, p_batch.created_at, sums.tasks,
        sums.enqueued, sums.processing, sums.completed, sums.failed, sums.cancelled, sums.finished_at,
        0::bigint, 0::bigint, null::numeric, null::text, null::interval, of_tasks.confidence,
        sums.llm_usd, sums.priced_attempts = sums.ended_attempts, v_now
    into v_outlook
    from forebay._batch_sums(p_batch.batch_id) as sums
    cross join (
        select
            coalesce(array_agg(distinct t.agent order by t.agent) filter (where t.agent is not null), '{}') as agents,
            percentile_disc(0.5) within group (order by t.confidence) filter (where t.status = 'completed') as confidence
        from forebay.tasks as t
        where t.batch_id = p_batch.batch_id
    ) as of_tasks;

    if v_outlook.enqueued + v_outlook.processing > 0 then
        select
            sum(o.ahead)::bigint, sum(o.tokens)::bigint, sum(o.per_minute),
            (array_agg(o.limited_by order by o.time_left desc nulls first, o.agent))[1],
            case when bool_and(o.time_left is not null) then max(o.time_left) end
        into v_outlook.ahead, v_outlook.remaining_tokens, v_outlook.per_minute, v_outlook.limited_by, v_outlook.time_left
        from (
            select names.agent, a.*
            from unnest(v_outlook.agents) as names (agent)
            cross join lateral forebay._agent_outlook(names.agent, p_batch.batch_id, v_now) as a
            where a.is_needed
        ) as o;
    end if;
    return v_outlook;
end;
$function$;

comment on function forebay._batch_outlook is 'How far the batch has come, what it has cost, and how long it will still take; of several agents the slowest decides.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_batch_outlook.sql', 'repeatable', 'a47375bcbceee0f715ca71c258f33cb97edea1c42017215594192c1ba5382b58', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_batch_results.sql
create or replace function forebay._batch_results(
    p_batch_id      bigint,
    p_task_ids      bigint[],
    p_after_task_id bigint,
    p_limit         integer
)
    returns setof forebay.batch_result
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tasks of a batch with their payloads and results, by id; p_task_ids null: all of them.
--
-- Errors  22023  p_limit is not from 1 to 1,000
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 1000);
    return query
    select
        t.task_id, t.agent, t.status, t.payload, t.result, t.confidence, t.error, t.used_input_tokens, t.used_output_tokens,
        t.used_cached_tokens, forebay._known_usd(t.cost_usd, t.priced_attempts), t.priced_attempts = t.ended_attempts,
        t.created_at, t.finished_at
    from forebay.tasks as t
    where t.batch_id = p_batch_id and t.task_id > coalesce(p_after_task_id, 0)
        and (p_task_ids is null or t.task_id = any(p_task_ids))
    order by t.task_id
    limit p_limit;
end;
$function$;

comment on function forebay._batch_results is 'The tasks of a batch with their payloads and results, by id; p_task_ids null: all of them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_batch_results.sql', 'repeatable', '7f005a2ef0bb98f810a09f800a51b8e4b149e6c043e9840ca2474e240630a6f5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_batch_sums.sql
create or replace function forebay._batch_sums(
    p_batch_id          bigint,
    out tasks           bigint,
    out enqueued        bigint,
    out processing      bigint,
    out completed       bigint,
    out failed          bigint,
    out cancelled       bigint,
    out finished_at     timestamptz,
    out llm_usd         numeric,
    out ended_attempts  bigint,
    out priced_attempts bigint
)
    language sql
    stable
    security invoker
as $function$
-- A batch's tasks by status, when the last of them ended once all have, and what their calls cost as far as known.
select
    count(*),
    count(*) filter (where t.status = 'enqueued'),
    count(*) filter (where t.status = 'processing'),
    count(*) filter (where t.status = 'completed'),
    count(*) filter (where t.status = 'failed'),
    count(*) filter (where t.status = 'cancelled'),
    case when bool_and(t.finished_at is not null) then max(t.finished_at) end,
    sum(forebay._known_usd(t.cost_usd, t.priced_attempts)),
    coalesce(sum(t.ended_attempts), 0)::bigint,
    coalesce(sum(t.priced_attempts), 0)::bigint
from forebay.tasks as t
where t.batch_id = p_batch_id;
$function$;

comment on function forebay._batch_sums is
'A batch''s tasks by status, when the last of them ended once all have, and what their calls cost as far as known.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_batch_sums.sql', 'repeatable', 'a5b9798d77797b6b5ea209ef7549dc5238ac61c4cf66ffd79900b2578ca8996b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_batch_task.sql
create or replace function forebay._batch_task(p_task forebay.tasks)
    returns setof forebay.batch_task
    language sql
    stable
    rows 1
    security invoker
as $function$
-- One task as a batch shows it; of its result only the fields, as far as they are an object of at most 4 kB.
select
    p_task.task_id, p_task.agent, p_task.status, p_task.priority::integer, p_task.payload, p_task.attempt_count,
    a.progress_done, a.progress_total, p_task.confidence, small.fields, p_task.error, p_task.reprocess_of,
    p_task.used_input_tokens, p_task.used_output_tokens, p_task.used_cached_tokens,
    forebay._known_usd(p_task.cost_usd, p_task.priced_attempts), p_task.priced_attempts = p_task.ended_attempts,
    p_task.created_at, a.started_at, p_task.finished_at
from (select p_task.result -> 'fields' as fields) as found
left join forebay.task_attempts as a on a.attempt_id = p_task.attempt_id
left join lateral (select found.fields) as small
    on jsonb_typeof(small.fields) = 'object' and octet_length(small.fields::text) <= 4096;
$function$;

comment on function forebay._batch_task is
'One task as a batch shows it; of its result only the fields, as far as they are an object of at most 4 kB.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_batch_task.sql', 'repeatable', '75ff05d5325a6ee7102184904f0defb4727829447c3a6cf8b53c053b0595bfa8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_batch_tasks.sql
create or replace function forebay._batch_tasks(
    p_batch_id      bigint,
    p_statuses      text[],
    p_after_task_id bigint,
    p_limit         integer
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tasks of a batch, by id.
--
-- Errors  22023  a status does not exist, or p_limit is not from 1 to 10,000
declare
    v_statuses text[] := p_statuses;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    return query
    select b.*
    from forebay.tasks as t
    cross join lateral forebay._batch_task(t) as b
    where t.batch_id = p_batch_id and t.task_id > coalesce(p_after_task_id, 0)
        and (v_statuses is null or t.status = any(v_statuses))
    order by t.task_id
    limit p_limit;
end;
$function$;

comment on function forebay._batch_tasks is 'The tasks of a batch, by id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_batch_tasks.sql', 'repeatable', 'bf42b091620291bef01a50698490392178b7afe1f535edf91fe602fd2754fbf7', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_batch_tasks_by_confidence.sql
create or replace function forebay._batch_tasks_by_confidence(
    p_batch_id      bigint,
    p_after_task_id bigint,
    p_limit         integer
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The completed tasks of a batch, the least sure first, those without a confidence last; then by id.
--
-- Errors  22023  p_limit is not from 1 to 10,000
--         QF303  p_after_task_id is no completed task of the batch
declare
    v_after forebay.tasks;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if p_after_task_id is not null then
        v_after := forebay._get_task(p_after_task_id);
        if v_after.batch_id is distinct from p_batch_id or v_after.status <> 'completed' then
            raise exception 'task % is no completed task of batch %', p_after_task_id, p_batch_id
                using errcode = 'QF303', hint = 'Begin anew, without p_after_task_id.';
        end if;
    end if;
    return query
    select b.*
    from forebay.tasks as t
    cross join lateral forebay._batch_task(t) as b
    where t.batch_id = p_batch_id and t.status = 'completed' and (
        v_after.task_id is null
        or (coalesce(t.confidence, 2), t.task_id) > (coalesce(v_after.confidence, 2), v_after.task_id)
    )
    order by coalesce(t.confidence, 2), t.task_id
    limit p_limit;
end;
$function$;

comment on function forebay._batch_tasks_by_confidence is
'The completed tasks of a batch, the least sure first, those without a confidence last; then by id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_batch_tasks_by_confidence.sql', 'repeatable', 'aff4786358032514b4dee8f13bbbd49cbfbde4f15d43bae1e3d128c0520c272e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_batches_done.sql
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
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_batches_done.sql', 'repeatable', 'ccf9262fabaae589ef7692aa4c591c231fb1ca613a54cc358550bc68ef1a8139', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_boosted.sql
create or replace function forebay._boosted(p_tasks forebay.tasks[])
    returns forebay.tasks[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tasks with their customers' priority boosts added; a priority stays within a smallint.
declare
    v_tasks  forebay.tasks[] := p_tasks;
    v_boosts jsonb := (
        select jsonb_object_agg(c.customer, c.priority_boost)
        from forebay.customers as c
        where c.priority_boost <> 0 and c.customer in (select t.customer from unnest(p_tasks) as t)
    );
begin
    if v_boosts is null then
        return p_tasks;
    end if;
    for v_at in 1 .. cardinality(v_tasks) loop
        if v_boosts ? v_tasks[v_at].customer then
            v_tasks[v_at].priority := greatest(-32768, least(
                32767, v_tasks[v_at].priority + (v_boosts ->> v_tasks[v_at].customer)::integer
            ));
        end if;
    end loop;
    return v_tasks;
end;
$function$;

comment on function forebay._boosted is 'The tasks with their customers'' priority boosts added; a priority stays within a smallint.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_boosted.sql', 'repeatable', '544383c2c7540d1d9f20c4bb31cc290f955580ee176e8d7776c72c0ecd1aafec', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_branch_state.sql
create or replace function forebay._branch_state(p_installation forebay.installation)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a database is: original; copy (nobody has begun it as a branch here); unfinished (begun, and not all masked); closed; or open.
begin
    return case
        when not forebay._is_copy(p_installation) then 'original'
        when not p_installation.is_branch or not forebay._is_here(p_installation.home) then 'copy'
        when p_installation.branch_name is not null and p_installation.masked_at is null then 'unfinished'
        when forebay._may_dispatch() then 'open'
        else 'closed'
    end;
end;
$function$;

comment on function forebay._branch_state is
'What a database is: original; copy (nobody has begun it as a branch here); unfinished (begun, and not all masked); closed; or open.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_branch_state.sql', 'repeatable', '62abb561a1fb2ad87bc61eda1df07f4f8c608b4f0dc73a12249dc6096487078d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_bucket_level.sql
create or replace function forebay._bucket_level(
    p_limit    forebay.quota_limits,
    p_capacity numeric,
    p_amount   numeric,
    p_now      timestamptz
)
    returns numeric
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The level of a quota's bucket as of p_now, with the settlements that wait to be folded in at the time of their calls.
--
-- It refills by p_amount a period, up to p_capacity: also before each settlement, so that time without calls adds nothing
-- beyond that.
declare
    v_level      numeric := p_limit.level;
    v_at         timestamptz := p_limit.refilled_at;
    v_per_minute numeric := p_amount * 60 / extract(epoch from p_limit.period);
    v_call       forebay.quota_settlements;
begin
    for v_call in
        select s.* from forebay.quota_settlements as s
        where s.quota = p_limit.quota and s.called_at >= p_limit.since
        order by s.called_at, s.settlement_id
    loop
        v_level := forebay._refill(v_level, p_capacity, v_per_minute, v_at, v_call.called_at)
        - forebay._in_unit(p_limit.unit, v_call.requests, v_call.input_tokens, v_call.output_tokens);
        v_at := greatest(v_at, v_call.called_at);
    end loop;
    return forebay._refill(v_level, p_capacity, v_per_minute, v_at, p_now);
end;
$function$;

comment on function forebay._bucket_level is 'The level of a quota''s bucket as of p_now, with the settlements that wait to be folded in at the time of their calls.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_bucket_level.sql', 'repeatable', '8c615f1ca60bca4b224bb54aedbdac5d03f7947d53f573e3d5e0ff15b4ffddc6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_buckets.sql
create or replace function forebay._buckets(p_response interval, p_run interval, p_confidence numeric)
    returns smallint[]
    language sql
    immutable
    security invoker
as $function$
-- The buckets of histograms that a completed task is in, by how long it took, how long of that its attempts ran, and its confidence.
--
-- A bucket is 1000 times the measure (0 response, 1 queue, 2 run, 3 confidence) plus its place: of times, how many steps of 5 %
-- they lie above a millisecond; of confidences, hundredths.
select array_remove(
    array[
        forebay._time_place(p_response),
        1000 + forebay._time_place(greatest(p_response - p_run, interval '0')),
        2000 + forebay._time_place(least(p_run, p_response)),
        3000 + floor(p_confidence * 100)::integer - (p_confidence = 1)::integer
    ],
    null
)::smallint[];
$function$;

comment on function forebay._buckets is 'The buckets of histograms that a completed task is in, by how long it took, how long of that its attempts ran, and its confidence.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_buckets.sql', 'repeatable', '040c20392c96fa140dcfdf05c16de40f63e9d4a68da2dcc24d5abdae51a76927', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_call_hindrance.sql
create or replace function forebay._call_hindrance(
    p_attempt   forebay.task_attempts,
    p_quotas    text[],
    p_input     bigint,
    p_output    bigint,
    p_now       timestamptz,
    out quota   text,
    out unit    text,
    out period  interval,
    out needs   numeric,
    out room    numeric,
    out calls   bigint,
    out free_at timestamptz
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The limit that lets a call go last of those that do not let it go now; null when all do.
--
-- A limit lets it go where there is room for it and for the reserved calls before it. A call larger than all that a limit
-- has goes alone, when the limit is idle.
--
-- Returns  free_at: when it will fit if nothing else happens, after the calls that are expected to go first. So each
--          waiting call has a moment of its own, when a slot has left the window, and they do not all wake at once
begin
    select l.quota, l.unit, l.period, of_limit.needs, l.room, ahead.calls, of_time.free_at
    into quota, unit, period, needs, room, calls, free_at
    from forebay._quota_limits(p_quotas, p_now) as l
    cross join lateral (select forebay._in_unit(l.unit, 1, p_input, p_output) as needs) as of_limit
    cross join lateral forebay._calls_ahead(p_attempt, l.quota, l.unit, l.period, of_limit.needs, p_now) as ahead
    cross join lateral (
        select case when l.capacity > 0 then forebay._free_at(
            l.quota, l.unit, l.period, case l.kind when 'bucket' then l.effective / extract(epoch from l.period) end,
            least(of_limit.needs + ahead.before, l.capacity) - l.room, p_now
        ) else 'infinity' end as free_at
    ) as of_time
    where of_limit.needs > 0 and of_limit.needs + ahead.reserved > l.room and not (
        of_limit.needs > l.capacity and l.room >= l.capacity and l.capacity > 0 and ahead.reserved = 0
    )
    order by of_time.free_at desc nulls last, l.quota, l.unit, l.period
    limit 1;
end;
$function$;

comment on function forebay._call_hindrance is 'The limit that lets a call go last of those that do not let it go now; null when all do.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_call_hindrance.sql', 'repeatable', 'eab92a83467579d0c04e1b7b169a0bf8962722d2e7c7cb83da0b442cd724a076', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_called_at.sql
create or replace function forebay._called_at(p_call forebay.attempt_usage, p_started_at timestamptz)
    returns timestamptz
    language sql
    immutable
    security invoker
as $function$
-- When a call of an attempt that started at p_started_at was made: as reported, but not before that and not after the report.
select least(p_call.recorded_at, greatest(coalesce(p_call.started_at, p_call.recorded_at), p_started_at));
$function$;

comment on function forebay._called_at is 'When a call of an attempt that started at p_started_at was made: as reported, but not before that and not after the report.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_called_at.sql', 'repeatable', 'd15fca6471ad8d94a025e18833d618f52684036ac109f9d67a5f1142a7a3226a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_calls_ahead.sql
create or replace function forebay._calls_ahead(
    p_attempt    forebay.task_attempts,
    p_quota      text,
    p_unit       text,
    p_period     interval,
    p_need       numeric,
    p_now        timestamptz,
    out calls    bigint,
    out reserved numeric,
    out before   numeric
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The calls that wait for the quota since before the attempt's own call, and what they need of a limit.
--
-- A call is passed by those that fit until it has waited 20 s, or a third of the period if that is less; then it is
-- reserved: the later ones leave it its room. A call that waits for another quota holds its room here if this one had none
-- for it before, and the other will have some within this one's period: a quota that is full for long delays nobody
-- outside it. One that did not ask again within 5 s of its time has lost its place: a dead caller holds nobody up for
-- longer.
--
-- Returns  reserved: what nobody may take; before: what is expected to go first, the reserved ones and all not larger
declare
    v_patience interval := least(interval '20 seconds', nullif(p_period, '0') / 3);
begin
    select
        count(*),
        coalesce(sum(w.need) filter (where w.is_reserved), 0),
        coalesce(sum(w.need) filter (where w.is_reserved or w.need <= p_need), 0)
    into calls, reserved, before
    from (
        select
            forebay._in_unit(p_unit, 1, a.call_input_tokens, a.call_output_tokens) as need,
            a.call_asked_at <= p_now - v_patience as is_reserved
        from forebay.agents as g
        cross join lateral (
            select o.* from forebay.task_attempts as o
            where o.agent = g.agent and o.call_asked_at is not null and o.finished_at is null
            offset 0
        ) as a
        where p_quota = any(g.quotas) and a.attempt_id <> p_attempt.attempt_id
            and (a.call_quota = p_quota or p_quota = any(a.call_holds) and (
                a.call_free_at is null or a.call_free_at < p_now + greatest(p_period, interval '20 seconds')
            ))
            and (a.call_asked_at, a.attempt_id) < (coalesce(p_attempt.call_asked_at, p_now), p_attempt.attempt_id)
            and forebay._still_asks(a.call_wait_until, p_now)
    ) as w;
end;
$function$;

comment on function forebay._calls_ahead is 'The calls that wait for the quota since before the attempt''s own call, and what they need of a limit.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_calls_ahead.sql', 'repeatable', '97ae90e8e4288aa1f30aea1ba992ca562aa4a4fd6c20a2d9566eb26a0445ec34', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_calls_to_come.sql
create or replace function forebay._calls_to_come(
    p_quotas          text[],
    p_now             timestamptz,
    out quotas        text[],
    out input_tokens  numeric,
    out output_tokens numeric
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The calls that will come at once from attempts in flight on the quotas: one that waits, or the first of an attempt.
--
-- A caller that is late to ask again may still come, for a minute: one that has lost its place is not gone yet.
-- Agent by agent, whatever the statistics say (offset 0): what others have in flight is not read.
--
-- Returns  one row a call; an attempt between its calls has none
begin
    return query
    select
        g.quotas, coalesce(a.call_input_tokens, (of_attempt.first_call).input_tokens)::numeric,
        coalesce(a.call_output_tokens, (of_attempt.first_call).output_tokens)::numeric
    from forebay.agents as g
    cross join lateral (
        select o.* from forebay.task_attempts as o where o.agent = g.agent and o.finished_at is null offset 0
    ) as a
    cross join lateral (
        select forebay._first_call(
            (a.expected_calls, a.expected_input_tokens, a.expected_output_tokens, null)::forebay.expected_use
        ) as first_call
    ) as of_attempt
    where g.quotas && p_quotas
        and (a.call_wait_until > p_now - interval '1 minute' or (not a.asks_first and a.used_calls = 0));
end;
$function$;

comment on function forebay._calls_to_come is 'The calls that will come at once from attempts in flight on the quotas: one that waits, or the first of an attempt.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_calls_to_come.sql', 'repeatable', 'dee8469aefa4c9c8056519cb8af5fed0d9d329cfcb3b8fc090a446d1d3d717a6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cancel.sql
create or replace function forebay._cancel(p_task_ids bigint[], p_reason text, p_actor text)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Cancel tasks that wait or run. Their slots are free at once; their tokens stay charged until they are settled.
--
-- Returns  one row a distinct id, by id; effect is cancelled, none (it had ended) or unknown
-- Writes   forebay.tasks, forebay.task_attempts, forebay.audit_log
-- Locks    the tasks, by id, then their attempts, by id
-- Errors   22023  p_task_ids is null
declare
    v_ids       bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_cancelled bigint[];
    v_now       timestamptz;
begin
    perform forebay._lock_tasks(v_ids);
    v_now := forebay._now();

    update forebay.task_attempts as a
    set status = 'cancelled', finished_at = greatest(v_now, a.started_at), is_stop_pending = a.run_ended_at is null
    where a.finished_at is null
        and a.attempt_id in (select t.attempt_id from forebay.tasks as t where t.task_id = any(v_ids));

    with cancelled as (
        update forebay.tasks as t
        set status = 'cancelled', finished_at = greatest(v_now, t.created_at), attempt_id = null, locked_by = null
        where t.task_id = any(v_ids) and t.status in ('enqueued', 'processing')
        returning t.task_id
    )
    select coalesce(array_agg(c.task_id), '{}') into v_cancelled from cancelled as c;
    perform forebay._audit('cancel', v_cancelled, null, p_reason, p_actor);

    return query select * from forebay._effects(v_ids, v_cancelled, 'cancelled');
end;
$function$;

comment on function forebay._cancel is 'Cancel tasks that wait or run. Their slots are free at once; their tokens stay charged until they are settled.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cancel.sql', 'repeatable', 'f153b94eca5ced28d6bd1a30fa51b754bb33587a9b07bacab7dc688527cbd636', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_candidates.sql
create or replace function forebay._candidates(
    p_agents       text[],
    p_launchers    text[],
    out agent      text,
    out priority   integer
)
    returns setof record
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agents that could start a task now, each with the priority of the best that waits: a look without any lock.
--
-- An agent that is full, or has nothing waiting, counts with the tasks whose leases ran out: they can go back in line.
-- Volatile, so that a second look in one statement sees what the first claim did.
--
-- Returns  one row an agent, in no set order
declare
    v_now   timestamptz := forebay._now();
    v_agent forebay.agents;
    v_room  integer;
    v_head  forebay.lined_up;
begin
    for agent in
        select a.agent from forebay.agents as a
        where (p_agents is null or a.agent = any(p_agents))
            and a.launcher = any(coalesce(p_launchers, case when p_agents is null then array['pull'] else array[a.launcher] end))
            and (a.paused_until is null or a.paused_until <= v_now)
    loop
        v_agent := forebay._get_effective(agent, v_now);
        continue when v_agent.paused_until > v_now;
        v_room := forebay._room(v_agent, v_now);
        v_head := (case when v_room > 0 then forebay._pick(v_agent, 1, null, v_now, false) end)[1];
        if v_head.task_id is not null then
            priority := v_head.priority;
        elsif v_room > 0 and forebay._has_waiting(agent, v_now) then
            priority := null;
        else
            priority := forebay._expired_priority(v_agent, v_now);
            if priority is not null and v_room = 0 then
                v_head := (forebay._line(v_agent, 1, null, v_now, false))[1];
                priority := greatest(priority, v_head.priority);
            end if;
        end if;
        if priority is not null then
            return next;
        end if;
    end loop;
end;
$function$;

comment on function forebay._candidates is 'The agents that could start a task now, each with the priority of the best that waits: a look without any lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_candidates.sql', 'repeatable', 'cfb19ad2469bf976b77723205f12fe34a85c9dcc85268b8ef258ad625bca4350', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cap_condition.sql
create or replace function forebay._cap_condition(p_agent text, p_customer text, p_usd numeric, p_now timestamptz)
    returns forebay.condition
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- That the cap p_usd of an agent or a customer (the other is null) is reached today; a lifted cap is another occurrence.
declare
    v_cap numeric := forebay._cap_today(coalesce(p_agent, ''), coalesce(p_customer, ''), p_usd, p_now);
    v_day date := forebay._utc_day(p_now);
begin
    return (
        'spend_cap.reached', coalesce(p_agent, p_customer),
        format('%s %s %s', case when p_agent is null then 'customer' else 'agent' end, v_day, v_cap),
        jsonb_strip_nulls(jsonb_build_object(
            'agent', p_agent, 'customer', p_customer, 'day', v_day, 'cap_usd', v_cap,
            'recorded_usd', (forebay._spent_today(p_agent, p_customer, p_now)).recorded
        )),
        p_now
    )::forebay.condition;
end;
$function$;

comment on function forebay._cap_condition is
'That the cap p_usd of an agent or a customer (the other is null) is reached today; a lifted cap is another occurrence.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cap_condition.sql', 'repeatable', '5ba4cfbf706c1ff99063b4522f8d0eff032e1e1ece3fe832f883e1ef038526b2', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cap_today.sql
create or replace function forebay._cap_today(p_agent text, p_customer text, p_usd numeric, p_now timestamptz)
    returns numeric
    language sql
    stable
    security invoker
as $function$
-- The cap p_usd of an agent or a customer (the other is '') with what operators allowed beyond it today.
select p_usd + coalesce(
    (
        select l.extra_usd from forebay.spend_lifts as l
        where l.day = forebay._utc_day(p_now) and l.agent = p_agent and l.customer = p_customer
    ),
    0
);
$function$;

comment on function forebay._cap_today is 'The cap p_usd of an agent or a customer (the other is '''') with what operators allowed beyond it today.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cap_today.sql', 'repeatable', '9184dbbfca13ccae52c9e208ea4996f443bcd48e9029435f33697251fb207ec5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_capped_customers.sql
create or replace function forebay._capped_customers(p_now timestamptz)
    returns text[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The customers whose cap of today is reached.
--
-- It starts from those that spend, not from those that have a cap: a customer that spends nothing is only here when its cap is 0.
declare
    v_day   date := forebay._utc_day(p_now);
    v_since timestamptz := date_trunc('day', p_now, 'UTC');
begin
    if not forebay._has_customer_caps() then
        return array[]::text[];
    end if;
    return array(
        select c.customer
        from (
            select s.customer, sum(s.usd) as usd
            from (
                select r.customer, r.usd from forebay._recorded_usd(v_day) as r
                union all
                select p.customer, p.usd
                from forebay.agents as g
                cross join lateral (
                    select a.customer, a.usd from forebay._projected_usd(v_since) as a where a.agent = g.agent offset 0
                ) as p
            ) as s
            group by s.customer
        ) as spent
        inner join forebay.customers as c on c.customer = spent.customer
        where spent.usd >= c.max_usd_per_day and spent.usd >= forebay._cap_today('', c.customer, c.max_usd_per_day, p_now)
        union
        select c.customer
        from forebay.customers as c
        where c.max_usd_per_day = 0 and forebay._cap_today('', c.customer, 0, p_now) = 0
    );
end;
$function$;

comment on function forebay._capped_customers is 'The customers whose cap of today is reached.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_capped_customers.sql', 'repeatable', 'fd3cce1942153dee1c3553670054e6206b3ff4d788aa75f3658580767ab6cc71', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_caps.sql
create or replace function forebay._caps(p_agent forebay.agents, p_customers text[], p_now timestamptz)
    returns setof forebay.spend_cap
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The caps of today on the agent and on the customers, with what recorded and projected cost leave of each.
--
-- Returns  one row a cap that holds today, none where operators lifted it without end; has may be below 0
begin
    return query
    select caps.customer, caps.amount, caps.amount - spent.recorded - spent.projected
    from (
        select
            p_agent.agent as agent, null::text as customer,
            forebay._cap_today(p_agent.agent, '', p_agent.max_usd_per_day, p_now) as amount
        union all
        select null, c.customer, forebay._cap_today('', c.customer, c.max_usd_per_day, p_now)
        from forebay.customers as c
        where c.customer = any(p_customers) and c.max_usd_per_day is not null
    ) as caps
    cross join lateral forebay._spent_today(caps.agent, caps.customer, p_now) as spent
    where caps.amount < 'Infinity';
end;
$function$;

comment on function forebay._caps is 'The caps of today on the agent and on the customers, with what recorded and projected cost leave of each.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_caps.sql', 'repeatable', '183b4bebc5b7582af65d28d022c11b4ef74e5a088448de7ff631d651238399f1', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cells.sql
create or replace function forebay._cells(
    p_slots          forebay.time_slots[],
    p_statuses       text[],
    p_agents         text[],
    p_is_by_customer boolean,
    p_customers      text[]
)
    returns setof forebay.task_cell
    language sql
    stable
    security invoker
as $function$
-- The tasks that were created in the slots, counted: from the rollups, what is not in them yet, and tasks where no slot is whole.
--
-- Exact, because one snapshot shows all three. p_customers null is all; without p_is_by_customer cells are of all customers
-- together. Slots of 15 minutes are of all customers only.
select
    r.starts_at, r.agent, r.customer, r.status, r.tasks, r.ended_attempts, r.measured_attempts, r.priced_attempts,
    r.costed_attempts, r.provisional_attempts, r.input_tokens, r.output_tokens, r.cached_tokens, r.llm_usd, r.compute_usd,
    r.buckets, r.counts
from unnest(p_slots) as s
cross join lateral (
    select one.* from forebay.task_rollups as one
    where one.minutes = s.minutes and one.is_by_customer = p_is_by_customer
        and (
            not p_is_by_customer and one.customer = ''
            or p_is_by_customer and (p_customers is null or one.customer = any(p_customers))
        )
        and one.starts_at >= s.from_at and one.starts_at < s.to_at
    offset 0  -- each slot by the index, whatever else is asked for
) as r
where (p_statuses is null or r.status = any(p_statuses))
    and (p_agents is null or r.agent = any(p_agents))
union all
select
    c.starts_at, c.agent, c.customer, c.status, c.tasks, c.ended_attempts, c.measured_attempts, c.priced_attempts,
    c.costed_attempts, c.provisional_attempts, c.input_tokens, c.output_tokens, c.cached_tokens, c.llm_usd, c.compute_usd,
    c.buckets, array_fill(c.tasks, array[cardinality(c.buckets)])
from unnest(p_slots) as s
inner join forebay.task_changes as c on c.starts_at >= s.from_at and c.starts_at < s.to_at
where s.minutes > 0
    and (not p_is_by_customer or p_customers is null or c.customer = any(p_customers))
    and (p_statuses is null or c.status = any(p_statuses))
    and (p_agents is null or c.agent = any(p_agents))
union all
select cell.*
from unnest(p_slots) as s
inner join forebay.tasks as t on t.created_at >= s.from_at and t.created_at < s.to_at
cross join lateral forebay._task_cell(t, 1) as cell
where s.minutes = 0
    and (not p_is_by_customer or p_customers is null or coalesce(t.customer, '') = any(p_customers))
    and (p_statuses is null or t.status = any(p_statuses))
    and (p_agents is null or t.agent = any(p_agents));
$function$;

comment on function forebay._cells is 'The tasks that were created in the slots, counted: from the rollups, what is not in them yet, and tasks where no slot is whole.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cells.sql', 'repeatable', '09147b5d217eaed0acb056777d3a440d60db4f8db58bcecc2bc9f5781f86a839', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_chance.sql
create or replace function forebay._chance()
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Twelve hexadecimal digits of chance.
begin
    return encode(substring(uuid_send(gen_random_uuid()) from 1 for 6), 'hex');
end;
$function$;

comment on function forebay._chance is 'Twelve hexadecimal digits of chance.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_chance.sql', 'repeatable', '8192e92cfc072260abc4b2b23c64477dddad37ded5eceedd8263e8b588bb1a9c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_claim.sql
create or replace function forebay._claim(
    p_worker text,
    p_agent  forebay.agents,
    p_limit  integer,
    p_floor  integer,
    p_waits  boolean
)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Admit up to p_limit of the agent's tasks of priority p_floor and more (null: any); the caller holds the agent's lock.
--
-- The agent and p_limit are as _open_line left them. The time of the claim is read here, after its count, so that no
-- attempt that was not counted ends after it. Customers are locked by what could start before: a task of another one that has
-- a cap has to wait for the next claim.
--
-- Returns  one row an attempt, in the order of the line
-- Locks    the customers that have a cap; tasks and attempts without waiting
-- Errors   55P03  somebody else is admitting for a customer that has a cap, and p_waits is false
declare
    v_now       timestamptz := forebay._now();
    v_customers text[];
    v_line      forebay.lined_up[];
begin
    if p_agent.paused_until > v_now then
        return;
    end if;
    if forebay._has_customer_caps() then
        v_customers := array(
            select l.customer from unnest(forebay._pick(p_agent, p_limit, p_floor, v_now, false)) as l
            where l.customer is not null
            group by l.customer
        );
        perform forebay._lock_customers(v_customers, p_waits);
        v_now := forebay._now();
    end if;
    v_line := forebay._pick(p_agent, p_limit, p_floor, v_now, true);
    if v_customers is not null then
        v_line := array(
            select l from unnest(v_line) as l
            where l.customer is null or l.customer = any(v_customers) or not exists (
                select from forebay.customers as c where c.customer = l.customer and c.max_usd_per_day is not null
            )
        );
    end if;
    if v_line <> '{}' then
        return query select * from forebay._admit(p_worker, p_agent, v_line, v_now);
    end if;
end;
$function$;

comment on function forebay._claim is 'Admit up to p_limit of the agent''s tasks of priority p_floor and more (null: any); the caller holds the agent''s lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_claim.sql', 'repeatable', 'f2ea7679666c0f0e9ec0dbc9eed23ea7cefec748e682164e1749c58bfdbdfa85', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cluster.sql
create or replace function forebay._cluster()
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What tells this database cluster from every other: made by initdb, kept by a physical copy, not by a dump.
begin
    return (select control.system_identifier from pg_control_system() as control);
end;
$function$;

comment on function forebay._cluster is 'What tells this database cluster from every other: made by initdb, kept by a physical copy, not by a dump.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cluster.sql', 'repeatable', 'd4d75bb468ce6263c7c032552073e6d08fd4cd40da05f2ebc7b625559da548a9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_compute_source.sql
create or replace function forebay._compute_source(p_attempt_id bigint)
    returns text
    language sql
    stable
    security invoker
as $function$
-- Whose records say what an attempt's machine cost; null without one. What 'local' estimates gives way to any other source.
--
-- An estimate that ends before the attempt does was made by an end that has moved since, and does not count.
select u.source
from forebay.compute_usage as u
inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
where u.attempt_id = p_attempt_id and (u.source <> 'local' or coalesce(u.ended_at >= a.finished_at, true))
order by u.source = 'local', u.source
limit 1;
$function$;

comment on function forebay._compute_source is 'Whose records say what an attempt''s machine cost; null without one. What ''local'' estimates gives way to any other source.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_compute_source.sql', 'repeatable', '3fcd88e4538fd59b3295a6f9b84a003b5235905f8b3887ba5be4568f8af3d492', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_conditions.sql
create or replace function forebay._conditions(p_oldest_waiting interval, p_now timestamptz)
    returns setof forebay.condition
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What holds at p_now and has to be told once: agents that are paused or whose tasks wait too long, and caps that are reached.
--
-- A cap is reached when recorded and expected cost leave nothing of it, or when the first task that does not fit lacks it.
declare
    v_agent   forebay.agents;
    v_waits   timestamptz;
    v_fit     forebay.fit;
    v_reached text[] := forebay._capped_customers(p_now);
begin
    for v_agent in
        select effective.* from forebay.agents as a
        cross join lateral forebay._get_effective(a.agent, p_now) as effective
        order by a.agent
    loop
        if v_agent.paused_until > p_now then
            return next (
                'agent.paused', v_agent.agent, '',
                jsonb_build_object(
                    'agent', v_agent.agent, 'until', nullif(v_agent.paused_until, 'infinity'), 'reason', v_agent.pause_reason
                ),
                p_now
            )::forebay.condition;
        end if;
        v_waits := forebay._waits_since(v_agent.agent, p_now);
        if v_waits < p_now - p_oldest_waiting then
            return next (
                'waiting.too_long', v_agent.agent, '',
                jsonb_build_object('agent', v_agent.agent, 'waiting_since', v_waits), p_now
            )::forebay.condition;
        end if;
        v_fit := null;
        if forebay._has_caps(v_agent) then
            v_fit := forebay._agent_state(v_agent, p_now);
        end if;
        if v_fit.reason = 'spend_cap' and (v_fit.subject <> v_agent.agent or v_agent.max_usd_per_day is null) then
            v_reached := v_reached || v_fit.subject;
        elsif v_fit.reason = 'spend_cap'
            or exists (select from forebay._caps(v_agent, '{}', p_now) as c where c.customer is null and c.has <= 0) then
            return next forebay._cap_condition(v_agent.agent, null, v_agent.max_usd_per_day, p_now);
        end if;
    end loop;
    return query
    select reached.*
    from forebay.customers as c
    cross join lateral forebay._cap_condition(null, c.customer, c.max_usd_per_day, p_now) as reached
    where c.customer = any(v_reached);
end;
$function$;

comment on function forebay._conditions is
'What holds at p_now and has to be told once: agents that are paused or whose tasks wait too long, and caps that are reached.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_conditions.sql', 'repeatable', 'cc7659b9e855b05329e205ae07e418d8dc1385f12c80cf20fe7f961a929689af', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_configured_words.sql
create or replace function forebay._configured_words(p_fit forebay.fit)
    returns text
    language sql
    stable
    security invoker
as $function$
-- What a limit is configured to, for a sentence about one that is lower now, by its headroom or after refusals; else nothing.
select format(' (configured: %s)', coalesce(forebay._number_words(configured.amount), 'none'))
from (
    select case p_fit.reason
        when 'full' then a.max_concurrent_tasks
        when 'out_of_requests' then a.max_rpm
        when 'out_of_tokens' then a.max_tpm
    end as amount
    from forebay.agents as a
    where a.agent = p_fit.subject and p_fit.reason <> 'quota'
    union all
    select l.amount
    from forebay.quota_limits as l
    where l.quota = p_fit.subject and l.unit = p_fit.unit and l.period = p_fit.period and p_fit.reason = 'quota'
) as configured
where configured.amount is distinct from p_fit.amount;
$function$;

comment on function forebay._configured_words is
'What a limit is configured to, for a sentence about one that is lower now, by its headroom or after refusals; else nothing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_configured_words.sql', 'repeatable', 'e5fd0f288135c374205e5da5e17cb2a9dc86ababaede116af1390bcb48e0c6ac', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cost_in_rollups.sql
create or replace function forebay._cost_in_rollups(
    p_dimension text,
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.cost_line
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
as $function$
-- What tasks cost by agent, customer or day, in no set order.
declare
    v_is_by_customer boolean := p_dimension = 'customer' or p_customers is not null;
    v_minutes        integer[] := array[40320, 1440, 60, 15];
begin
    if p_dimension = 'day' then
        v_minutes := array_remove(v_minutes, 40320);
    end if;
    if v_is_by_customer then
        v_minutes := array_remove(v_minutes, 15);
    end if;
    return query
    select
        line.key, line.tasks, line.ended, line.measured, line.priced, line.costed, line.provisional,
        line.input_tokens, line.output_tokens, line.cached_tokens, line.llm_usd, line.compute_usd
    from (
        select
            case p_dimension
                when 'agent' then c.agent
                when 'customer' then nullif(c.customer, '')
                else forebay._utc_day(c.starts_at)::text
            end as key,
            sum(c.tasks)::bigint as tasks, sum(c.ended_attempts)::bigint as ended,
            sum(c.measured_attempts)::bigint as measured, sum(c.priced_attempts)::bigint as priced,
            sum(c.costed_attempts)::bigint as costed,
            sum(c.provisional_attempts)::bigint as provisional, sum(c.input_tokens)::bigint as input_tokens,
            sum(c.output_tokens)::bigint as output_tokens, sum(c.cached_tokens)::bigint as cached_tokens,
            sum(c.llm_usd) as llm_usd, sum(c.compute_usd) as compute_usd
        from forebay._cells(
            forebay._slots(p_from, p_to, v_minutes), p_statuses, p_agents, v_is_by_customer, p_customers
        ) as c
        group by 1
    ) as line
    where line.tasks > 0;
end;
$function$;

comment on function forebay._cost_in_rollups is 'What tasks cost by agent, customer or day, in no set order.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cost_in_rollups.sql', 'repeatable', 'b2355550e6f2b23b5a11e2a7c80bc37f2b49ee7de06085788c89d9fe2a2193a5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cost_of_models.sql
create or replace function forebay._cost_of_models(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.cost_line
    language sql
    stable
    security invoker
as $function$
-- What the calls of each model cost, in no set order: of each attempt those of the source that counts.
select
    c.model, count(distinct c.task_id), count(*) filter (where c.is_ended),
    count(*) filter (where c.is_ended and c.is_usage_known), count(*) filter (where c.is_ended and c.is_cost_known),
    count(*) filter (where c.is_ended and c.is_costed), count(*) filter (where c.is_ended and c.is_provisional),
    sum(c.input_tokens)::bigint, sum(c.output_tokens)::bigint, sum(c.cached_tokens)::bigint, sum(c.usd), null::numeric
from (
    select
        u.model, a.attempt_id, a.task_id, a.finished_at is not null as is_ended, a.is_usage_known, a.is_cost_known,
        a.compute_usd is not null as is_costed, a.compute_usd is not null and not a.is_compute_final as is_provisional,
        coalesce(sum(u.input_tokens), 0) as input_tokens, coalesce(sum(u.output_tokens), 0) as output_tokens,
        coalesce(sum(u.cached_tokens), 0) as cached_tokens, coalesce(sum(u.usd), 0) as usd
    from forebay._counted_calls(p_from, p_to, p_statuses, p_agents, p_customers) as u
    inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
    group by u.model, a.attempt_id
) as c
group by c.model;
$function$;

comment on function forebay._cost_of_models is 'What the calls of each model cost, in no set order: of each attempt those of the source that counts.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cost_of_models.sql', 'repeatable', '12078199246cd0397b4e15f177c7e3fd777871876ed9ed73c2784c4c5e461416', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cost_of_tasks.sql
create or replace function forebay._cost_of_tasks(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns forebay.cost_summary
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The part of a cost_summary that the rows of the tasks tell: sums, and what a task costs.
declare
    v_summary forebay.cost_summary;
begin
    with costs as (
        select
            t.*,
            case when tells.is_over and t.priced_attempts = t.ended_attempts then t.cost_usd end as llm_of_one,
            case when tells.is_over and t.costed_attempts = t.ended_attempts then t.compute_usd end as compute_of_one
        from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
        cross join lateral (
            select t.status in ('completed', 'failed', 'cancelled') and t.ended_attempts > 0 as is_over
        ) as tells
    )
    select
        count(*), coalesce(sum(c.ended_attempts), 0), coalesce(sum(c.measured_attempts), 0),
        coalesce(sum(c.priced_attempts), 0), coalesce(sum(c.costed_attempts), 0), coalesce(sum(c.provisional_attempts), 0),
        coalesce(sum(c.used_input_tokens), 0)::bigint, coalesce(sum(c.used_output_tokens), 0)::bigint,
        coalesce(sum(c.used_cached_tokens), 0)::bigint, coalesce(sum(c.cost_usd), 0), coalesce(sum(c.compute_usd), 0),
        count(c.llm_of_one), percentile_disc(0.5) within group (order by c.llm_of_one),
        percentile_disc(0.95) within group (order by c.llm_of_one),
        count(c.compute_of_one), percentile_disc(0.5) within group (order by c.compute_of_one),
        percentile_disc(0.95) within group (order by c.compute_of_one),
        count(c.llm_of_one + c.compute_of_one),
        percentile_disc(0.5) within group (order by c.llm_of_one + c.compute_of_one),
        percentile_disc(0.95) within group (order by c.llm_of_one + c.compute_of_one)
    into
        v_summary.tasks, v_summary.ended_attempts, v_summary.measured_attempts,
        v_summary.priced_attempts, v_summary.costed_attempts, v_summary.provisional_attempts,
        v_summary.input_tokens, v_summary.output_tokens, v_summary.cached_tokens, v_summary.llm_usd, v_summary.compute_usd,
        v_summary.llm_tasks, v_summary.llm_median, v_summary.llm_p95,
        v_summary.compute_tasks, v_summary.compute_median, v_summary.compute_p95,
        v_summary.whole_tasks, v_summary.whole_median, v_summary.whole_p95
    from costs as c;
    return v_summary;
end;
$function$;

comment on function forebay._cost_of_tasks is 'The part of a cost_summary that the rows of the tasks tell: sums, and what a task costs.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cost_of_tasks.sql', 'repeatable', 'cbf8a0aac0691f2bbc67670d03dad334cf266fdb866882164ed01ec0d971a8fe', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_cost_of_tries.sql
create or replace function forebay._cost_of_tries(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.cost_line
    language sql
    stable
    security invoker
as $function$
-- What first tries cost, and what retries cost, by how the attempt before them ended; in no set order.
select
    tries.key, count(distinct a.task_id), count(a.finished_at),
    count(a.finished_at) filter (where a.is_usage_known or (a.status = 'released' and a.used_calls = 0)),
    count(a.finished_at) filter (where a.is_cost_known or (a.status = 'released' and a.used_calls = 0)),
    count(a.finished_at) filter (where a.compute_usd is not null),
    count(a.finished_at) filter (where a.compute_usd is not null and not a.is_compute_final),
    coalesce(sum(a.used_input_tokens), 0)::bigint, coalesce(sum(a.used_output_tokens), 0)::bigint,
    coalesce(sum(a.used_cached_tokens), 0)::bigint, coalesce(sum(a.cost_usd), 0), coalesce(sum(a.compute_usd), 0)
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
inner join forebay.task_attempts as a on a.task_id = t.task_id
left join forebay.task_attempts as before on before.task_id = a.task_id and before.attempt_no = a.attempt_no - 1
cross join lateral (
    select case when a.attempt_no = 1 then 'first' else 'after_' || coalesce(before.status, 'unknown') end as key
) as tries
group by tries.key;
$function$;

comment on function forebay._cost_of_tries is 'What first tries cost, and what retries cost, by how the attempt before them ended; in no set order.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_cost_of_tries.sql', 'repeatable', '4946a47531658f7ab5f092d4b18afe61252aa95d60f4c4df11f4d1e45d5ed9aa', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_count_ahead.sql
create or replace function forebay._count_ahead(
    p_task    forebay.tasks,
    p_now     timestamptz,
    p_at_most integer default 10000
)
    returns bigint
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's tasks stand in line before this one, those due by p_now included; counted up to p_at_most of a
-- priority.
--
-- Where customers are served in turns it is the place among the first hundred; null behind them.
declare
    v_agent   forebay.agents := forebay._get_agent(p_task.agent);
    v_own     integer := forebay._effective_priority(v_agent, p_task, p_now);
    v_seconds numeric;
    v_before  timestamptz;
    v_below   bigint;
    v_class   integer;
    v_ahead   bigint := 0::bigint;
begin
    if v_agent.is_fair_by_customer then
        return array_position(
            array(select l.task_id from unnest(forebay._line(v_agent, 100, null, p_now, false)) as l), p_task.task_id
        )::bigint - 1;
    end if;
    for v_class in select p.priority from forebay._waiting_priorities(p_task.agent) as p (priority) loop
        exit when v_class < v_own and v_agent.aging is null;
        v_seconds := (v_own - v_class) * coalesce(extract(epoch from v_agent.aging), 0);
        v_before := case
            when v_class > v_own then 'infinity'
            when v_agent.aging is null then p_task.created_at
            when v_seconds > 3000000000 then '-infinity'
            else p_now - make_interval(secs => v_seconds::double precision)
        end;
        v_below := case when v_class = v_own and v_agent.aging is null then p_task.task_id else 9223372036854775807 end;
        v_ahead := v_ahead + (
            select count(*) from (
                select 1 from forebay.tasks as t
                where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready and t.priority = v_class
                    and (t.created_at, t.task_id) < (v_before, v_below)
                    and (v_agent.aging is null or forebay._stands_before(v_agent, t, p_task, p_now))
                limit p_at_most
            ) as earlier
        );
    end loop;
    return v_ahead + (
        select count(*) from (
            select 1 from forebay.tasks as t
            where t.agent = p_task.agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
                and forebay._stands_before(v_agent, t, p_task, p_now)
            limit p_at_most
        ) as due
    );
end;
$function$;

comment on function forebay._count_ahead is 'How many of the agent''s tasks stand in line before this one, those due by p_now included; counted up to p_at_most of a priority.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_count_ahead.sql', 'repeatable', 'a307b9195dd8398801bc3563325af88dba2eb4f0bd149247d660c5590bec9df0', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_count_expired.sql
create or replace function forebay._count_expired(p_agent text, p_now timestamptz)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's attempts have lost their right to their task, and are still open: a dequeue ends them.
declare
    v_limits forebay.installation := forebay._limits();
begin
    return (
        select count(*) from forebay.task_attempts as a
        where a.agent = p_agent and a.finished_at is null
            and forebay._is_expired(a, p_now, v_limits.adoption_grace, v_limits.report_grace)
    );
end;
$function$;

comment on function forebay._count_expired is
'How many of the agent''s attempts have lost their right to their task, and are still open: a dequeue ends them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_count_expired.sql', 'repeatable', 'bff71b506a567bb93b164c44c02e3a5b3e625a94da7f14ad6797ec714fad41d4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_count_turns.sql
create or replace function forebay._count_turns(p_task forebay.tasks)
    returns bigint
    language sql
    stable
    security invoker
as $function$
-- About how many tasks start before this one where customers are served in turns: those of its customer before it, and as
-- many of each other one.
--
-- It looks at the first 10,000 tasks in line.
select coalesce(own.place + sum(least(others.tasks, own.place + 1)), own.place)
from (
    select count(*) as place
    from (
        select 1 from forebay.tasks as t
        where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready
            and t.customer is not distinct from p_task.customer
            and (-t.priority, t.created_at, t.task_id) < (-p_task.priority, p_task.created_at, p_task.task_id)
        limit 10000
    ) as before
) as own
left join (
    select line.customer, count(*) as tasks
    from (
        select t.customer from forebay.tasks as t
        where t.agent = p_task.agent and t.status = 'enqueued' and t.is_ready
            and t.customer is distinct from p_task.customer
        order by t.priority desc, t.created_at, t.task_id
        limit 10000
    ) as line
    group by line.customer
) as others on true
group by own.place;
$function$;

comment on function forebay._count_turns is
'About how many tasks start before this one where customers are served in turns: those of its customer before it, and as many of each other one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_count_turns.sql', 'repeatable', '66287c83ab06d3e35595bb6545c8cf932a41f4793a96a1289835dafb1f1d0b8f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_counted_calls.sql
create or replace function forebay._counted_calls(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.attempt_usage
    language sql
    stable
    security invoker
as $function$
-- The calls of the tasks that the filters let through: of each attempt those of the source that counts.
select u.*
from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
inner join forebay.task_attempts as a on a.task_id = t.task_id
cross join lateral forebay._usage_sources(a.attempt_id) as counting (source)
inner join forebay.attempt_usage as u on u.attempt_id = a.attempt_id and u.source = counting.source;
$function$;

comment on function forebay._counted_calls is 'The calls of the tasks that the filters let through: of each attempt those of the source that counts.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_counted_calls.sql', 'repeatable', '6eb4d0fa0b8c5ab02c332ca36467f1e62906ddffa98a2d7098b370e92866c906', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_customer_priorities.sql
create or replace function forebay._customer_priorities(p_agent text, out customer text, out priority integer)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Which customers have tasks in the line of an agent that serves them in turns, and of which priorities; null for no customer.
--
-- The index is entered anew for each: how many tasks they have costs nothing.
begin
    return query
    with recursive found as (
        (
            select t.customer, t.priority::integer as priority from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
            order by t.customer, t.priority desc
            limit 1
        )
        union all
        select n.customer, n.priority::integer
        from found as f
        cross join lateral (
            (
                select t.customer, t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer = f.customer and t.priority < f.priority
                order by t.priority desc
                limit 1
            )
            union all
            (
                select t.customer, t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer > f.customer
                order by t.customer, t.priority desc
                limit 1
            )
            union all
            (
                select t.customer, t.priority from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                    and t.customer is null and t.priority < case when f.customer is null then f.priority else 32768 end
                order by t.priority desc
                limit 1
            )
            limit 1
        ) as n
    )
    select f.customer, f.priority from found as f;
end;
$function$;

comment on function forebay._customer_priorities is 'Which customers have tasks in the line of an agent that serves them in turns, and of which priorities; null for no customer.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_customer_priorities.sql', 'repeatable', '503f75f783691bd38329f7ab4a941bc70741b847a59500029965677c45fc5a69', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_customers_with_tasks.sql
create or replace function forebay._customers_with_tasks()
    returns setof text
    language sql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
as $function$
-- The customers that any task has: from one name to the next in the index, whatever number of tasks lies between them.
with recursive names (customer) as (
    (
        select t.customer from forebay.tasks as t
        where t.customer is not null
        order by t.customer
        limit 1
    )
    union all
    select (
        select t.customer from forebay.tasks as t
        where t.customer > n.customer
        order by t.customer
        limit 1
    )
    from names as n
    where n.customer is not null
)

select n.customer from names as n
where n.customer is not null;
$function$;

comment on function forebay._customers_with_tasks is
'The customers that any task has: from one name to the next in the index, whatever number of tasks lies between them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_customers_with_tasks.sql', 'repeatable', 'c3fb4b81fd8038474fd2ead7edf704a03727ff965b0d45de0e05912f68d2ad28', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_dearest_usd_per_m.sql
create or replace function forebay._dearest_usd_per_m(p_now timestamptz)
    returns numeric
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The dearest token of all prices that hold at p_now, by the million; 0 when there is none.
begin
    return (
        select coalesce(max(greatest(p.usd_per_m_input, p.usd_per_m_output, p.usd_per_m_cached)), 0)
        from forebay.prices as p
        where p.valid_from <= p_now and p.valid_until > p_now and not exists (
            select from forebay.prices as later
            where later.model = p.model and later.valid_from > p.valid_from
                and later.valid_from <= p_now and later.valid_until > p_now
        )
    );
end;
$function$;

comment on function forebay._dearest_usd_per_m is 'The dearest token of all prices that hold at p_now, by the million; 0 when there is none.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_dearest_usd_per_m.sql', 'repeatable', 'dbd1c312ef7ebc87da9d559d899aaab7bbd1ecccb2d034778c1a24eac41e4e73', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_defer.sql
create or replace function forebay._defer(p_task forebay.tasks, p_agent forebay.agents, p_error jsonb, p_wait interval)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Put a processing task whose attempt was refused back in line without spending the attempt.
--
-- p_wait null means the agent's backoff, by how often the task was deferred.
--
-- Returns  the task's status after it
-- Writes   forebay.tasks
declare
    v_now   timestamptz := forebay._now();
    v_delay interval := coalesce(
        forebay._exact(p_wait), forebay._backoff(p_agent.backoff_base, p_agent.backoff_max, p_task.deferral_count + 1)
    );
begin
    update forebay.tasks as t
    set status = 'enqueued', attempt_id = null, locked_by = null, error = p_error,
        attempt_count = t.attempt_count - 1,
        deferral_count = t.deferral_count + 1,
        deferred_since = coalesce(t.deferred_since, v_now),
        available_at = v_now + v_delay,
        is_ready = v_delay = interval '0'
    where t.task_id = p_task.task_id;
    return 'enqueued';
end;
$function$;

comment on function forebay._defer is 'Put a processing task whose attempt was refused back in line without spending the attempt.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_defer.sql', 'repeatable', '44c951962cf82bdda7f255aa058b0376435bf81fed48d4533dc9affc0b536f22', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_disown_attempts.sql
create or replace function forebay._disown_attempts()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- End in a copy the attempts that go on in the original, and put their tasks back in line with nothing spent; no run is to be stopped.
--
-- Writes  forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks   the tasks, by id, then their attempts, by id
declare
    v_tasks    bigint[] := array(select t.task_id from forebay.tasks as t where t.status = 'processing' order by t.task_id);
    v_attempts bigint[];
    v_now      timestamptz;
begin
    perform forebay._lock_tasks(v_tasks);
    v_now := forebay._now();
    with ended as (
        update forebay.task_attempts as a
        set status = 'lost', finished_at = greatest(v_now, a.started_at), expected_usd = 0,
            error = jsonb_build_object('kind', 'infrastructure', 'message', 'it goes on in what this is a branch of')
        where a.finished_at is null
        returning a.attempt_id
    )
    select coalesce(array_agg(e.attempt_id), '{}') into v_attempts from ended as e;
    update forebay.tasks as t
    set status = 'enqueued', attempt_id = null, locked_by = null, attempt_count = greatest(t.attempt_count - 1, 0),
        is_ready = true, available_at = v_now
    where t.task_id = any(v_tasks) and t.status = 'processing';
    update forebay.task_attempts as a set is_stop_pending = false where a.is_stop_pending;
    perform forebay._settle(ended.attempt_id, true) from unnest(v_attempts) as ended (attempt_id);
end;
$function$;

comment on function forebay._disown_attempts is
'End in a copy the attempts that go on in the original, and put their tasks back in line with nothing spent; no run is to be stopped.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_disown_attempts.sql', 'repeatable', '58ddbc4bb1779baec5b863597af4df8b528b04a80f2a5714fd478504adc68264', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_drop_rollups.sql
create or replace function forebay._drop_rollups(p_attempt_id bigint, p_call_ids text[])
    returns boolean
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Drop calls of traces that turned out to be sums of others, and say whether there were any; the caller holds the attempt.
--
-- That is so when a span was read before those below it were stored. What was counted as spent for it is taken back first.
--
-- Writes  forebay.attempt_usage, forebay.spend_entries, forebay.task_attempts
begin
    update forebay.attempt_usage as u
    set usd = null, cost_usd = null, list_usd = null
    where u.attempt_id = p_attempt_id and u.source = 'trace' and u.call_id = any(p_call_ids);
    if not found then
        return false;
    end if;
    perform forebay._spend(p_attempt_id);
    delete from forebay.attempt_usage as u
    where u.attempt_id = p_attempt_id and u.source = 'trace' and u.call_id = any(p_call_ids);
    perform forebay._spend(p_attempt_id);
    perform forebay._measure(p_attempt_id);
    return true;
end;
$function$;

comment on function forebay._drop_rollups is
'Drop calls of traces that turned out to be sums of others, and say whether there were any; the caller holds the attempt.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_drop_rollups.sql', 'repeatable', '3763ec81b5ed5483a9b3b80b35036c1edf40013676dc8b94bf2ee56622431d89', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_effective_priority.sql
create or replace function forebay._effective_priority(p_agent forebay.agents, p_task forebay.tasks, p_now timestamptz)
    returns integer
    language sql
    immutable
    security invoker
as $function$
-- The task's priority, and one more for each aging interval of its agent that has passed since it was created.
select p_task.priority + case when p_agent.aging is null then 0 else least(
    div(greatest(0, extract(epoch from p_now - p_task.created_at)), extract(epoch from p_agent.aging)), 1000000000
)::integer end;
$function$;

comment on function forebay._effective_priority is 'The task''s priority, and one more for each aging interval of its agent that has passed since it was created.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_effective_priority.sql', 'repeatable', 'beabadd7ff286a78fbbca6bd88c71afce5257019bd9e8799ff6e02d2337d959f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_effects.sql
create or replace function forebay._effects(p_task_ids bigint[], p_changed bigint[], p_effect text)
    returns setof forebay.task_effect
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Report an act on tasks: p_effect for those in p_changed, none for the others, unknown for ids that no task has.
begin
    return query
    select
        ids.task_id,
        t.status,
        case when t.task_id is null then 'unknown' when changed.task_id is not null then p_effect else 'none' end
    from unnest(p_task_ids) as ids (task_id)
    left join forebay.tasks as t on t.task_id = ids.task_id
    left join unnest(p_changed) as changed (task_id) on changed.task_id = ids.task_id
    order by ids.task_id;
end;
$function$;

comment on function forebay._effects is 'Report an act on tasks: p_effect for those in p_changed, none for the others, unknown for ids that no task has.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_effects.sql', 'repeatable', '44bdbb6316fa21f102773ec2e9e28e5c092149d797b0100fe87bb4a5d6ce5348', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_end_expired.sql
create or replace function forebay._end_expired(p_agent text, p_limit integer)
    returns forebay.sweep_result
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- End the attempts that have lost their right to their task, and put the tasks back in line, or fail them.
--
-- A lost lease goes back at once; a passed deadline waits as any failure does. An attempt was counted when it was claimed,
-- so a task that kills its worker runs out of attempts. p_agent null means every agent.
--
-- Writes  forebay.tasks, forebay.task_attempts
-- Locks   the tasks, by id, then their attempts, skipping what somebody else holds
declare
    v_limits   forebay.installation := forebay._limits();
    v_now      timestamptz := forebay._now();
    v_tasks    bigint[];
    v_attempts bigint[];
    v_swept    forebay.sweep_result := (0, 0, 0)::forebay.sweep_result;
begin
    select array_agg(a.task_id) into v_tasks
    from forebay.task_attempts as a
    where a.finished_at is null and (p_agent is null or a.agent = p_agent)
        and forebay._is_expired(a, v_now, v_limits.adoption_grace, v_limits.report_grace);
    if v_tasks is null then
        return v_swept;
    end if;

    select array_agg(locked.task_id) into v_tasks from (
        select t.task_id
        from forebay.tasks as t
        where t.task_id = any(v_tasks) and t.status = 'processing'
        order by t.task_id
        limit p_limit
        for no key update skip locked
    ) as locked;
    select array_agg(locked.attempt_id) into v_attempts from (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.attempt_id in (select t.attempt_id from forebay.tasks as t where t.task_id = any(v_tasks))
            and a.finished_at is null and forebay._is_expired(a, v_now, v_limits.adoption_grace, v_limits.report_grace)
        order by a.attempt_id
        for no key update skip locked
    ) as locked;

    with ended as (
        update forebay.task_attempts as a
        set status = case when a.deadline_at <= v_now then 'failed' else 'lost' end,
            error = forebay._expiry_error(a, v_now), finished_at = greatest(v_now, a.started_at),
            is_stop_pending = a.run_ended_at is null
        where a.attempt_id = any(v_attempts)
        returning a.*
    ), verdicts as (
        select
            e.task_id, e.error, e.status = 'lost' as is_lost,
            forebay._may_retry(g, t.attempt_count, t.max_attempts) and (e.status = 'failed' or g.on_lost_lease = 'retry')
                as may_retry,
            forebay._backoff(g.backoff_base, g.backoff_max, t.attempt_count) as backoff
        from ended as e
        inner join forebay.agents as g on g.agent = e.agent
        inner join forebay.tasks as t on t.task_id = e.task_id
    ), moved as (
        update forebay.tasks as t
        set status = case when v.may_retry then 'enqueued' else 'failed' end,
            error = v.error,
            attempt_id = null, locked_by = null,
            finished_at = case when not v.may_retry then greatest(v_now, t.created_at) end,
            is_ready = v.is_lost,
            available_at = case when not v.may_retry then t.available_at when v.is_lost then v_now else v_now + v.backoff end
        from verdicts as v
        where t.task_id = v.task_id
        returning t.status
    )
    select (count(*) filter (where m.status = 'enqueued'))::integer, (count(*) filter (where m.status = 'failed'))::integer, 0
    into v_swept
    from moved as m;
    return v_swept;
end;
$function$;

comment on function forebay._end_expired is 'End the attempts that have lost their right to their task, and put the tasks back in line, or fail them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_end_expired.sql', 'repeatable', 'a072c760eca2ca7ef2facc2463f81fb0844e9f05b28c5e9bbcdb2ca5a3052791', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_end_observed.sql
create or replace function forebay._end_observed(
    p_attempt forebay.task_attempts,
    p_task    forebay.tasks,
    p_agent   forebay.agents,
    p_outcome forebay.run_outcomes,
    p_now     timestamptz
)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- End an open attempt whose run was seen in a state that does not renew, or whose deadline has passed; the caller holds it.
--
-- What never started waits longer each time, as a failure does: a quota of the workspace is waited for.
--
-- Returns  what was done: retry, requeue, pause_agent, or fail when the task failed by it
-- Writes   forebay.task_attempts, forebay.tasks, forebay.agent_settlements
declare
    v_is_late    boolean := p_attempt.deadline_at <= p_now;
    v_is_unspent boolean := not v_is_late and p_outcome.outcome in ('requeue', 'pause_agent');
    v_is_release boolean := v_is_unspent and p_task.release_count < p_agent.max_releases;
    v_error      jsonb := case
        when v_is_late then forebay._expiry_error(p_attempt, p_now)
        else jsonb_build_object(
            'kind', 'infrastructure', 'message', forebay._run_words(p_attempt.run_state), 'run_id', p_attempt.run_id
        )
    end;
    v_status     text;
begin
    update forebay.task_attempts as a
    set status = case
            when v_is_unspent then 'released'
            when v_is_late or p_outcome.outcome = 'fail' then 'failed'
            else 'lost'
        end,
        error = v_error, finished_at = greatest(p_now, a.started_at), is_stop_pending = not p_outcome.is_ended,
        expected_usd = case when v_is_unspent then 0 else a.expected_usd end
    where a.attempt_id = p_attempt.attempt_id;
    if v_is_unspent then
        perform forebay._settle(p_attempt.attempt_id, true);
    end if;
    v_status := forebay._give_back(
        p_task, p_agent, v_error,
        v_is_late or p_outcome.outcome <> 'fail' and (v_is_unspent or p_agent.on_lost_lease = 'retry'),
        case when v_is_release then forebay._backoff(p_agent.backoff_base, p_agent.backoff_max, p_task.release_count + 1) end,
        v_is_release
    );
    return case when v_status = 'failed' then 'fail' when v_is_late then 'retry' else p_outcome.outcome end;
end;
$function$;

comment on function forebay._end_observed is 'End an open attempt whose run was seen in a state that does not renew, or whose deadline has passed; the caller holds it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_end_observed.sql', 'repeatable', '1ce4fc7658c79e903c85daac05e645f877c915c99b7f7b6f4dd5d4461ce5e38c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_end_refusals.sql
create or replace function forebay._end_refusals(p_agents text[], p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- End the pauses that a provider asked these agents for, also those of their quotas; the lowered share stays and grows.
--
-- Writes  forebay.refusals
-- Locks   the refusals, by id
begin
    update forebay.refusals as r
    set paused_until = p_now
    where r.refusal_id in (
        select p.refusal_id
        from forebay.refusals as p
        where p.paused_until > p_now
            and case
                when p.quota is null then p.agent = any(p_agents)
                else exists (select from forebay.agents as a where a.agent = any(p_agents) and p.quota = any(a.quotas))
            end
        order by p.refusal_id
        for no key update
    );
end;
$function$;

comment on function forebay._end_refusals is 'End the pauses that a provider asked these agents for, also those of their quotas; the lowered share stays and grows.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_end_refusals.sql', 'repeatable', 'f81ab770ce886fca9159faaf19dc6cf3d13c6b349d78125b5a6bb9ba24dccf67', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_error.sql
create or replace function forebay._error(p_error jsonb)
    returns jsonb
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The error as it is stored: with a kind that error_policies knows; one that it does not moves to reported_kind.
--
-- Errors  22023  p_error is no object, or kind or message is no string
declare
    v_kind text;
begin
    if p_error is null or jsonb_typeof(p_error) <> 'object' then
        raise exception 'the error must be a JSON object with kind and message' using errcode = '22023';
    end if;
    v_kind := forebay._json_text(p_error, 'kind');
    perform forebay._json_text(p_error, 'message');
    if exists (select from forebay.error_policies as p where p.kind = v_kind) then
        return p_error;
    end if;
    return p_error || '{"kind": "agent_bug"}'
        || case when v_kind is null then '{}'::jsonb else jsonb_build_object('reported_kind', v_kind) end;
end;
$function$;

comment on function forebay._error is 'The error as it is stored: with a kind that error_policies knows; one that it does not moves to reported_kind.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_error.sql', 'repeatable', 'cd3f0ca2189329a7305b07e3b940ff94a8a039eca204042e39be2446bc265b56', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_estimate.sql
create or replace function forebay._estimate(p_agent forebay.agents, p_task forebay.tasks)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- What a task counts as before anything is learned: its estimate, or the agent's default.
select coalesce(p_task.estimated_tokens, p_agent.default_estimated_tokens);
$function$;

comment on function forebay._estimate is 'What a task counts as before anything is learned: its estimate, or the agent''s default.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_estimate.sql', 'repeatable', '302035370bcaa6da8bc002590a15eadbc0b9c44eddf3e7b3a276cbeb2a65d47d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_exact.sql
create or replace function forebay._exact(p_duration interval)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- The duration in seconds alone: a day added to a time would be 23 or 25 hours where the session's zone changes its clocks.
select make_interval(secs => extract(epoch from p_duration)::double precision);
$function$;

comment on function forebay._exact is 'The duration in seconds alone: a day added to a time would be 23 or 25 hours where the session''s zone changes its clocks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_exact.sql', 'repeatable', '455671cb8f315cfb1c726aec478afb7bfcc0afb89864fe18ac50baabd064ed63', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_exact_times.sql
create or replace function forebay._exact_times(
    p_report    forebay.metrics_report,
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns forebay.metrics_report
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The report with the exact medians and 95th percentiles, of the tasks themselves.
--
-- Each is that of a task: of an even count the lower of the two in the middle, as _histogram_marks has it.
begin
    select
        v.response[1], v.response[2], v.queue[1], v.queue[2], v.run[1], v.run[2], v.confidence
    into
        p_report.response_median, p_report.response_p95, p_report.queue_median, p_report.queue_p95,
        p_report.run_median, p_report.run_p95, p_report.confidence_median
    from (
        select
            percentile_disc(array[0.5, 0.95]) within group (order by t.finished_at - t.created_at) as response,
            percentile_disc(array[0.5, 0.95]) within group (
                order by greatest(t.finished_at - t.created_at - t.run_time, interval '0')
            ) as queue,
            percentile_disc(array[0.5, 0.95]) within group (
                order by least(t.run_time, t.finished_at - t.created_at)
            ) as run,
            percentile_disc(0.5) within group (order by t.confidence) as confidence
        from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
        where t.status = 'completed'
    ) as v;
    return p_report;
end;
$function$;

comment on function forebay._exact_times is 'The report with the exact medians and 95th percentiles, of the tasks themselves.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_exact_times.sql', 'repeatable', '12f56bd16bac01eb48dcc26ddf58c333ed573926e095f9162b92301a961f8629', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_expect.sql
create or replace function forebay._expect(p_agent forebay.agents, p_learned forebay.learned, p_estimated_tokens bigint)
    returns forebay.expected_use
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What an attempt at a task of that estimate is expected to use.
--
-- Without an estimate (null) that is the agent's typical use, and before it has one its default_estimated_tokens.
declare
    v_estimate bigint := coalesce(p_estimated_tokens, p_agent.default_estimated_tokens);
    v_input    bigint := (v_estimate * p_learned.input_permille + 999) / 1000;
    v_tokens   bigint := (v_estimate * (p_learned.input_permille + p_learned.output_permille) + 999) / 1000;
begin
    if p_estimated_tokens is null and p_learned.typical_input is not null then
        v_input := p_learned.typical_input;
        v_tokens := p_learned.typical_input + p_learned.typical_output;
    end if;
    return (
        greatest(1, p_learned.calls), v_input, v_tokens - v_input,
        v_tokens * coalesce(p_learned.usd_per_m_tokens, 0) * 0.000001
    )::forebay.expected_use;
end;
$function$;

comment on function forebay._expect is 'What an attempt at a task of that estimate is expected to use.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_expect.sql', 'repeatable', '4d924a040c4b3572bf2cbece00a836b5be6fc71b932a522ced8f840da19f6100', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_expired_priority.sql
create or replace function forebay._expired_priority(p_agent forebay.agents, p_now timestamptz)
    returns integer
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The best priority of the tasks that could be taken from the agent's workers now; null when there is none.
declare
    v_limits forebay.installation := forebay._limits();
begin
    return (
        select max((select forebay._effective_priority(p_agent, t, p_now) from forebay.tasks as t where t.task_id = a.task_id))
        from forebay.task_attempts as a
        where a.agent = p_agent.agent and a.finished_at is null
            and forebay._is_expired(a, p_now, v_limits.adoption_grace, v_limits.report_grace)
    );
end;
$function$;

comment on function forebay._expired_priority is 'The best priority of the tasks that could be taken from the agent''s workers now; null when there is none.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_expired_priority.sql', 'repeatable', '4b6026c2865e459884fe36658638d476a88409117d8e0bd245e79fc76545150e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_expiry_error.sql
create or replace function forebay._expiry_error(p_attempt forebay.task_attempts, p_now timestamptz)
    returns jsonb
    language sql
    stable
    security invoker
as $function$
-- Say in words why an attempt lost its right to the task.
select case
    when p_attempt.deadline_at <= p_now then jsonb_build_object(
        'kind', 'timeout',
        'message', format('the attempt ran longer than %s', p_attempt.deadline_at - p_attempt.started_at)
    )
    when p_attempt.run_ended_at is not null then jsonb_build_object(
        'kind', 'infrastructure', 'message', format('run %s ended without a report', p_attempt.run_id)
    )
    else jsonb_build_object(
        'kind', 'infrastructure', 'message', format('lease expired: worker %s stopped renewing it', p_attempt.worker)
    )
end;
$function$;

comment on function forebay._expiry_error is 'Say in words why an attempt lost its right to the task.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_expiry_error.sql', 'repeatable', '0760b11b9f0946d5fad4fc1c65b5019285f91641829a52fcf34ff88806d86f47', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_explain_running.sql
create or replace function forebay._explain_running(p_task forebay.tasks)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say who runs a processing task, and until when its lease is good; or until when its next call waits, for which quota.
--
-- Or why it has no run yet, for one whose launch has failed and is tried again.
declare
    v_now     timestamptz := forebay._now();
    v_attempt forebay.task_attempts;
    v_answer  forebay.task_explanation;
begin
    select a.* into v_attempt from forebay.task_attempts as a where a.attempt_id = p_task.attempt_id;
    v_answer.waiting_until := v_attempt.lease_expires_at;
    if v_attempt.lease_expires_at <= v_now then
        v_answer.reason := 'lease_expired';
        v_answer.explanation := format(
            'Worker %s stopped renewing its lease at %s: %s.',
            v_attempt.worker, forebay._moment_words(v_attempt.lease_expires_at, v_now),
            case
                when forebay._is_external(v_attempt.launcher) then 'another driver may adopt its run, then a sweep takes the task'
                else 'the next sweep takes the task from it'
            end
        );
    elsif v_attempt.run_id is null and v_attempt.run_state ->> 'life_cycle_state' = 'LAUNCH_FAILED' then
        v_answer.reason := 'unlaunched';
        v_answer.explanation := format(
            'Attempt %s has no run yet, and worker %s tries again: %s.', v_attempt.attempt_no, v_attempt.worker,
            rtrim(forebay._run_words(v_attempt.run_state), '. ')
        );
    else
        v_answer.reason := 'running';
        v_answer.explanation := format(
            'Attempt %s runs at worker %s since %s; its deadline is %s.', v_attempt.attempt_no, v_attempt.worker,
            forebay._moment_words(v_attempt.started_at, v_now), forebay._moment_words(v_attempt.deadline_at, v_now)
        );
        if v_attempt.call_wait_until > v_now then
            v_answer.waiting_until := v_attempt.call_wait_until;
            v_answer.subject := v_attempt.call_quota;
            v_answer.unit := 'tokens';
            v_answer.needs := (v_attempt.call_input_tokens + v_attempt.call_output_tokens)::numeric;
            v_answer.explanation := v_answer.explanation || format(
                ' Its next call, of %s tokens, waits for quota %s until %s.',
                forebay._number_words(v_answer.needs), v_attempt.call_quota,
                forebay._moment_words(v_attempt.call_wait_until, v_now)
            );
        end if;
    end if;
    return v_answer;
end;
$function$;

comment on function forebay._explain_running is
'Say who runs a processing task, and until when its lease is good; or until when its next call waits, for which quota.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_explain_running.sql', 'repeatable', '7d0825c3deb93ed8ae90e6fd01b66b056fd5c27a64d731527fa9d847dbcb6d70', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_explain_waiting.sql
create or replace function forebay._explain_waiting(p_task forebay.tasks)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say what keeps an enqueued task from starting, and the earliest moment at which it will start if nothing else changes.
--
-- The moment is not sought for a task that has a hundred before it: these start first in any case.
declare
    v_now    timestamptz := forebay._now();
    v_answer forebay.task_explanation;
begin
    v_answer := forebay._waiting_reason(p_task, v_now);
    if v_answer.reason not in ('not_open', 'closed', 'behind_others', 'unreachable', 'ready')
        and (v_answer.ahead < 100 or p_task.available_at > v_now or v_answer.reason = 'spend_cap') then
        v_answer.waiting_until := forebay._starts_at(p_task, v_now);
    end if;
    v_answer.explanation := forebay._waiting_words(v_answer, p_task, v_now);
    return v_answer;
end;
$function$;

comment on function forebay._explain_waiting is 'Say what keeps an enqueued task from starting, and the earliest moment at which it will start if nothing else changes.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_explain_waiting.sql', 'repeatable', '5b2f3fe74ed7074c2e7bf7edbe778f75b734749942cf62e0a57bb4d95568e9a6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_fair_order.sql
create or replace function forebay._fair_order(
    p_agent   forebay.agents,
    p_limit   integer,
    p_floor   integer,
    p_now     timestamptz,
    p_locks   boolean,
    p_capped  text[],
    p_except  bigint[],
    p_learned forebay.learned
)
    returns bigint[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first p_limit tasks in line by effective priority, then by whose customer has had least, then age, then id.
--
-- Of each customer's tasks of one priority the first is read; then, where that is in the answer, four times as many, as long
-- as the answer might go on with the next of them. With p_locks without what was not woken yet.
declare
    v_customers  text[];
    v_priorities integer[];
    v_depths     integer[];
    v_is_open    boolean;
    v_ids        bigint[];
begin
    select array_agg(c.customer), array_agg(c.priority), array_agg(1) into v_customers, v_priorities, v_depths
    from forebay._customer_priorities(p_agent.agent) as c
    where c.customer is null or c.customer <> all(p_capped);
    loop
        with placed as (
            select t.task_id, t.nth, row_number() over (order by t.priority desc, t.turn, t.created_at, t.task_id) as place
            from forebay._turns(
                p_agent, v_customers, v_priorities, v_depths, p_now, p_locks, p_capped, p_except, p_learned
            ) as t
            where p_floor is null or t.priority >= p_floor
        ), kept as (
            select p.nth, count(*) = v_depths[p.nth] and max(p.place) < p_limit as is_open
            from placed as p
            where p.nth is not null
            group by p.nth
            having min(p.place) <= p_limit
        )
        select
            (select array_agg(p.task_id order by p.place) from placed as p where p.place <= p_limit),
            array_agg(v_customers[k.nth]), array_agg(v_priorities[k.nth]),
            array_agg(v_depths[k.nth] * case when k.is_open then 4 else 1 end), bool_or(k.is_open)
        into v_ids, v_customers, v_priorities, v_depths, v_is_open
        from kept as k;
        exit when v_is_open is not true;
    end loop;
    return coalesce(v_ids, array[]::bigint[]);
end;
$function$;

comment on function forebay._fair_order is 'The first p_limit tasks in line by effective priority, then by whose customer has had least, then age, then id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_fair_order.sql', 'repeatable', '829ba492b8a45464ac565a3b477460bf70ace995d0a53a8866e2bb63aa18dabb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_finished_per_minute.sql
create or replace function forebay._finished_per_minute(p_agent text, p_now timestamptz)
    returns numeric
    language sql
    stable
    security invoker
as $function$
-- How many tasks a minute the agent finished of late: the last 500 of the last 15 minutes, counted since the first of them
-- started.
--
-- Returns  null when there is none
select case when count(*) > 0 then round(
    count(*) * 60 / greatest(1, extract(epoch from p_now - greatest(
        p_now - interval '15 minutes',
        case when count(*) = 500 then min(l.finished_at) else min(l.started_at) end
    ))), 3
) end
from (
    select
        t.finished_at,
        (select max(a.started_at) from forebay.task_attempts as a where a.task_id = t.task_id) as started_at
    from forebay.tasks as t
    where t.agent = p_agent and t.status in ('completed', 'failed')
        and t.finished_at > p_now - interval '15 minutes' and t.finished_at <= p_now
    order by t.finished_at desc
    limit 500
) as l;
$function$;

comment on function forebay._finished_per_minute is
'How many tasks a minute the agent finished of late: the last 500 of the last 15 minutes, counted since the first of them started.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_finished_per_minute.sql', 'repeatable', 'c0818ad81f9df1f8d2d129caf1ca2bd660f85900611f121190f4ad70fdbceb86', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_first_call.sql
create or replace function forebay._first_call(p_uses forebay.expected_use)
    returns forebay.expected_use
    language sql
    immutable
    security invoker
as $function$
-- What the first call of a task is expected to use: the calls share its tokens evenly.
select (
    1, ceil((p_uses).input_tokens / greatest(1, (p_uses).calls)), ceil((p_uses).output_tokens / greatest(1, (p_uses).calls)), null
)::forebay.expected_use;
$function$;

comment on function forebay._first_call is 'What the first call of a task is expected to use: the calls share its tokens evenly.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_first_call.sql', 'repeatable', '46bd4d5005660a5619f3828c0156d1c89e0a64d89f1a85c015d6a6af39d33138', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_first_start.sql
create or replace function forebay._first_start(
    p_task     forebay.tasks,
    p_now      timestamptz,
    p_from     timestamptz,
    p_is_alone boolean
)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first moment after p_from, within 34 years of p_now, at which _may_start says yes; null when there is none.
--
-- It is asked at moments further and further ahead, and between the last no and the first yes the moment is halved out, to
-- the microsecond.
declare
    v_agent forebay.agents := forebay._get_effective(p_task.agent, p_now);
    v_no    timestamptz := p_from;
    v_yes   timestamptz;
    v_half  timestamptz;
begin
    for v_yes in
        select distinct m.at from (
            select p_now + make_interval(secs => 4.0 ^ n) as at from generate_series(-1, 15) as n
            union all
            select unnest(array[
                p_task.available_at, v_agent.paused_until, date_trunc('day', p_now, 'UTC') + interval '24 hours'
            ])
        ) as m
        where m.at > p_from and m.at < 'infinity'
        order by m.at
    loop
        if forebay._may_start(p_task, v_yes, p_is_alone) then
            loop
                v_half := v_no + make_interval(secs => extract(epoch from v_yes - v_no)::double precision / 2);
                exit when v_half in (v_no, v_yes);
                if forebay._may_start(p_task, v_half, p_is_alone) then
                    v_yes := v_half;
                else
                    v_no := v_half;
                end if;
            end loop;
            return v_yes;
        end if;
        v_no := v_yes;
    end loop;
    return null;
end;
$function$;

comment on function forebay._first_start is
'The first moment after p_from, within 34 years of p_now, at which _may_start says yes; null when there is none.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_first_start.sql', 'repeatable', 'd5e7f68191e6c55d47552aa84bc28e2a1bb174daf6b88bd1731d337f05471d3f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_firsts.sql
create or replace function forebay._firsts(
    p_agent      text,
    p_customers  text[],
    p_priorities integer[],
    p_depths     integer[],
    p_except     bigint[],
    out nth      integer,
    out task     forebay.tasks
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The nth customer's first tasks of the nth priority, as many as the nth of p_depths, for each n.
begin
    return query
    select s.nth::integer, f.task
    from unnest(p_customers, p_priorities, p_depths) with ordinality as s (customer, priority, depth, nth)
    cross join lateral (
        (
            select t as task from forebay.tasks as t
            where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                and t.customer = s.customer and t.priority = s.priority and t.task_id <> all(p_except)
            order by t.created_at, t.task_id
            limit s.depth
        )
        union all
        (
            select t from forebay.tasks as t
            where s.customer is null and t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.is_shared
                and t.customer is null and t.priority = s.priority and t.task_id <> all(p_except)
            order by t.created_at, t.task_id
            limit s.depth
        )
    ) as f;
end;
$function$;

comment on function forebay._firsts is 'The nth customer''s first tasks of the nth priority, as many as the nth of p_depths, for each n.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_firsts.sql', 'repeatable', 'cb48de6f92a1d7901aacf8b87c994df7a1de7f5436ad08878ec88dd6a82e0b33', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_fits.sql
create or replace function forebay._fits(p_is_first boolean, p_tokens numeric, p_level numeric, p_burst numeric)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a bucket that has p_level left admits a task that needs p_tokens.
--
-- A task larger than the burst is admitted as the first of its claim when the bucket is full, and takes it into debt:
-- never a silent endless wait. A null level means that tokens are not limited.
select p_level is null or p_tokens <= p_level or (p_is_first and p_tokens > p_burst and p_level >= p_burst);
$function$;

comment on function forebay._fits is 'Whether a bucket that has p_level left admits a task that needs p_tokens.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_fits.sql', 'repeatable', 'c5126e3abbff33ca93825cff7d141a297ff02ea4b42f6fd4bc2e2108a3722446', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_fitting.sql
create or replace function forebay._fitting(
    p_agent   forebay.agents,
    p_line    forebay.lined_up[],
    p_limit   integer,
    p_now     timestamptz,
    p_learned forebay.learned default null
)
    returns forebay.fit
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Which of the tasks in p_line may start now, p_limit of them at most: the one rule of admission, the agent's room aside.
--
-- In the order of the line, each that fits beside those before it may. One that does not fit is passed, unless it has
-- waited reserve_after: then nothing behind it may start. A spend cap never holds up the tasks behind. What the first tasks
-- of other agents hold of the quotas is not there.
--
-- Returns  their places in p_line, and what keeps the first of the others back; reason null: nothing does
declare
    v_fit   forebay.fit;
    v_stop  forebay.fit;
    v_level numeric := case when p_agent.max_tpm is not null then (forebay._levels(p_agent, p_now)).tokens end;
    v_rooms forebay.quota_room[] := case when p_agent.quotas <> '{}' then
        forebay._leave_room(p_agent, p_line[1], array(select r from forebay._quota_rooms(p_agent, p_now) as r), p_now)
    else '{}' end;
    v_caps  forebay.spend_cap[] := case when forebay._has_caps(p_agent) then array(
        select c from forebay._caps(p_agent, array(select distinct l.customer from unnest(p_line) as l), p_now) as c
    ) else '{}' end;
    v_pace  double precision := case when v_rooms <> '{}' then
        (case when p_learned.samples is null then forebay._learned(p_agent.agent) else p_learned end).tokens_per_second
    end::double precision;
    v_task  forebay.lined_up;
begin
    v_fit.places := array[]::integer[];
    for v_place in 1 .. cardinality(p_line) loop
        exit when cardinality(v_fit.places) = p_limit;
        v_task := p_line[v_place];
        v_stop := forebay._hindrance(p_agent, v_task, v_fit.places = '{}', v_level, v_rooms, v_caps, v_pace);
        if v_stop.reason is null then
            v_fit.places := v_fit.places || v_place;
            v_level := v_level - (v_task.uses).input_tokens - (v_task.uses).output_tokens;
            v_rooms := forebay._take_room(v_rooms, p_agent.quotas, v_task.uses, v_pace);
            v_caps := forebay._take_money(v_caps, v_task);
        else
            v_stop.places := v_fit.places;
            v_fit := case when v_fit.reason is null then v_stop else v_fit end;
            exit when v_stop.reason <> 'spend_cap' and v_task.waited >= p_agent.reserve_after;
        end if;
    end loop;
    return v_fit;
end;
$function$;

comment on function forebay._fitting is 'Which of the tasks in p_line may start now, p_limit of them at most: the one rule of admission, the agent''s room aside.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_fitting.sql', 'repeatable', '891620f7a6325d116b049f5f9f2f92b2e82784f31c26aac1b80c108ff07ab46f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_flight_state.sql
create or replace function forebay._flight_state(
    p_agent           text,
    p_pace            numeric,
    out tasks         bigint,
    out tokens        bigint,
    out projected_tpm bigint
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's tasks are processing, what they are expected to use, and what they will still use within a minute.
--
-- p_pace is how many tokens a task of the agent uses in a second; null when that is not known: it may use all at once.
begin
    select
        count(*), coalesce(sum(a.expected_input_tokens + a.expected_output_tokens), 0)::bigint,
        ceil(coalesce(sum(forebay._within(rest.tokens, rest.tokens, p_pace, 60)), 0))::bigint
    into tasks, tokens, projected_tpm
    from forebay.task_attempts as a
    cross join lateral (select r.input_tokens + r.output_tokens as tokens from forebay._remaining(a) as r) as rest
    where a.agent = p_agent and a.finished_at is null;
end;
$function$;

comment on function forebay._flight_state is
'How many of the agent''s tasks are processing, what they are expected to use, and what they will still use within a minute.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_flight_state.sql', 'repeatable', '5e6c0f23a5bf34611473f71b57f4239d404cf7f698511e5a633bef91247e5448', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_fold_changes.sql
create or replace function forebay._fold_changes(p_at_least integer)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
    set enable_hashjoin = on
    set jit = off
as $function$
-- Add the noted changes of tasks to the rollups, if p_at_least of them wait; when somebody else is at it, leave it to them.
--
-- What is deleted is what is added, in one transaction: whoever reads both tables in one statement sees it once. Only the
-- holder of the lock writes here, so it never waits. It takes 100,000 changes at most; the next call takes more.
--
-- Writes  forebay.task_changes, forebay.task_rollups
-- Locks   an advisory lock, without waiting
declare
    v_cells forebay.task_cell[];
begin
    if not pg_try_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0)) then
        return;
    end if;
    perform 1 from forebay.task_changes as c offset greatest(p_at_least, 1) - 1 limit 1;
    if not found then
        return;
    end if;
    with folded as (
        delete from forebay.task_changes as c
        where c.change_id in (select o.change_id from forebay.task_changes as o order by o.change_id limit 100000)
        returning c.*
    )
    select array_agg((
        f.starts_at, f.agent, f.customer, f.status, f.tasks, f.ended_attempts, f.measured_attempts, f.priced_attempts,
        f.costed_attempts, f.provisional_attempts, f.input_tokens, f.output_tokens, f.cached_tokens, f.llm_usd,
        f.compute_usd, f.buckets, array_fill(f.tasks, array[cardinality(f.buckets)])
    )::forebay.task_cell)
    into v_cells
    from folded as f;
    perform forebay._add_to_rollups(v_cells);
end;
$function$;

comment on function forebay._fold_changes is 'Add the noted changes of tasks to the rollups, if p_at_least of them wait; when somebody else is at it, leave it to them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_fold_changes.sql', 'repeatable', '613846944099c710a2c9ed988175fb23e4ed05f7d9b4b067e3f509cfc5857798', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_fold_quota.sql
create or replace function forebay._fold_quota(p_quota text, p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add the quota's settlements to its ledger, each to the slot of its call; the caller holds the quota's lock.
--
-- What has left a window already is dropped. A bucket's level is brought to p_now.
--
-- Writes  forebay.quota_slots, forebay.quota_limits, forebay.quota_settlements
begin
    if not exists (select from forebay.quota_settlements as s where s.quota = p_quota) then
        return;
    end if;
    -- One statement: what the levels contain is what is deleted.
    with levels as materialized (
        select l.unit, l.period, l.room
        from forebay._quota_limits(
            array(select b.quota from forebay.quota_limits as b where b.quota = p_quota and b.kind = 'bucket'), p_now
        ) as l
    ), gone as (
        delete from forebay.quota_settlements as s
        where s.quota = p_quota
        returning s.called_at, s.requests, s.input_tokens, s.output_tokens
    ), windows as (
        insert into forebay.quota_slots as s (quota, unit, period, slot_at, used)
        select
            l.quota, l.unit, l.period, forebay._slot_at(l.period, g.called_at) as slot_at,
            sum(forebay._in_unit(l.unit, g.requests, g.input_tokens, g.output_tokens)) as used
        from forebay.quota_limits as l
        cross join gone as g
        where l.quota = p_quota and l.kind = 'window' and g.called_at >= l.since
            and forebay._slot_at(l.period, g.called_at) > p_now - forebay._window_length(l.period)
        group by l.quota, l.unit, l.period, forebay._slot_at(l.period, g.called_at)
        on conflict (quota, unit, period, slot_at) do update set used = greatest(0, s.used + excluded.used)
    )
    update forebay.quota_limits as l
    set level = v.room, refilled_at = greatest(p_now, l.refilled_at)
    from levels as v
    where l.quota = p_quota and l.unit = v.unit and l.period = v.period and l.kind = 'bucket';
end;
$function$;

comment on function forebay._fold_quota is 'Add the quota''s settlements to its ledger, each to the slot of its call; the caller holds the quota''s lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_fold_quota.sql', 'repeatable', '271367778bd207c8f5aba9a862c8737d434f7131dcad56b6a1b708ed526263e3', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_fold_spend.sql
create or replace function forebay._fold_spend()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add the noted spending up by day, agent and customer; when somebody else is at it, leave it to them.
--
-- An entry is deleted and added in one statement: whoever reads both tables in one statement sees it once. Only the holder
-- of the lock writes here, so it never waits, and a rollback undoes both.
--
-- Writes  forebay.spend_entries, forebay.daily_spend
-- Locks   an advisory lock, without waiting
begin
    if not pg_try_advisory_xact_lock(hashtextextended('forebay.daily_spend', 0)) then
        return;
    end if;
    with folded as (
        delete from forebay.spend_entries as e returning e.*
    )
    insert into forebay.daily_spend as d (day, agent, customer, usd)
    select forebay._utc_day(f.spent_at), f.agent, f.customer, sum(f.usd)
    from folded as f
    group by forebay._utc_day(f.spent_at), f.agent, f.customer
    on conflict (day, agent, customer) do update set usd = d.usd + excluded.usd;
end;
$function$;

comment on function forebay._fold_spend is 'Add the noted spending up by day, agent and customer; when somebody else is at it, leave it to them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_fold_spend.sql', 'repeatable', '3b77910284d7b0a807dd6c9cf4db028ff89f64780a4c7421b7b523fb44c7a404', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_forget_calls.sql
create or replace function forebay._forget_calls(p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Fold in what waits for quotas that nobody locks, and remove slots and open calls that count no more.
--
-- An attempt that crashed keeps its calls until they have left every window: usage that comes late still settles them.
--
-- Writes  forebay.quota_slots, forebay.quota_limits, forebay.quota_settlements, forebay.attempt_calls
-- Locks   quotas, skipping what somebody else holds
declare
    v_quota text;
begin
    for v_quota in select q.quota from forebay.quotas as q order by q.quota for no key update skip locked loop
        perform forebay._fold_quota(v_quota, p_now);
        delete from forebay.quota_slots as s
        where s.quota = v_quota and s.slot_at <= p_now - forebay._window_length(s.period);
    end loop;
    delete from forebay.attempt_calls as c
    using forebay.task_attempts as a
    where a.attempt_id = c.attempt_id and a.finished_at is not null
        and c.granted_at <= p_now - forebay._window_length('1 day');
end;
$function$;

comment on function forebay._forget_calls is 'Fold in what waits for quotas that nobody locks, and remove slots and open calls that count no more.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_forget_calls.sql', 'repeatable', '543e95f7ef09a1df90e2286c3556f69f276a5e4c815ea5d5a03f4986578acca4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_forget_refusals.sql
create or replace function forebay._forget_refusals(p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Remove the refusals that count no more, since their share is whole again.
--
-- Writes  forebay.refusals
-- Locks   the refusals, skipping what somebody else holds
begin
    delete from forebay.refusals as r
    where r.refusal_id in (
        select p.refusal_id from forebay.refusals as p
        where forebay._share(p, p_now) = 1
        for update skip locked
    );
end;
$function$;

comment on function forebay._forget_refusals is 'Remove the refusals that count no more, since their share is whole again.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_forget_refusals.sql', 'repeatable', '9e890fc34ea6cf844e7fc3d18c3577ed4f668680667ae2447fad1198f6ff8fcb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_free_at.sql
create or replace function forebay._free_at(
    p_quota   text,
    p_unit    text,
    p_period  interval,
    p_rate    numeric,
    p_missing numeric,
    p_now     timestamptz
)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- When a limit will have so much more room if nothing else happens: as slots leave the window, or at p_rate a second.
--
-- Returns  null where that is not known: the room of open calls comes with their reports
begin
    if p_period = '0' then
        return null;
    elsif p_rate is not null then
        return p_now + make_interval(secs => least(p_missing / nullif(p_rate, 0), 3155760000)::double precision);
    end if;
    return (
        select min(passing.slot_at) + forebay._window_length(p_period)
        from (
            select s.slot_at, sum(s.used) over (order by s.slot_at) as freed
            from forebay.quota_slots as s
            where s.quota = p_quota and s.unit = p_unit and s.period = p_period
                and s.slot_at > p_now - forebay._window_length(p_period)
        ) as passing
        where passing.freed >= p_missing
    );
end;
$function$;

comment on function forebay._free_at is 'When a limit will have so much more room if nothing else happens: as slots leave the window, or at p_rate a second.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_free_at.sql', 'repeatable', 'c3b1fdaa7f2b9fe47bb4de68cf1f8cebbc899f124cf4a6f681db7700ff6509cc', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_gauge_words.sql
create or replace function forebay._gauge_words()
    returns table (metric text, help text)
    language sql
    immutable
    security invoker
as $function$
-- The metrics of monitoring, and what each says.
values
('forebay_tasks', 'Tasks that have not ended, by agent and state: waiting (due), delayed or processing.'),
('forebay_oldest_waiting_seconds', 'How long the agent''s oldest task that is due has waited; 0 when none waits.'),
('forebay_starts_last_minute', 'Tasks of the agent that started within the last minute.'),
('forebay_tokens_last_minute', 'Tokens that calls of the agent used within the last minute, as reported.'),
('forebay_refusals_last_hour', 'Refusals of a provider within the last hour that still count.'),
('forebay_lost_leases_last_hour', 'Attempts of the agent that lost their lease within the last hour.'),
('forebay_token_bucket_level', 'Tokens left in the agent''s bucket; below 0 where tasks used more than was expected.'),
('forebay_token_bucket_size', 'Tokens that the agent''s bucket holds when it is full.'),
('forebay_token_limit_per_minute', 'Tokens a minute that the agent may use now, as refusals lower it.'),
('forebay_request_limit_per_minute', 'Tasks a minute that the agent may start now, as refusals lower it.'),
('forebay_concurrency_limit', 'Tasks that the agent may process at once now, as refusals lower it.'),
('forebay_paused', 'Whether the agent starts nothing: 1 while it is paused, by a person or a provider.'),
('forebay_cost_today_usd', 'What calls of the agent cost today (UTC), as far as known.'),
('forebay_spend_cap_usd', 'What the agent may spend today (UTC), with what was allowed beyond its cap.'),
('forebay_quota_used', 'What counts against a limit of a quota now.'),
('forebay_quota_limit', 'What of a limit of a quota holds now, as refusals lower it.'),
('forebay_dispatchers', 'Workers and daemons that claimed within the last minute.'),
('forebay_listeners', 'Sessions that listen for changes.'),
('forebay_claim_age_seconds', 'How long ago anybody claimed last.'),
('forebay_sweep_age_seconds', 'How long ago anybody swept last.'),
('forebay_expired_leases', 'Leases that ran out and that nobody has taken back yet.'),
('forebay_oldest_transaction_seconds', 'How long the oldest transaction that is to be seen is open.'),
('forebay_notify_queue_ratio', 'How full the server''s queue of notifications is, from 0 to 1.'),
('forebay_may_dispatch', 'Whether this database may hand out tasks: 0 for a copy that nobody has opened.'),
('forebay_schema_info', 'Always 1; the label version is the release of the schema.');
$function$;

comment on function forebay._gauge_words is 'The metrics of monitoring, and what each says.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_gauge_words.sql', 'repeatable', '8e604921b72c1de2406dbfb837c4b0a9eddaba8a263a17da394bb6dccff23eca', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_get_agent.sql
create or replace function forebay._get_agent(p_agent text)
    returns forebay.agents
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agent of that name, to the letter: the copy of p_agent is compared by the default collation.
--
-- Errors  22023  p_agent is null
--         QF301  there is none
declare
    v_name  text := p_agent;
    v_agent forebay.agents;
begin
    if p_agent is null then
        raise exception 'p_agent must not be null' using errcode = '22023';
    end if;
    select a.* into v_agent from forebay.agents as a where a.agent = v_name;
    if not found then
        raise exception 'agent "%" does not exist', left(p_agent, 200)
            using errcode = 'QF301', hint = 'Register it with forebay.register_agent, or see forebay.agent_status().';
    end if;
    return v_agent;
end;
$function$;

comment on function forebay._get_agent is 'The agent of that name, to the letter: the copy of p_agent is compared by the default collation.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_get_agent.sql', 'repeatable', '7bd9baf71d420bc9044e02d8d9a06fcb4fe1960d03168ddcf473ec13a2ff2b61', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_get_attempt.sql
create or replace function forebay._get_attempt(p_attempt_id bigint)
    returns forebay.task_attempts
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The attempt of that id.
--
-- Errors  22023  p_attempt_id is null
--         QF304  there is none
declare
    v_attempt forebay.task_attempts;
begin
    if p_attempt_id is null then
        raise exception 'p_attempt_id must not be null' using errcode = '22023';
    end if;
    select a.* into v_attempt from forebay.task_attempts as a where a.attempt_id = p_attempt_id;
    if not found then
        raise exception 'attempt % does not exist', p_attempt_id
            using errcode = 'QF304', hint = 'forebay.dequeue answers with attempt_id beside task_id.';
    end if;
    return v_attempt;
end;
$function$;

comment on function forebay._get_attempt is 'The attempt of that id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_get_attempt.sql', 'repeatable', 'fc2a2167cc87ae79b74d68c51172e99cb4b53992fa4d9ce23097258a47d34afb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_get_batch.sql
create or replace function forebay._get_batch(p_batch_id bigint)
    returns forebay.batches
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The batch of that id.
--
-- Errors  22023  p_batch_id is null
--         QF302  there is none
declare
    v_batch forebay.batches;
begin
    if p_batch_id is null then
        raise exception 'p_batch_id must not be null' using errcode = '22023';
    end if;
    select b.* into v_batch from forebay.batches as b where b.batch_id = p_batch_id;
    if not found then
        raise exception 'batch % does not exist', p_batch_id
            using errcode = 'QF302', hint = 'forebay.open_batch opens one.';
    end if;
    return v_batch;
end;
$function$;

comment on function forebay._get_batch is 'The batch of that id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_get_batch.sql', 'repeatable', '07688b3d7f07308ef032d81b5584e5b6c4b4062a81202492a8db34fde63408bf', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_get_effective.sql
create or replace function forebay._get_effective(p_agent text, p_now timestamptz)
    returns forebay.agents
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agent with the limits and the pause that hold at p_now: as configured, and as a provider's refusals lower them.
--
-- An agent without a limit of tasks at once starts from what ran when the provider refused.
--
-- Errors  22023  p_agent is null
--         QF301  there is no such agent
declare
    v_agent    forebay.agents := forebay._get_agent(p_agent);
    v_throttle forebay.throttle := forebay._throttle(v_agent, p_now);
begin
    if v_throttle.paused_until > coalesce(v_agent.paused_until, '-infinity') then
        v_agent.paused_until := v_throttle.paused_until;
        v_agent.pause_reason := v_throttle.reason;
    end if;
    if v_throttle.share < 1 then
        v_agent.max_concurrent_tasks := forebay._lowered(
            coalesce(v_agent.max_concurrent_tasks, v_throttle.in_flight), v_throttle.share
        )::integer;
        v_agent.max_tpm := forebay._lowered(v_agent.max_tpm, v_throttle.share);
        v_agent.max_rpm := forebay._lowered(v_agent.max_rpm, v_throttle.share)::integer;
    end if;
    return v_agent;
end;
$function$;

comment on function forebay._get_effective is 'The agent with the limits and the pause that hold at p_now: as configured, and as a provider''s refusals lower them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_get_effective.sql', 'repeatable', '666fcd1a9fcf20c28fc347cf02b527c047cb5549f2ba9d084296991af823eaf5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_get_task.sql
create or replace function forebay._get_task(p_task_id bigint)
    returns forebay.tasks
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The task of that id.
--
-- Errors  22023  p_task_id is null
--         QF303  there is none
declare
    v_task forebay.tasks;
begin
    if p_task_id is null then
        raise exception 'p_task_id must not be null' using errcode = '22023';
    end if;
    select t.* into v_task from forebay.tasks as t where t.task_id = p_task_id;
    if not found then
        raise exception 'task % does not exist', p_task_id
            using errcode = 'QF303', hint = 'forebay.list_tasks() has the ids.';
    end if;
    return v_task;
end;
$function$;

comment on function forebay._get_task is 'The task of that id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_get_task.sql', 'repeatable', '30a9c110ca13ef8bffe364086364c57e823a968ae2aa350ccc62d948def7f861', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_give_back.sql
create or replace function forebay._give_back(
    p_task         forebay.tasks,
    p_agent        forebay.agents,
    p_error        jsonb,
    p_retryable    boolean,
    p_retry_in     interval,
    p_is_unspent   boolean
)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Move a processing task whose attempt has ended without success: back in line, or to failed.
--
-- p_retry_in null means the agent's backoff; p_is_unspent takes the attempt back, and counts a release instead.
--
-- Returns  the task's status after it
-- Writes   forebay.tasks
declare
    v_now       timestamptz := forebay._now();
    v_may_retry boolean := p_is_unspent
        or p_retryable and forebay._may_retry(p_agent, p_task.attempt_count, p_task.max_attempts);
    v_delay     interval := coalesce(
        forebay._exact(p_retry_in), forebay._backoff(p_agent.backoff_base, p_agent.backoff_max, p_task.attempt_count)
    );
begin
    update forebay.tasks as t
    set status = case when v_may_retry then 'enqueued' else 'failed' end,
        attempt_id = null, locked_by = null,
        attempt_count = t.attempt_count - p_is_unspent::integer,
        release_count = t.release_count + p_is_unspent::integer,
        error = case when p_is_unspent then t.error else p_error end,
        finished_at = case when not v_may_retry then greatest(v_now, t.created_at) end,
        available_at = case when v_may_retry then v_now + v_delay else t.available_at end,
        is_ready = v_may_retry and v_delay = interval '0'
    where t.task_id = p_task.task_id;
    return case when v_may_retry then 'enqueued' else 'failed' end;
end;
$function$;

comment on function forebay._give_back is 'Move a processing task whose attempt has ended without success: back in line, or to failed.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_give_back.sql', 'repeatable', '64d6d9ca58876f9dd759e7f5e14f2fe275bb2208835ad9b789946ebd96ef9307', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_grant_call.sql
create or replace function forebay._grant_call(
    p_attempt forebay.task_attempts,
    p_quotas  text[],
    p_call_id text,
    p_input   bigint,
    p_output  bigint,
    p_now     timestamptz
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Charge a call to every limit of the quotas, once while it is open; the caller holds the quotas' locks and the attempt's.
--
-- Writes  forebay.task_attempts, forebay.attempt_calls, forebay.quota_slots, forebay.quota_limits
begin
    update forebay.task_attempts as a
    set asks_first = true, call_asked_at = null, call_input_tokens = null, call_output_tokens = null, call_quota = null,
        call_holds = '{}', call_free_at = null, call_wait_until = null, held_up = a.held_up + coalesce(p_now - p_attempt.call_asked_at, '0')
    where a.attempt_id = p_attempt.attempt_id and (not a.asks_first or a.call_wait_until is not null);

    insert into forebay.attempt_calls (attempt_id, call_no, call_id, quotas, granted_at, input_tokens, output_tokens)
    select p_attempt.attempt_id, coalesce(max(c.call_no), 0) + 1, p_call_id, p_quotas, p_now, p_input, p_output
    from forebay.attempt_calls as c
    where c.attempt_id = p_attempt.attempt_id
    having p_quotas <> '{}' and not coalesce(bool_or(c.call_id = p_call_id and not c.is_over), false);
    if not found then
        return;
    end if;

    insert into forebay.quota_slots as s (quota, unit, period, slot_at, used)
    select l.quota, l.unit, l.period, forebay._slot_at(l.period, p_now), forebay._in_unit(l.unit, 1, p_input, p_output)
    from forebay.quota_limits as l
    where l.quota = any(p_quotas) and l.kind = 'window'
    on conflict (quota, unit, period, slot_at) do update set used = s.used + excluded.used;

    update forebay.quota_limits as l
    set level = now.room - forebay._in_unit(l.unit, 1, p_input, p_output), refilled_at = greatest(p_now, l.refilled_at)
    from forebay._quota_limits(
        array(select b.quota from forebay.quota_limits as b where b.quota = any(p_quotas) and b.kind = 'bucket'), p_now
    ) as now
    where l.quota = now.quota and l.unit = now.unit and l.period = now.period and l.kind = 'bucket';
end;
$function$;

comment on function forebay._grant_call is 'Charge a call to every limit of the quotas, once while it is open; the caller holds the quotas'' locks and the attempt''s.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_grant_call.sql', 'repeatable', '53a33d549355d3dafc0e67c51f6554a478dc61709f663ba60cfe406e0aa47ae0', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_halt.sql
create or replace function forebay._halt(
    p_agent   forebay.agents,
    p_task    forebay.tasks,
    p_now     timestamptz,
    out words text,
    out lasts interval
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What keeps everything of an agent from starting, as its task in line meets it, in words, and for how long it will.
--
-- The words are for whoever submitted the task: why the agent is paused is not among them.
--
-- Returns  words are null where nothing does, or p_task is null; lasts is null where nobody can say
declare
    v_why forebay.task_explanation;
begin
    if p_task.task_id is null then
        return;
    end if;
    v_why := forebay._waiting_reason(p_task, p_now);
    if v_why.reason in ('not_open', 'closed', 'paused', 'spend_cap') then
        v_why.waiting_until := case v_why.reason
            when 'paused' then nullif(p_agent.paused_until, 'infinity')
            when 'spend_cap' then forebay._starts_at(p_task, p_now)
        end;
        v_why.ahead := null;
        words := case v_why.reason
            when 'paused' then forebay._pause_words(p_agent, p_now) || '.'
            else forebay._waiting_words(v_why, p_task, p_now)
        end;
        lasts := v_why.waiting_until - p_now;
    end if;
end;
$function$;

comment on function forebay._halt is 'What keeps everything of an agent from starting, as its task in line meets it, in words, and for how long it will.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_halt.sql', 'repeatable', 'fd9c2fcaa3c935868e70589150169c32efd2e1dcf02fbd8148e3f755ee9c6685', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_has_caps.sql
create or replace function forebay._has_caps(p_agent forebay.agents)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether money could keep a task of the agent from starting: the agent has a cap, or any customer has.
select p_agent.max_usd_per_day is not null or forebay._has_customer_caps();
$function$;

comment on function forebay._has_caps is 'Whether money could keep a task of the agent from starting: the agent has a cap, or any customer has.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_has_caps.sql', 'repeatable', 'eda43002613c8801c421a951a218f37de5177758c99ed14f625cd46fc6d996ea', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_has_customer_caps.sql
create or replace function forebay._has_customer_caps()
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether any customer has a cap.
select exists (select from forebay.customers as c where c.max_usd_per_day is not null);
$function$;

comment on function forebay._has_customer_caps is 'Whether any customer has a cap.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_has_customer_caps.sql', 'repeatable', 'fa0f282b634a95a74c0c3df22688ce0d1173a7a8cb09657716043c0eca79e1bb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_has_in_flight.sql
create or replace function forebay._has_in_flight(p_subject text)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether a task is processing of the agent of that name, or of one that draws on the quota of that name.
select exists (
    select from forebay.task_attempts as a
    inner join forebay.agents as g on g.agent = a.agent
    where a.finished_at is null and p_subject = any(g.agent || g.quotas)
);
$function$;

comment on function forebay._has_in_flight is
'Whether a task is processing of the agent of that name, or of one that draws on the quota of that name.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_has_in_flight.sql', 'repeatable', 'fe66abd960c8385b3c644acbca2d6ef76fc572e9e34eecd34cc1581cc907e955', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_has_waiting.sql
create or replace function forebay._has_waiting(p_agent text, p_now timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether any task of the agent stands in line, those that are due by p_now and not woken yet included.
begin
    return exists (
        select from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and t.is_ready
    ) or exists (
        select from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
    );
end;
$function$;

comment on function forebay._has_waiting is 'Whether any task of the agent stands in line, those that are due by p_now and not woken yet included.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_has_waiting.sql', 'repeatable', 'dbc8bca3077682449cfec5030b6d083c03159d8560ef1eb0923ab462c8ba0105', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_here.sql
create or replace function forebay._here()
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Which database of its cluster this is: its oid, which no clone has; and its branch of Lakebase, if the session says it.
--
-- A branch of Lakebase has the cluster's identifier and the oid of what it was made of. Connections of a lakebase: URL say
-- in forebay.branch where they lead; others say nothing, and nothing follows from that.
begin
    return (
        select d.oid::text || coalesce(' ' || nullif(current_setting('forebay.branch', true), ''), '')
        from pg_database as d
        where d.datname = current_database()
    );
end;
$function$;

comment on function forebay._here is 'Which database of its cluster this is: its oid, which no clone has; and its branch of Lakebase, if the session says it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_here.sql', 'repeatable', '417ac4556b10fa1f214d0c4665a4f9f59eee72abe539179edb6e19f620ac62cb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_hindrance.sql
create or replace function forebay._hindrance(
    p_agent    forebay.agents,
    p_task     forebay.lined_up,
    p_is_first boolean,
    p_level    numeric,
    p_rooms    forebay.quota_room[],
    p_caps     forebay.spend_cap[],
    p_pace     double precision
)
    returns forebay.fit
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What keeps the task from starting, given what is left of the agent's bucket, of its quotas and of the caps; reason null: nothing.
--
-- A task larger than an idle quota has room for is admitted nonetheless: nothing would ever make it fit.
declare
    v_tokens bigint := (p_task.uses).input_tokens + (p_task.uses).output_tokens;
    v_fit    forebay.fit;
begin
    if not forebay._fits(p_is_first, v_tokens, p_level, forebay._token_burst(p_agent)) then
        return (null, 'out_of_tokens', p_task.task_id, p_agent.agent, 'tokens', v_tokens, p_level, p_agent.max_tpm,
            interval '1 minute')::forebay.fit;
    end if;
    if p_caps <> '{}' then
        select
            null::integer[], 'spend_cap', p_task.task_id, coalesce(c.customer, p_agent.agent), 'usd', (p_task.uses).usd, c.has, c.amount,
            interval '1 day'
        into v_fit
        from unnest(p_caps) as c
        where (c.customer is null or c.customer = p_task.customer) and forebay._is_short(c, (p_task.uses).usd)
        order by c.customer nulls last
        limit 1;
    end if;
    if v_fit.reason is null and p_rooms <> '{}' then
        select
            null::integer[], 'quota', p_task.task_id, r.quota, r.unit, needs.amount::numeric, r.room::numeric, r.amount::numeric, r.period
        into v_fit
        from unnest(p_rooms) as r
        cross join lateral forebay._need(r.unit, r.seconds, p_task.uses, p_pace) as needs (amount)
        where needs.amount > r.room and not (r.takes_any and r.amount > 0)
        order by (needs.amount - r.room) / greatest(r.amount, 1) desc, r.quota, r.unit, r.period
        limit 1;
    end if;
    return v_fit;
end;
$function$;

comment on function forebay._hindrance is 'What keeps the task from starting, given what is left of the agent''s bucket, of its quotas and of the caps; reason null: nothing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_hindrance.sql', 'repeatable', 'a2dcaf26abf8d8c74ffcaf057ccfcf261cbeef00ac5097ecb4660955b158222f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_hindrance_words.sql
create or replace function forebay._hindrance_words(p_fit forebay.fit)
    returns text
    language sql
    stable
    security invoker
as $function$
-- What the task of p_fit lacks, with its id; null where no task is held up by what it needs.
select format('Task %s waits: %s.', t.task_id, forebay._rule_words(p_fit, t))
from forebay.tasks as t
where t.task_id = p_fit.task_id and p_fit.reason in ('out_of_tokens', 'quota', 'spend_cap');
$function$;

comment on function forebay._hindrance_words is
'What the task of p_fit lacks, with its id; null where no task is held up by what it needs.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_hindrance_words.sql', 'repeatable', '75b29c82272ec6a4c4286a098dcd8b4ced058b114da8f395cd2b59b648a7a550', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_histogram_marks.sql
create or replace function forebay._histogram_marks(
    p_buckets smallint[],
    p_counts  bigint[]
)
    returns table (measure integer, median integer, p95 integer)
    language sql
    immutable
    security invoker
as $function$
-- The places of a histogram that the median and the 95th percentile of each measure lie in, as percentile_disc has them.
--
-- So the median of an even count is the lower of the two in the middle. A bucket may be there more than once: it is added up.
--
-- Returns  one row a measure with a task in it
select r.measure, min(r.place) filter (where r.upto >= r.tasks * 0.5), min(r.place) filter (where r.upto >= r.tasks * 0.95)
from (
    select
        h.bucket / 1000 as measure, h.bucket % 1000 as place,
        sum(h.tasks) over (partition by h.bucket / 1000 order by h.bucket) as upto,
        sum(h.tasks) over (partition by h.bucket / 1000) as tasks
    from (
        select b.bucket, sum(b.tasks) as tasks
        from unnest(p_buckets, p_counts) as b (bucket, tasks)
        group by b.bucket
        having sum(b.tasks) > 0
    ) as h
) as r
group by r.measure;
$function$;

comment on function forebay._histogram_marks is
'The places of a histogram that the median and the 95th percentile of each measure lie in, as percentile_disc has them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_histogram_marks.sql', 'repeatable', '94d431e3d763b96d27b45801db4702c9be51d9cd479184746f2a539aee37ac67', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_histogram_times.sql
create or replace function forebay._histogram_times(
    p_report  forebay.metrics_report,
    p_buckets smallint[],
    p_counts  bigint[]
)
    returns forebay.metrics_report
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The report with what a histogram, its buckets in order, says of times and confidences.
begin
    select
        forebay._time_at(max(m.median) filter (where m.measure = 0)), forebay._time_at(max(m.p95) filter (where m.measure = 0)),
        forebay._time_at(max(m.median) filter (where m.measure = 1)), forebay._time_at(max(m.p95) filter (where m.measure = 1)),
        forebay._time_at(max(m.median) filter (where m.measure = 2)), forebay._time_at(max(m.p95) filter (where m.measure = 2)),
        (max(m.median) filter (where m.measure = 3) + 0.5) / 100
    into
        p_report.response_median, p_report.response_p95, p_report.queue_median, p_report.queue_p95,
        p_report.run_median, p_report.run_p95, p_report.confidence_median
    from forebay._histogram_marks(p_buckets, p_counts) as m;

    p_report.confidence_counts := array(
        select coalesce(sum(b.tasks), 0)::bigint
        from generate_series(0, 19) as bin (place)
        left join unnest(p_buckets, p_counts) as b (bucket, tasks) on (b.bucket - 3000) / 5 = bin.place and b.bucket >= 3000
        group by bin.place
        order by bin.place
    );
    p_report.without_confidence := p_report.completed - (
        select sum(c.tasks)::bigint from unnest(p_report.confidence_counts) as c (tasks)
    );
    return p_report;
end;
$function$;

comment on function forebay._histogram_times is 'The report with what a histogram, its buckets in order, says of times and confidences.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_histogram_times.sql', 'repeatable', '8afd796fdb8dd33dba0f20fb57f8d4a1d6cf815aca58e0fdbbb88acb67926e45', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_hold_call.sql
create or replace function forebay._hold_call(
    p_attempt forebay.task_attempts,
    p_verdict forebay.call_verdict,
    p_input   bigint,
    p_output  bigint,
    p_now     timestamptz
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note that the attempt's call waits: since when, for what, and when it will ask again.
--
-- It holds its room in every quota that had none for it since it waits, so that no quota's room is lost while another's
-- is awaited; and in none while the agent is paused.
--
-- Writes  forebay.task_attempts
declare
    v_quota text := (p_verdict.permit).quota;
begin
    update forebay.task_attempts as a
    set asks_first = true, call_asked_at = coalesce(p_attempt.call_asked_at, p_now), call_input_tokens = p_input,
        call_output_tokens = p_output, call_quota = v_quota, call_free_at = p_verdict.free_at,
        call_holds = case
            when v_quota is null then '{}'
            when p_attempt.call_asked_at is null then array[v_quota]
            else array_remove(a.call_holds, v_quota) || v_quota
        end,
        call_wait_until = (p_verdict.permit).wait_until
    where a.attempt_id = p_attempt.attempt_id;
end;
$function$;

comment on function forebay._hold_call is 'Note that the attempt''s call waits: since when, for what, and when it will ask again.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_hold_call.sql', 'repeatable', '9d0ffa15ada0ebc8cadc3386ec5c0d1d00c09e4d9ddefa044c27a87f981b3d93', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_in_flight.sql
create or replace function forebay._in_flight(
    p_quotas          text[],
    out quotas        text[],
    out pace          numeric,
    out calls         numeric,
    out input_tokens  numeric,
    out output_tokens numeric
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What each attempt in flight that draws on one of the quotas is still expected to use.
--
-- An attempt that has ended uses nothing more; what it was charged stays charged.
--
-- Agent by agent, whatever the statistics say (offset 0): what others have in flight is not read.
--
-- Returns  one row an attempt; pace is how many tokens it uses in a second, null when that is not known
begin
    return query
    select
        g.quotas, learned.tokens_per_second, rest.calls, rest.input_tokens, rest.output_tokens
    from forebay.agents as g
    cross join lateral forebay._learned(g.agent) as learned
    cross join lateral (
        select o as attempt from forebay.task_attempts as o where o.agent = g.agent and o.finished_at is null offset 0
    ) as flight
    cross join lateral forebay._remaining(flight.attempt) as rest
    where g.quotas && p_quotas;
end;
$function$;

comment on function forebay._in_flight is 'What each attempt in flight that draws on one of the quotas is still expected to use.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_in_flight.sql', 'repeatable', '04c5776c21295da8b79729439a6b934ed8f0cb479712be9a35cd58a6af006b63', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_in_unit.sql
create or replace function forebay._in_unit(p_unit text, p_calls numeric, p_input numeric, p_output numeric)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How much so many calls and tokens count in a limit's unit.
select case p_unit
    when 'tokens' then p_input + p_output
    when 'input_tokens' then p_input
    when 'output_tokens' then p_output
    else p_calls
end;
$function$;

comment on function forebay._in_unit is 'How much so many calls and tokens count in a limit''s unit.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_in_unit.sql', 'repeatable', 'fc2b161e8d67c7d70d88986283a2f085de919f0e74038d3bb5b8aeac99d66c94', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_in_use.sql
create or replace function forebay._in_use(p_agent text, p_at_most integer default null)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many tasks of the agent are processing, counted up to p_at_most (null: all of them).
begin
    return (
        select count(*)
        from (select 1 from forebay.task_attempts as a where a.agent = p_agent and a.finished_at is null limit p_at_most) as open
    );
end;
$function$;

comment on function forebay._in_use is 'How many tasks of the agent are processing, counted up to p_at_most (null: all of them).';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_in_use.sql', 'repeatable', 'c8790fb5345e871914d116c638a4d307972084fb9bc5a1cac61f8abcf5a49908', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_copy.sql
create or replace function forebay._is_copy(p_installation forebay.installation)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether this database is a branch, or a copy elsewhere than where it was installed: in another cluster, or not at home.
begin
    return p_installation.is_branch or p_installation.system_identifier <> forebay._cluster()
        or not forebay._is_here(p_installation.home);
end;
$function$;

comment on function forebay._is_copy is 'Whether this database is a branch, or a copy elsewhere than where it was installed: in another cluster, or not at home.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_copy.sql', 'repeatable', '34ac049bd349e7809b807ffdf5161c73390dbc4e6b53dd6ad6288094d93267b5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_current.sql
create or replace function forebay._is_current(p_fault forebay.launcher_faults, p_now timestamptz)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a launcher's fault was seen so lately that it counts.
select p_fault.seen_at > p_now - interval '2 minutes';
$function$;

comment on function forebay._is_current is 'Whether a launcher''s fault was seen so lately that it counts.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_current.sql', 'repeatable', 'c1fa5024be18f4664345ec18f3c542a97bba03aa8836a685eaeb23b1505fb0bd', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_expired.sql
create or replace function forebay._is_expired(
    p_attempt        forebay.task_attempts,
    p_now            timestamptz,
    p_adoption_grace interval,
    p_report_grace   interval
)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether an open attempt has lost its right to the task: deadline passed, lease run out, or run ended without a report.
select
    p_attempt.deadline_at <= p_now
    or p_attempt.run_ended_at + p_report_grace <= p_now
    or p_attempt.lease_expires_at
    + case when forebay._is_external(p_attempt.launcher) then p_adoption_grace else interval '0' end <= p_now;
$function$;

comment on function forebay._is_expired is 'Whether an open attempt has lost its right to the task: deadline passed, lease run out, or run ended without a report.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_expired.sql', 'repeatable', 'b8d0c5dd7f575401868679a842526a77e3b04ccc36c49aaa470b21fe9362aa12', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_external.sql
create or replace function forebay._is_external(p_launcher text)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether the launcher's runs live on outside the driver, so that another driver can adopt them.
select p_launcher = 'lakeflow';
$function$;

comment on function forebay._is_external is 'Whether the launcher''s runs live on outside the driver, so that another driver can adopt them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_external.sql', 'repeatable', '5e10841f05851a8d8fd31bcd808d016008cb801c84c58b52386a12c99b567b0b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_here.sql
create or replace function forebay._is_here(p_place text)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a place that _here gave is this one, as far as both say: null, or no word of a branch, says nothing.
declare
    v_here text;
begin
    if p_place is null then
        return true;
    end if;
    v_here := forebay._here();
    return split_part(v_here, ' ', 1) = split_part(p_place, ' ', 1)
        and (split_part(v_here, ' ', 2) in ('', split_part(p_place, ' ', 2)) or split_part(p_place, ' ', 2) = '');
end;
$function$;

comment on function forebay._is_here is 'Whether a place that _here gave is this one, as far as both say: null, or no word of a branch, says nothing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_here.sql', 'repeatable', 'ae298bf7257c409557547e442f144ddf9a09d2f13763a401a0b4610c7d568ab9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_limited.sql
create or replace function forebay._is_limited(p_agent forebay.agents)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether admission for the agent has anything to count, and so needs the agent's lock.
select p_agent.max_concurrent_tasks is not null or p_agent.max_tpm is not null or p_agent.max_rpm is not null
    or p_agent.quotas <> '{}' or p_agent.max_usd_per_day is not null or p_agent.is_fair_by_customer;
$function$;

comment on function forebay._is_limited is 'Whether admission for the agent has anything to count, and so needs the agent''s lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_limited.sql', 'repeatable', '52e57877dce3bbe9bdd2d46c8d8ad6f29fdd74023b243e9452745c6d99387566', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_person.sql
create or replace function forebay._is_person(p_name text, p_actor text)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether both names are of the same person: the case of letters does not count, as it does not in roles.
select lower(p_name) = lower(p_actor);
$function$;

comment on function forebay._is_person is
'Whether both names are of the same person: the case of letters does not count, as it does not in roles.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_person.sql', 'repeatable', '00898cd347a1f3055c12990aee54081ab201ab647db5567fe1ae5eab11cfce39', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_short.sql
create or replace function forebay._is_short(p_cap forebay.spend_cap, p_usd numeric)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a cap leaves too little for a task that is expected to cost p_usd; one that is used up leaves nothing to any.
select (p_cap).has <= 0 or p_usd > (p_cap).has;
$function$;

comment on function forebay._is_short is 'Whether a cap leaves too little for a task that is expected to cost p_usd; one that is used up leaves nothing to any.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_short.sql', 'repeatable', '15d04d7db6744274e43792fa086c9aa72701296182ab8938595601ba8030baf7', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_small.sql
create or replace function forebay._is_small(p_from timestamptz, p_to timestamptz)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether at most 10,000 tasks were created in a range, so that looking at each is quick.
select count(*) <= 10000
from (
    select from forebay.tasks as t
    where t.created_at >= p_from and t.created_at < p_to
    limit 10001
) as found;
$function$;

comment on function forebay._is_small is 'Whether at most 10,000 tasks were created in a range, so that looking at each is quick.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_small.sql', 'repeatable', '3a80547cfbbd73688ce0ff181fc08471d564f9beea2901fd49eadfaa0d6e1b5b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_is_weighed.sql
create or replace function forebay._is_weighed(p_agent forebay.agents)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether what a task will use decides if it may start: by the agent's bucket, its quotas, or anybody's spend cap.
select p_agent.max_tpm is not null or p_agent.quotas <> '{}' or forebay._has_caps(p_agent);
$function$;

comment on function forebay._is_weighed is 'Whether what a task will use decides if it may start: by the agent''s bucket, its quotas, or anybody''s spend cap.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_is_weighed.sql', 'repeatable', 'aa0bc8479853b3f7fbd13a2af918058a4b2095cc46366ce083423badf79afb71', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_join_line.sql
create or replace function forebay._join_line(p_agents text[])
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take the lines of the agents for adding tasks to them, beside others who do: their definitions stay as they are until commit.
--
-- Where the transaction looks at an older state than that of now, an agent that was defined anew since raises 40001: a task
-- must not join a line that is not kept that way any more.
--
-- Locks   the agents' lines, shared, by name
-- Errors  40001  the transaction is not READ COMMITTED, and an agent was defined anew since it began
begin
    perform pg_advisory_xact_lock_shared(forebay._line_key(names.agent))
    from (select n.agent from unnest(p_agents) as n (agent) group by n.agent order by n.agent) as names;
    if current_setting('transaction_isolation') <> 'read committed' then
        perform 1 from forebay.agents as a where a.agent = any(p_agents) order by a.agent for share;
    end if;
end;
$function$;

comment on function forebay._join_line is 'Take the lines of the agents for adding tasks to them, beside others who do: their definitions stay as they are until commit.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_join_line.sql', 'repeatable', '5a8a32f186570c0ee34f2f0decfeb6584fce664f3e7710912e2f8969d2b8f049', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_boolean.sql
create or replace function forebay._json_boolean(p_document jsonb, p_key text)
    returns boolean
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The truth value under p_key, null where it is absent or null.
--
-- Errors  22023  something else stands there
begin
    if coalesce(jsonb_typeof(p_document -> p_key), 'null') not in ('null', 'boolean') then
        raise exception '"%" must be true or false, not %', p_key, left((p_document -> p_key)::text, 60)
            using errcode = '22023';
    end if;
    return (p_document ->> p_key)::boolean;
end;
$function$;

comment on function forebay._json_boolean is 'The truth value under p_key, null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_boolean.sql', 'repeatable', 'a769eaa3a99ba7bf2bb0b51107d5b8bd2f880cbe03f932e1c5c10e75a246196e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_integer.sql
create or replace function forebay._json_integer(
    p_document jsonb,
    p_key      text,
    p_from     bigint default -9223372036854775808,
    p_to       bigint default 9223372036854775807
)
    returns bigint
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The whole number under p_key, null where it is absent or null.
--
-- Errors  22023  something else stands there, or a number outside p_from to p_to
declare
    v_number numeric := forebay._json_number(p_document, p_key);
begin
    if v_number <> trunc(v_number) or v_number not between p_from and p_to then
        raise exception '"%" must be a whole number from % to %, not %', p_key, p_from, p_to, left(v_number::text, 60)
            using errcode = '22023';
    end if;
    return v_number::bigint;
end;
$function$;

comment on function forebay._json_integer is 'The whole number under p_key, null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_integer.sql', 'repeatable', 'aa89010552744c1f8531110d1ff75fbf302d3f7b3c90de56fa26ec9d05963fe6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_name.sql
create or replace function forebay._json_name(p_document jsonb, p_key text, p_max integer)
    returns text
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The text under p_key, which is not empty and has at most p_max characters; null where it is absent or null.
--
-- Errors  22023  something else stands there
declare
    v_text text := forebay._json_text(p_document, p_key);
begin
    if char_length(v_text) not between 1 and p_max then
        raise exception '"%" must have 1 to % characters', p_key, p_max using errcode = '22023';
    end if;
    return v_text;
end;
$function$;

comment on function forebay._json_name is 'The text under p_key, which is not empty and has at most p_max characters; null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_name.sql', 'repeatable', 'a0b3eed59e65b0591bd4f5704c3e6ef60fa68219e808eca9f4f1b0698e44ede5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_number.sql
create or replace function forebay._json_number(p_document jsonb, p_key text)
    returns numeric
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The number under p_key, null where it is absent or null; a string that spells a number counts as one.
--
-- Errors  22023  something else stands there
declare
    v_type text := coalesce(jsonb_typeof(p_document -> p_key), 'null');
    v_text text := p_document ->> p_key;
begin
    if v_type = 'null' then
        return null;
    end if;
    if v_type = 'number' or (v_type = 'string' and v_text ~ '^[[:space:]]*[+-]?[0-9]{1,40}([.][0-9]{1,40})?[[:space:]]*$') then
        return v_text::numeric;
    end if;
    raise exception '"%" must be a number, not %', p_key, left((p_document -> p_key)::text, 60) using errcode = '22023';
end;
$function$;

comment on function forebay._json_number is 'The number under p_key, null where it is absent or null; a string that spells a number counts as one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_number.sql', 'repeatable', 'dcd95cc0a395edf41a4c5d74ff8aadebccdfa853c68cebce1dc2a9f6ab99a695', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_text.sql
create or replace function forebay._json_text(p_document jsonb, p_key text)
    returns text
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The text under p_key, null where it is absent or null.
--
-- Errors  22023  something else stands there
begin
    if coalesce(jsonb_typeof(p_document -> p_key), 'null') not in ('null', 'string') then
        raise exception '"%" must be a string, not %', p_key, jsonb_typeof(p_document -> p_key) using errcode = '22023';
    end if;
    return p_document ->> p_key;
end;
$function$;

comment on function forebay._json_text is 'The text under p_key, null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_text.sql', 'repeatable', 'b6d9b9a01a4d1b56a80d552adfbb0d6c7c3a07ba672d8fbe043afdec50e15f5c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_json_time.sql
create or replace function forebay._json_time(p_document jsonb, p_key text)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The time under p_key (ISO 8601 with its offset), null where it is absent or null.
--
-- Errors  22023  something else stands there, or a time without an offset, which would mean the session's zone
declare
    v_text text := forebay._json_text(p_document, p_key);
begin
    if v_text is null then
        return null;
    end if;
    if v_text !~ '^[[:space:]]*[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}.*(Z|z|[+-][0-9]{2}(:?[0-9]{2})?)[[:space:]]*$' then
        raise exception '"%" must be a time like 2026-01-31T12:00:00Z, not "%"', p_key, left(v_text, 60)
            using errcode = '22023';
    end if;
    begin
        return v_text::timestamptz;
    exception when data_exception then
        raise exception '"%" is no time that exists: "%"', p_key, left(v_text, 60) using errcode = '22023';
    end;
end;
$function$;

comment on function forebay._json_time is 'The time under p_key (ISO 8601 with its offset), null where it is absent or null.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_json_time.sql', 'repeatable', 'b1d3406939b8c43b6e7dfc1744e19655cdca0193c41106914fdec157031a6838', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_judge_call.sql
create or replace function forebay._judge_call(
    p_attempt forebay.task_attempts,
    p_agent   forebay.agents,
    p_call_id text,
    p_input   bigint,
    p_output  bigint,
    p_now     timestamptz
)
    returns forebay.call_verdict
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a call may go now: when it is open already, or the agent is not paused and every limit of its quotas lets it.
--
-- While the provider pauses the agent, a call asks again every 5 s: an operator may end the pause.
declare
    v_pause     forebay.throttle := forebay._throttle(p_agent, p_now);
    v_hindrance record;
    v_permit    forebay.call_permit;
    v_free_at   timestamptz;
begin
    v_permit.decision := 'go';
    if exists (
        select from forebay.attempt_calls as c
        where c.attempt_id = p_attempt.attempt_id and c.call_id = p_call_id and not c.is_over
    ) then
        return (v_permit, null)::forebay.call_verdict;
    end if;
    if v_pause.paused_until > p_now then
        v_permit.reason := v_pause.reason;
        v_permit.wait_until := least(v_pause.paused_until, p_now + interval '5 seconds');
    else
        select h.* into v_hindrance from forebay._call_hindrance(p_attempt, p_agent.quotas, p_input, p_output, p_now) as h;
        if v_hindrance.quota is null then
            return (v_permit, null)::forebay.call_verdict;
        end if;
        v_free_at := v_hindrance.free_at;
        v_permit.quota := v_hindrance.quota;
        v_permit.unit := v_hindrance.unit;
        v_permit.needs := v_hindrance.needs;
        v_permit.has := v_hindrance.room;
        v_permit.reason := case
            when v_hindrance.needs <= v_hindrance.room then 'calls that have waited longer go first'
            else 'the quota has no room for it now'
        end;
        v_permit.wait_until := forebay._look_again_at(v_hindrance.free_at, v_hindrance.period, v_hindrance.calls, p_now);
    end if;
    v_permit.decision := 'wait';
    v_permit.waits := v_permit.wait_until - p_now;
    return (v_permit, v_free_at)::forebay.call_verdict;
end;
$function$;

comment on function forebay._judge_call is 'Whether a call may go now: when it is open already, or the agent is not paused and every limit of its quotas lets it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_judge_call.sql', 'repeatable', '6f99b44849a0b5ff48e486a1931ccf3707cd84ec5de08979ccf559bcafdeb05d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_known_calls.sql
create or replace function forebay._known_calls(p_attempt_id bigint, p_source text)
    returns bigint
    language sql
    stable
    security invoker
as $function$
-- Of how many calls a source knows what an attempt used.
select count(*)
from forebay.attempt_usage as u
where u.attempt_id = p_attempt_id and u.source = p_source
    and (u.input_tokens is not null and u.output_tokens is not null or u.pages is not null or u.cost_usd is not null);
$function$;

comment on function forebay._known_calls is 'Of how many calls a source knows what an attempt used.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_known_calls.sql', 'repeatable', '53f5ae2bf5191ff7a7c3d1790d47d321ac03544ab430952fa87853391eb48a7e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_known_usd.sql
create or replace function forebay._known_usd(p_usd numeric, p_priced_attempts bigint)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- What is known of a cost; null, not 0, while nothing is.
select case when p_usd > 0 or p_priced_attempts > 0 then p_usd end;
$function$;

comment on function forebay._known_usd is 'What is known of a cost; null, not 0, while nothing is.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_known_usd.sql', 'repeatable', '7f10d9efbeb394c4d036484e1fb2faa54ec20067ffd541bdcf7c8ed574a74ff3', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_last_minute.sql
create or replace function forebay._last_minute(p_agent text, p_now timestamptz, out starts bigint, out tokens bigint)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of the agent's tasks were started within the last minute, and how many tokens its calls of that minute used.
--
-- Calls count when they are reported. Those of an attempt that ran for over a minute and did not succeed leave with its end.
declare
    v_since timestamptz := p_now - interval '1 minute';
begin
    select count(*) into starts
    from forebay.task_attempts as a
    where a.agent = p_agent and a.started_at > v_since;

    select coalesce(sum(coalesce(u.input_tokens, 0) + coalesce(u.output_tokens, 0)), 0)::bigint into tokens
    from (
        select a.attempt_id, a.started_at from forebay.task_attempts as a where a.agent = p_agent and a.finished_at is null
        union
        select a.attempt_id, a.started_at from forebay.task_attempts as a where a.agent = p_agent and a.started_at > v_since
        union
        select a.attempt_id, a.started_at from forebay.task_attempts as a
        where a.agent = p_agent and a.finished_at > v_since and a.status = 'succeeded' and a.is_usage_known
    ) as recent
    inner join forebay.attempt_usage as u
        on u.attempt_id = recent.attempt_id and u.source = forebay._usage_source(recent.attempt_id)
    where forebay._called_at(u, recent.started_at) > v_since;
end;
$function$;

comment on function forebay._last_minute is
'How many of the agent''s tasks were started within the last minute, and how many tokens its calls of that minute used.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_last_minute.sql', 'repeatable', '602aea63544344058cec050d456dac64fe22b5b8b6daf9495f3aad282d43e98b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_last_refusal.sql
create or replace function forebay._last_refusal(p_agent text, p_quota text)
    returns forebay.refusals
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The refusal that counts: of a quota, or (p_quota null) of an agent alone, the one whose pause ends last; null without any.
declare
    v_agent   text := p_agent;
    v_quota   text := p_quota;
    v_refusal forebay.refusals;
begin
    if v_quota is null then
        select r.* into v_refusal
        from forebay.refusals as r
        where r.agent = v_agent and r.quota is null
        order by r.paused_until desc, r.refusal_id desc
        limit 1;
    else
        select r.* into v_refusal
        from forebay.refusals as r
        where r.quota = v_quota
        order by r.paused_until desc, r.refusal_id desc
        limit 1;
    end if;
    return v_refusal;
end;
$function$;

comment on function forebay._last_refusal is 'The refusal that counts: of a quota, or (p_quota null) of an agent alone, the one whose pause ends last; null without any.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_last_refusal.sql', 'repeatable', 'a35fcd0d9407232bc6ca3c1b57706f8df63add61a4f0707842ca04be188de486', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_launcher_faults.sql
create or replace function forebay._launcher_faults(p_worker text, p_now timestamptz)
    returns jsonb
    language sql
    stable
    security invoker
as $function$
-- Why a worker cannot start runs at this moment: an array of launcher, reason and began_at.
select coalesce(
    jsonb_agg(jsonb_build_object('launcher', f.launcher, 'reason', f.reason, 'began_at', f.began_at) order by f.launcher), '[]'
)
from forebay.launcher_faults as f
where f.worker = p_worker and forebay._is_current(f, p_now);
$function$;

comment on function forebay._launcher_faults is
'Why a worker cannot start runs at this moment: an array of launcher, reason and began_at.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_launcher_faults.sql', 'repeatable', '68028f9980bc6944ab9800dd73343fca98b4a7397d5cb153cd7f0086b34571a1', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_launcher_words.sql
create or replace function forebay._launcher_words(p_launcher text, p_now timestamptz)
    returns text
    language sql
    stable
    security invoker
as $function$
-- Which worker has not been able to start runs with a launcher for longest, and why, as a sentence; null: all can.
select format(
    'Worker %s cannot start runs since %s, and tries again by itself: %s.',
    f.worker, forebay._moment_words(f.began_at, p_now), rtrim(f.reason, '. ')
)
from forebay.launcher_faults as f
where f.launcher = p_launcher and forebay._is_current(f, p_now)
order by f.began_at, f.worker
limit 1;
$function$;

comment on function forebay._launcher_words is
'Which worker has not been able to start runs with a launcher for longest, and why, as a sentence; null: all can.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_launcher_words.sql', 'repeatable', 'f553d11f2998763f0d7760276131e77e3f2d16161a627fe1a0baaa234a3fb4a0', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_learned.sql
create or replace function forebay._learned(p_agent text)
    returns forebay.learned
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What the agent's recent finished attempts say of the next ones.
--
-- Each number is the median (of an even count the lower one) over the latest 50 that succeeded and whose usage is known,
-- so that no single one moves it far. Below 10 nothing is learned: as estimated, four fifths of it input. The ratios are in
-- thousandths, from tasks with an estimate above 0 if 10 have one; their sum is held between 100 and 10,000. A token's price
-- is learned when all of the cost is known of 10; until then it is the dearest that is registered.
declare
    v_agent   text := p_agent;
    v_learned forebay.learned;
    v_rated   bigint;
    v_sum     bigint;
    v_bounded bigint;
begin
    select
        count(*)::integer, count(l.estimate),
        percentile_disc(0.5) within group (order by div(l.input * 1000::numeric, l.estimate)::bigint),
        percentile_disc(0.5) within group (order by div(l.output * 1000::numeric, l.estimate)::bigint),
        percentile_disc(0.5) within group (order by l.input), percentile_disc(0.5) within group (order by l.output),
        percentile_disc(0.5) within group (order by l.calls),
        percentile_disc(0.5) within group (order by round((l.input + l.output) / l.seconds, 3)) filter (where l.seconds > 0),
        bool_and(l.asks_first),
        case when count(l.cost_usd) >= 10 then
            percentile_disc(0.5) within group (order by round(l.cost_usd * 1000000 / nullif(l.input + l.output, 0), 6))
        end
    into
        v_learned.samples, v_rated, v_learned.input_permille, v_learned.output_permille, v_learned.typical_input,
        v_learned.typical_output, v_learned.calls, v_learned.tokens_per_second, v_learned.asks_first,
        v_learned.usd_per_m_tokens
    from (
        select
            a.used_input_tokens as input, a.used_output_tokens as output, a.used_calls::numeric as calls, a.asks_first,
            case when a.is_cost_known then a.cost_usd end as cost_usd,
            extract(epoch from a.finished_at - a.started_at - a.held_up) as seconds,
            (select nullif(t.estimated_tokens, 0) from forebay.tasks as t where t.task_id = a.task_id) as estimate
        from forebay.task_attempts as a
        where a.agent = v_agent and a.status = 'succeeded' and a.is_usage_known
        order by a.finished_at desc, a.attempt_id desc
        limit 50
    ) as l;

    if v_learned.samples < 10 then
        v_learned := (v_learned.samples, null, null, null, null, 1, null, false, null)::forebay.learned;
    end if;
    if v_rated < 10 then
        v_learned.input_permille := 800;
        v_learned.output_permille := 200;
    end if;
    v_sum := v_learned.input_permille + v_learned.output_permille;
    v_bounded := least(10000, greatest(100, v_sum));
    if v_sum = 0 then
        v_learned.input_permille := 80;
        v_learned.output_permille := 20;
    elsif v_bounded <> v_sum then
        v_learned.input_permille := div(v_learned.input_permille * v_bounded::numeric, v_sum)::bigint;
        v_learned.output_permille := v_bounded - v_learned.input_permille;
    end if;
    v_learned.usd_per_m_tokens := coalesce(v_learned.usd_per_m_tokens, forebay._dearest_usd_per_m(forebay._now()));
    return v_learned;
end;
$function$;

comment on function forebay._learned is 'What the agent''s recent finished attempts say of the next ones.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_learned.sql', 'repeatable', '79f99802817248d38b6ad189e1284c93bb27d91dcdd34a334bfd01e8514d47df', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_leave_room.sql
create or replace function forebay._leave_room(
    p_agent forebay.agents,
    p_head  forebay.lined_up,
    p_rooms forebay.quota_room[],
    p_now   timestamptz
)
    returns forebay.quota_room[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What the rooms of the agent's quotas are without what the first tasks of other agents' lines hold there.
--
-- A first task that has waited its agent's reserve_after holds what it needs, against all agents whose own first task is not
-- as far beyond its reserve_after; so small tasks of one agent do not starve a large one of another. It holds it for ten
-- minutes, and only while nothing but a quota stops it: an agent that nobody serves keeps the others waiting no longer.
declare
    v_rooms forebay.quota_room[] := p_rooms;
    v_own   interval := coalesce(p_head.waited - p_agent.reserve_after, interval '-1');
    v_late  interval;
    v_other forebay.agents;
    v_first forebay.lined_up;
begin
    for v_other in
        select e.*
        from forebay.agents as a
        cross join lateral forebay._get_effective(a.agent, p_now) as e
        where a.agent <> p_agent.agent and a.quotas && p_agent.quotas
    loop
        continue when v_other.paused_until > p_now or forebay._room(v_other, p_now) = 0;
        v_first := (forebay._line(v_other, 1, null, p_now, false))[1];
        v_late := v_first.waited - v_other.reserve_after;
        if v_late >= interval '0' and v_late > v_own and v_late < interval '10 minutes'
            and cardinality((forebay._fitting(forebay._without_quotas(v_other), array[v_first], 1, p_now)).places) = 1
        then
            v_rooms := forebay._take_room(
                v_rooms, v_other.quotas, v_first.uses, (forebay._learned(v_other.agent)).tokens_per_second::double precision
            );
        end if;
    end loop;
    return v_rooms;
end;
$function$;

comment on function forebay._leave_room is 'What the rooms of the agent''s quotas are without what the first tasks of other agents'' lines hold there.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_leave_room.sql', 'repeatable', '6e012fbbc5b7f61daa339c8fff0ae02cf672aff91a5ca0d0b67ffc3bba43551d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_levels.sql
create or replace function forebay._levels(
    p_agent      forebay.agents,
    p_now        timestamptz,
    out tokens   numeric,
    out requests numeric,
    out folded   bigint[]
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The levels of the agent's two buckets as of p_now, with its settlements folded in at the moment each was made.
--
-- Returns  null levels where there is no such limit; folded: the settlements that the level contains
declare
    v_budget     forebay.agent_budgets;
    v_settlement forebay.agent_settlements;
    v_burst      numeric := forebay._token_burst(p_agent);
    v_at         timestamptz;
begin
    select b.* into v_budget from forebay.agent_budgets as b where b.agent = p_agent.agent;
    requests := forebay._refill(
        v_budget.requests, forebay._request_burst(p_agent), p_agent.max_rpm, v_budget.refilled_at, p_now
    );
    if p_agent.max_tpm is null then
        return;
    end if;

    tokens := v_budget.tokens;
    v_at := v_budget.refilled_at;
    for v_settlement in
        select s.* from forebay.agent_settlements as s
        where s.agent = p_agent.agent
        order by s.settled_at, s.settlement_id
    loop
        tokens := forebay._refill(tokens, v_burst, p_agent.max_tpm, v_at, v_settlement.settled_at);
        tokens := least(v_burst, tokens + v_settlement.tokens);
        v_at := greatest(v_at, v_settlement.settled_at);
        folded := folded || v_settlement.settlement_id;
    end loop;
    tokens := forebay._refill(tokens, v_burst, p_agent.max_tpm, v_at, p_now);
end;
$function$;

comment on function forebay._levels is 'The levels of the agent''s two buckets as of p_now, with its settlements folded in at the moment each was made.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_levels.sql', 'repeatable', '8679dfb0a58ae6df64599eeb460c795171291b4a674084ca890f11cb3dc84257', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_limits.sql
create or replace function forebay._limits()
    returns forebay.installation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The one row of settings; read apart, so that no plan of a busy query has to join it.
declare
    v_limits forebay.installation;
begin
    select i.* into v_limits from forebay.installation as i;
    return v_limits;
end;
$function$;

comment on function forebay._limits is 'The one row of settings; read apart, so that no plan of a busy query has to join it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_limits.sql', 'repeatable', '26f8cac4223dcfb4aa4ebe397c8e59c6da73af30ee3859a472b6b281e8be2296', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_line.sql
create or replace function forebay._line(
    p_agent   forebay.agents,
    p_limit   integer,
    p_floor   integer,
    p_now     timestamptz,
    p_locks   boolean,
    p_learned forebay.learned default null,
    p_capped  text[] default null
)
    returns forebay.lined_up[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first p_limit tasks in the agent's line that have priority p_floor and more (null: any).
--
-- With p_locks those that nobody else holds; without it, those that are due and not woken yet stand in line too. Tasks of
-- the customers p_capped do not. Where it is null, they are those whose cap is reached, and p_learned is looked up too.
--
-- Locks  with p_locks the tasks, without waiting
declare
    v_learned forebay.learned := p_learned;
    v_capped  text[] := coalesce(p_capped, array[]::text[]);
begin
    if p_capped is null and forebay._is_weighed(p_agent) then
        v_learned := forebay._learned(p_agent.agent);
        v_capped := forebay._capped_customers(p_now);
    end if;
    if p_agent.aging is not null or p_agent.is_fair_by_customer then
        return forebay._ranked_line(p_agent, p_limit, p_floor, p_now, p_locks, v_capped, v_learned);
    elsif not p_locks then
        return forebay._strict_line(p_agent, p_limit, p_floor, p_now, v_capped, v_learned);
    end if;
    return array(
        select forebay._lined_up(p_agent, h, v_learned, p_now)
        from (
            select t.* from forebay.tasks as t
            where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready
                and t.priority >= coalesce(p_floor, -32768) and (t.customer is null or t.customer <> all(v_capped))
            order by t.priority desc, t.created_at, t.task_id
            limit p_limit
            for no key update skip locked
        ) as h
        order by h.priority desc, h.created_at, h.task_id
    );
end;
$function$;

comment on function forebay._line is 'The first p_limit tasks in the agent''s line that have priority p_floor and more (null: any).';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_line.sql', 'repeatable', '76e16240433b36a24309aaad6eafcdec847bbef55b8f174917deb3665aa1ce64', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_line_key.sql
create or replace function forebay._line_key(p_agent text)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- The key of the advisory lock of those who put tasks in the agent's line: shared by all of them, so that a change of how
-- the line is kept, or how long it may be, comes before or after each.
select hashtextextended('forebay.line ' || p_agent, 0);
$function$;

comment on function forebay._line_key is 'The key of the advisory lock of those who put tasks in the agent''s line: shared by all of them, so that a change of how the line is kept, or how long it may be, comes before or after each.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_line_key.sql', 'repeatable', 'e550d2a752f5f98e463ce2a2c9a32e1bb76a0636e704d953652380dd548457ab', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_line_state.sql
create or replace function forebay._line_state(
    p_agent     text,
    p_now       timestamptz,
    out waiting bigint,
    out delayed bigint
)
    language sql
    stable
    security invoker
as $function$
-- How many of the agent's tasks wait, those that are due and not woken yet included; and how many are delayed.
select count(*) filter (where t.is_due), count(*) filter (where not t.is_due)
from (
    select true as is_due from forebay.tasks as r
    where r.agent = p_agent and r.status = 'enqueued' and r.is_ready
    union all
    select d.available_at <= p_now from forebay.tasks as d
    where d.agent = p_agent and d.status = 'enqueued' and not d.is_ready
) as t;
$function$;

comment on function forebay._line_state is
'How many of the agent''s tasks wait, those that are due and not woken yet included; and how many are delayed.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_line_state.sql', 'repeatable', '16ecd464af6a422e83f072dc7be06b08dba6add9c74cca4232ad904c8503b3fe', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lined_up.sql
create or replace function forebay._lined_up(
    p_agent   forebay.agents,
    p_task    forebay.tasks,
    p_learned forebay.learned,
    p_now     timestamptz
)
    returns forebay.lined_up
    language sql
    stable
    security invoker
as $function$
-- The task as it stands in line; where nobody weighs what it will use (p_learned is null), that is its estimate, a fifth of
-- it output.
select (
    p_task.task_id, forebay._effective_priority(p_agent, p_task, p_now), p_task.customer,
    greatest(interval '0', p_now - greatest(p_task.created_at, p_task.available_at)),
    forebay._estimate(p_agent, p_task),
    case
        when (p_learned).samples is not null then forebay._expect(p_agent, p_learned, p_task.estimated_tokens)
        else (
            1, (forebay._estimate(p_agent, p_task) * 4 + 4) / 5,
            forebay._estimate(p_agent, p_task) - (forebay._estimate(p_agent, p_task) * 4 + 4) / 5, 0
        )::forebay.expected_use
    end
)::forebay.lined_up;
$function$;

comment on function forebay._lined_up is 'The task as it stands in line; where nobody weighs what it will use (p_learned is null), that is its estimate, a fifth of it output.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lined_up.sql', 'repeatable', 'b13dc90e2418c9d6e14e6baf20a5b805a1fdb17ce77a383805f50c3acf59b1d6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_agent.sql
create or replace function forebay._lock_agent(p_agent text, p_waits boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock the agent to admit for it: alone, by its budget row, when it has limits; beside others when there is nothing to count.
--
-- The shared lock of an agent without limits is an advisory one, since a shared row lock would write; _lock_definition
-- excludes both. Whether there are limits is read again under the lock: a first one may have come meanwhile.
--
-- Errors  55P03  somebody else holds it, and p_waits is false
declare
    v_is_limited boolean := forebay._is_limited(forebay._get_agent(p_agent))
        or forebay._is_limited(forebay._get_effective(p_agent, forebay._now()));
begin
    if v_is_limited and p_waits then
        perform 1 from forebay.agent_budgets as b where b.agent = p_agent for no key update;
    elsif v_is_limited then
        perform 1 from forebay.agent_budgets as b where b.agent = p_agent for no key update nowait;
    elsif p_waits then
        perform pg_advisory_xact_lock_shared(forebay._agent_key(p_agent));
    elsif not pg_try_advisory_xact_lock_shared(forebay._agent_key(p_agent)) then
        raise lock_not_available using message = format('agent "%s" is being changed', p_agent);
    end if;
    if not v_is_limited and forebay._is_limited(forebay._get_agent(p_agent)) then
        perform forebay._lock_agent(p_agent, p_waits);
    end if;
end;
$function$;

comment on function forebay._lock_agent is 'Lock the agent to admit for it: alone, by its budget row, when it has limits; beside others when there is nothing to count.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_agent.sql', 'repeatable', 'd4cf48cc8e8a40570a50f0f2ca7349405f37bede255a7ad1e6a558a405a49980', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_attempt.sql
create or replace function forebay._lock_attempt(p_attempt_id bigint)
    returns forebay.held_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock an attempt's task, then the attempt and the task's current attempt by id; return task and attempt as they are then.
--
-- Errors  22023  p_attempt_id is null
--         QF304  there is no such attempt
declare
    v_task    forebay.tasks;
    v_attempt forebay.task_attempts;
begin
    v_attempt := forebay._get_attempt(p_attempt_id);
    select t.* into v_task from forebay.tasks as t where t.task_id = v_attempt.task_id for no key update;
    perform 1 from forebay.task_attempts as a
    where a.attempt_id in (p_attempt_id, v_task.attempt_id)
    order by a.attempt_id
    for no key update;
    return (v_task, forebay._get_attempt(p_attempt_id))::forebay.held_attempt;
end;
$function$;

comment on function forebay._lock_attempt is 'Lock an attempt''s task, then the attempt and the task''s current attempt by id; return task and attempt as they are then.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_attempt.sql', 'repeatable', '7223dafda72c4c0d5c2855bc73e5d5b08bc1a2b15d59ef97bb5d48325ac8122c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_customers.sql
create or replace function forebay._lock_customers(p_customers text[], p_waits boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock those of the customers that have a cap, by name.
--
-- Errors  55P03  somebody else is admitting for one of them, and p_waits is false
begin
    if p_waits then
        perform 1 from forebay.customers as c
        where c.customer = any(p_customers) and c.max_usd_per_day is not null
        order by c.customer
        for no key update;
    else
        perform 1 from forebay.customers as c
        where c.customer = any(p_customers) and c.max_usd_per_day is not null
        order by c.customer
        for no key update nowait;
    end if;
end;
$function$;

comment on function forebay._lock_customers is 'Lock those of the customers that have a cap, by name.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_customers.sql', 'repeatable', '9162de0cc1f07345bbffe171f59fc8f05039ff13cc6e17bebd970abdcbf1a5af', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_definition.sql
create or replace function forebay._lock_definition(p_agent text)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock an agent, or every one (p_agent null) by name, against admissions: it waits for those that are under way.
declare
    v_agent text;
begin
    for v_agent in
        select p_agent where p_agent is not null
        union all
        (select a.agent from forebay.agents as a where p_agent is null order by a.agent)
    loop
        perform pg_advisory_xact_lock(forebay._agent_key(v_agent));
    end loop;
    perform 1 from forebay.agent_budgets as b
    where p_agent is null or b.agent = p_agent
    order by b.agent
    for no key update;
end;
$function$;

comment on function forebay._lock_definition is 'Lock an agent, or every one (p_agent null) by name, against admissions: it waits for those that are under way.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_definition.sql', 'repeatable', 'bdce51e1f5876c48acc110fe5cac424333d934121af9121b2ad542e29e91d81f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_end_of_line.sql
create or replace function forebay._lock_end_of_line(p_agent forebay.agents)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Let one transaction at a time add to the line of an agent that has max_waiting.
--
-- Errors  25001  the transaction is not READ COMMITTED: it could not count what others added
begin
    perform forebay._require_read_committed(format('adding to the bounded line of agent "%s"', p_agent.agent));
    perform pg_advisory_xact_lock(hashtextextended('forebay.end of line ' || p_agent.agent, 0));
end;
$function$;

comment on function forebay._lock_end_of_line is 'Let one transaction at a time add to the line of an agent that has max_waiting.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_end_of_line.sql', 'repeatable', '845a57dbe7caf14e9c3b2491ebb50f1152111273e52a13f3141f8e1f6baa2805', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_open_upload.sql
create or replace function forebay._lock_open_upload(p_upload_id uuid, p_actor text)
    returns forebay.uploads
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock p_actor's upload of that id, which was neither submitted nor dropped.
--
-- Locks   the upload
-- Errors  22023  an argument is null
--         QF203  it was submitted
--         QF306  p_actor has no such upload, or it was dropped
declare
    v_upload forebay.uploads := forebay._lock_upload(p_upload_id, p_actor);
begin
    if v_upload.dropped_at is not null then
        raise exception 'upload % ("%") was dropped', p_upload_id, v_upload.name
            using errcode = 'QF306', hint = 'Upload the file again.';
    end if;
    return v_upload;
end;
$function$;

comment on function forebay._lock_open_upload is 'Lock p_actor''s upload of that id, which was neither submitted nor dropped.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_open_upload.sql', 'repeatable', '90e8401c1149e9923a7cb2119185bae3a591e6d0cffeb572a633a890a89c35de', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_quotas.sql
create or replace function forebay._lock_quotas(p_agent forebay.agents, p_waits boolean)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock the quotas that the agent draws on, by name, and fold in what was settled meanwhile.
--
-- The lock is a statement of its own: what is read after it holds all that earlier holders wrote.
--
-- Writes  forebay.quota_slots, forebay.quota_limits, forebay.quota_settlements
-- Locks   the quotas, by name
-- Errors  55P03  somebody else holds one, and p_waits is false
declare
    v_quota text;
begin
    if p_agent.quotas = '{}' then
        return;
    elsif p_waits then
        perform 1 from forebay.quotas as q where q.quota = any(p_agent.quotas) order by q.quota for no key update;
    else
        perform 1 from forebay.quotas as q where q.quota = any(p_agent.quotas) order by q.quota for no key update nowait;
    end if;
    foreach v_quota in array p_agent.quotas loop
        perform forebay._fold_quota(v_quota, forebay._now());
    end loop;
end;
$function$;

comment on function forebay._lock_quotas is 'Lock the quotas that the agent draws on, by name, and fold in what was settled meanwhile.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_quotas.sql', 'repeatable', 'cc76e52192d82bb1861f9a6e6d6c99965a2e583eb168e8fdd63b4f594a4389ed', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_tasks.sql
create or replace function forebay._lock_tasks(p_task_ids bigint[], p_attempt_ids bigint[] default '{}')
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock the tasks by id, then by id their current attempts and those of p_attempt_ids.
--
-- The attempts in a statement of their own: only a snapshot taken after the tasks are held shows which are current.
begin
    perform 1 from forebay.tasks as t
    where t.task_id = any(p_task_ids)
    order by t.task_id
    for no key update;

    perform 1 from forebay.task_attempts as a
    where a.attempt_id = any(
        p_attempt_ids || array(select t.attempt_id from forebay.tasks as t where t.task_id = any(p_task_ids))
    )
    order by a.attempt_id
    for no key update;
end;
$function$;

comment on function forebay._lock_tasks is 'Lock the tasks by id, then by id their current attempts and those of p_attempt_ids.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_tasks.sql', 'repeatable', '1bb59ed43fc4a526ebc6360901fbccf3e9b9c0fe92e791a235dcbb1d2e861a71', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lock_upload.sql
create or replace function forebay._lock_upload(p_upload_id uuid, p_actor text)
    returns forebay.uploads
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock p_actor's upload of that id, which was not submitted yet; somebody else's answers as if it did not exist.
--
-- Locks   the upload
-- Errors  22023  an argument is null
--         QF203  it was submitted
--         QF306  p_actor has no such upload
declare
    v_upload forebay.uploads;
    v_actor  text := p_actor;
begin
    if p_upload_id is null or p_actor is null then
        raise exception 'p_upload_id and p_actor must not be null' using errcode = '22023';
    end if;
    select u.* into v_upload from forebay.uploads as u
    where u.upload_id = p_upload_id and forebay._is_person(u.owner, v_actor)
    for no key update;
    if not found then
        raise exception 'upload % does not exist', p_upload_id using errcode = 'QF306', hint = 'Upload the file again.';
    end if;
    if v_upload.task_id is not null then
        raise exception 'upload % ("%") was submitted before, as task %', p_upload_id, v_upload.name, v_upload.task_id
            using errcode = 'QF203', hint = 'To hand the file in once more, upload it again.';
    end if;
    return v_upload;
end;
$function$;

comment on function forebay._lock_upload is 'Lock p_actor''s upload of that id, which was not submitted yet; somebody else''s answers as if it did not exist.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lock_upload.sql', 'repeatable', 'ce64f17ca812a8d2f5649353af7560ddf59ceca63071f93611259d2fcca7f343', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_look_again_at.sql
create or replace function forebay._look_again_at(
    p_free_at timestamptz,
    p_period  interval,
    p_calls   bigint,
    p_now     timestamptz
)
    returns timestamptz
    language sql
    stable
    security invoker
as $function$
-- When a call that waits for a limit asks again: when there is room for it (null: nobody knows), or sooner.
--
-- Room may come sooner than foreseen, from calls that end, or that used less than they were granted. So a call looks again
-- after half a second (a twelfth of a shorter period, a twentieth of a second where calls are counted), and a twentieth
-- more for each of the p_calls before it: those in front look often, and however many wait, they look less than 100 times a
-- second.
select least(
    greatest(coalesce(p_free_at, 'infinity'), p_now + interval '5 milliseconds'),
    p_now + p_calls * interval '50 milliseconds' + case
        when p_period = '0' then interval '50 milliseconds'
        else least(interval '500 milliseconds', p_period / 12)
    end
);
$function$;

comment on function forebay._look_again_at is 'When a call that waits for a limit asks again: when there is room for it (null: nobody knows), or sooner.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_look_again_at.sql', 'repeatable', '5522b8fb4ad3ccd769e1863ae275332b497039387ce45d8532c6acb6351d12dd', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_lowered.sql
create or replace function forebay._lowered(p_limit bigint, p_share numeric)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- A share of a limit, in whole units: at least 1, but 0 stays 0 and no limit (null) none.
select case when p_limit is not null then least(p_limit, greatest(1, floor(p_limit * p_share)))::bigint end;
$function$;

comment on function forebay._lowered is 'A share of a limit, in whole units: at least 1, but 0 stays 0 and no limit (null) none.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_lowered.sql', 'repeatable', '01f4c6b016366973edb35b75bb5e0a0a00ec872b7339f3a8c35f626c88aac944', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_mask_attempts.sql
create or replace function forebay._mask_attempts(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit attempts after the id p_after with their calls, and return the last one's id; null when there are no more.
--
-- One that holds its claim keeps the worker's name and the launch token, which it is known by: in a branch there is none.
--
-- Writes  forebay.task_attempts, forebay.attempt_usage, forebay.attempt_calls, forebay.masked_names
-- Locks   the attempts, by id
declare
    v_ids bigint[];
begin
    select array_agg(locked.attempt_id) into v_ids from (
        select a.attempt_id from forebay.task_attempts as a
        where p_after is null or a.attempt_id > p_after::bigint
        order by a.attempt_id
        limit p_limit
        for update
    ) as locked;

    update forebay.task_attempts as a
    set customer = forebay._alias('customer', a.customer),
        worker = case when a.finished_at is null then a.worker else forebay._alias('worker', a.worker) end,
        launch_token = case when a.finished_at is null then a.launch_token else 'masked ' || a.attempt_id end,
        run_state = forebay._masked_run_state(a.run_state), error = forebay._masked_error(a.error),
        result = case when a.result is not null then '{}'::jsonb end
    where a.attempt_id = any(v_ids);
    update forebay.attempt_usage as u set call_id = 'call ' || forebay._chance()
    where u.attempt_id = any(v_ids) and u.call_id !~ '^call [0-9a-f]{12}$';
    update forebay.attempt_calls as c set call_id = 'call ' || forebay._chance()
    where c.attempt_id = any(v_ids) and c.call_id !~ '^call [0-9a-f]{12}$' and c.is_over;
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_attempts is
'Mask the next p_limit attempts after the id p_after with their calls, and return the last one''s id; null when there are no more.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_mask_attempts.sql', 'repeatable', '73f95c639156e49c6612ce0e14fd6942b674940e965d92deac020dc815e004e8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_mask_audit.sql
create or replace function forebay._mask_audit(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit entries of the audit log after the id p_after, and return the last one's id; null when there are no more.
--
-- Writes  forebay.audit_log, forebay.masked_names
declare
    v_ids bigint[];
begin
    v_ids := array(
        select l.audit_id from forebay.audit_log as l
        where p_after is null or l.audit_id > p_after::bigint
        order by l.audit_id
        limit p_limit
    );
    update forebay.audit_log as l
    set session_role = forebay._alias('person', l.session_role), actor = forebay._alias('person', l.actor),
        reason = case when l.reason is not null then 'masked' end,
        details = case when l.details is not null then '{}'::jsonb end
    where l.audit_id = any(v_ids);
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_audit is
'Mask the next p_limit entries of the audit log after the id p_after, and return the last one''s id; null when there are no more.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_mask_audit.sql', 'repeatable', 'fdca59c078a4d85279e356f517508d31062ad74dd64af915fec7acf999849cfa', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_mask_batches.sql
create or replace function forebay._mask_batches(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit batches after the id p_after, and return the last one's id; null when there are no more.
--
-- Writes  forebay.batches, forebay.masked_names
-- Locks   the batches, by id
declare
    v_ids bigint[];
begin
    select array_agg(locked.batch_id) into v_ids from (
        select b.batch_id from forebay.batches as b
        where p_after is null or b.batch_id > p_after::bigint
        order by b.batch_id
        limit p_limit
        for update
    ) as locked;

    update forebay.batches as b
    set name = 'batch ' || b.batch_id, customer = forebay._alias('customer', b.customer),
        owner = forebay._alias('person', b.owner), metadata = '{}', submission_key = null
    where b.batch_id = any(v_ids);
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_batches is 'Mask the next p_limit batches after the id p_after, and return the last one''s id; null when there are no more.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_mask_batches.sql', 'repeatable', '37dc9730b10db5a99b1fdb05741faf3f700b8e648fdbd3e5a6ff82701a3c6a65', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_mask_customers.sql
create or replace function forebay._mask_customers()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Give customers their made-up names in what has few rows, and find names for those of what has many.
--
-- Who had how many turns is forgotten: all customers begin anew.
--
-- Writes  forebay.customers, forebay.spend_lifts, spend_entries, task_changes, masked_names; deletes from customer_turns
begin
    delete from forebay.customer_turns;
    update forebay.customers as c set customer = forebay._alias('customer', c.customer);
    update forebay.spend_lifts as l set customer = forebay._alias('customer', l.customer) where l.customer <> '';
    update forebay.spend_entries as e set customer = forebay._alias('customer', e.customer) where e.customer <> '';
    update forebay.task_changes as c set customer = forebay._alias('customer', c.customer) where c.customer <> '';
    perform forebay._alias('customer', found.customer)
    from (
        select d.customer from forebay.daily_spend as d
        union
        select r.customer from forebay.task_rollups as r where r.is_by_customer
    ) as found;
end;
$function$;

comment on function forebay._mask_customers is 'Give customers their made-up names in what has few rows, and find names for those of what has many.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_mask_customers.sql', 'repeatable', '97a4c6fca6c6b5cffd2af49a8eaa03d3a364baecc8db4808469ef8f8070873b2', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_mask_rest.sql
create or replace function forebay._mask_rest()
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask what has few rows, forget what names somebody for a moment, and last what leads from a made-up name back.
--
-- Returns  null: there is no more
-- Writes   forebay.agents.pause_reason, forebay.schema_history.applied_by; deletes from forebay.announcements, dispatchers,
--          launcher_faults, masked_names
begin
    delete from forebay.announcements;
    delete from forebay.dispatchers;
    delete from forebay.launcher_faults;
    update forebay.agents as a set pause_reason = 'masked'
    where a.pause_reason not in ('masked', 'this is a branch');
    update forebay.schema_history as h set applied_by = 'masked' where h.applied_by <> 'masked';
    delete from forebay.masked_names;
    return null;
end;
$function$;

comment on function forebay._mask_rest is 'Mask what has few rows, forget what names somebody for a moment, and last what leads from a made-up name back.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_mask_rest.sql', 'repeatable', '54c8476562187e7a6d41a0723fe1cdf5822d6b22e45009c5add0f063eac03521', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_mask_spending.sql
create or replace function forebay._mask_spending(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Give customers their made-up names where spending and tasks are added up: p_limit rows or one customer more, after p_after.
--
-- Returns  the last customer that was done; null when there are no more
-- Writes   forebay.customers, forebay.spend_lifts, spend_entries, daily_spend, task_changes, task_rollups, masked_names;
--          deletes from customer_turns
-- Locks    the advisory locks of both folds
declare
    v_name forebay.masked_names;
    v_rows integer := 0;
begin
    perform pg_advisory_xact_lock(hashtextextended('forebay.daily_spend', 0));
    perform pg_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0));
    if p_after is null then
        perform forebay._mask_customers();
    end if;
    for v_name in
        select n.* from forebay.masked_names as n
        where n.kind = 'customer' and n.name > coalesce(p_after, '')
        order by n.name
    loop
        v_rows := v_rows + forebay._rename_spending(v_name.name, v_name.alias);
        if v_rows >= p_limit then
            return v_name.name;
        end if;
    end loop;
    return null;
end;
$function$;

comment on function forebay._mask_spending is
'Give customers their made-up names where spending and tasks are added up: p_limit rows or one customer more, after p_after.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_mask_spending.sql', 'repeatable', 'e9d308c271fead7a459faa3565c743f2ec14f8aea627d6972999797df0b114b9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_mask_tasks.sql
create or replace function forebay._mask_tasks(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit tasks after the id p_after, and return the last one's id; null when there are no more.
--
-- Writes  forebay.tasks, forebay.masked_names
-- Locks   the tasks, by id
declare
    v_ids bigint[];
begin
    select array_agg(locked.task_id) into v_ids from (
        select t.task_id from forebay.tasks as t
        where p_after is null or t.task_id > p_after::bigint
        order by t.task_id
        limit p_limit
        for update
    ) as locked;

    update forebay.tasks as t
    set customer = forebay._alias('customer', t.customer), idempotency_key = null, payload = '{}',
        result = case when t.result is not null then '{}'::jsonb end, error = forebay._masked_error(t.error)
    where t.task_id = any(v_ids);
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_tasks is 'Mask the next p_limit tasks after the id p_after, and return the last one''s id; null when there are no more.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_mask_tasks.sql', 'repeatable', 'e35736677d2e72a59ddb424410635e3f4e8e7ced786f875abfbc6b4461c8aabc', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_mask_uploads.sql
create or replace function forebay._mask_uploads(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit uploads after the id p_after, and return the last one's id; null when there are no more.
--
-- None can be submitted any more, and none will be cleaned up after: where the files are is not known here.
--
-- Writes  forebay.uploads, forebay.masked_names
-- Locks   the uploads, by id
declare
    v_ids uuid[];
    v_now timestamptz := forebay._now();
begin
    select array_agg(locked.upload_id) into v_ids from (
        select u.upload_id from forebay.uploads as u
        where p_after is null or u.upload_id > p_after::uuid
        order by u.upload_id
        limit p_limit
        for update
    ) as locked;

    update forebay.uploads as u
    set owner = forebay._alias('person', u.owner), name = 'masked.pdf', document = 'masked/' || u.upload_id,
        dropped_at = case when u.task_id is null then coalesce(u.dropped_at, v_now) end,
        cleaned_at = coalesce(u.cleaned_at, v_now)
    where u.upload_id = any(v_ids);
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_uploads is 'Mask the next p_limit uploads after the id p_after, and return the last one''s id; null when there are no more.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_mask_uploads.sql', 'repeatable', '3899afd6672d61b2454897bbcd67adbbf11362e7b6ef0be703710fa9bba17b02', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_masked_error.sql
create or replace function forebay._masked_error(p_error jsonb)
    returns jsonb
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The error without its text: only its kind, as far as that is a word of ours. Null for none.
begin
    return case
        when p_error is null then null
        when p_error ->> 'kind' = 'released' or exists (
            select from forebay.error_policies as p where p.kind = p_error ->> 'kind'
        ) then jsonb_build_object('kind', p_error ->> 'kind', 'message', 'masked')
        else '{"kind": "agent_bug", "message": "masked"}'::jsonb
    end;
end;
$function$;

comment on function forebay._masked_error is 'The error without its text: only its kind, as far as that is a word of ours. Null for none.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_masked_error.sql', 'repeatable', '874ac4621f6c407773b58a8ed157d7827af4032f686cce147f3aebadf01f9854', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_masked_run_state.sql
create or replace function forebay._masked_run_state(p_run jsonb)
    returns jsonb
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What was seen of a run without its text: the words for its state, its result and its code. Null for nothing.
begin
    return (
        select jsonb_object_agg(said.key, said.value)
        from jsonb_each(p_run) as said
        where said.key in ('life_cycle_state', 'result_state', 'termination_code') and said.value #>> '{}' ~ '^[A-Z0-9_]{1,60}$'
    );
end;
$function$;

comment on function forebay._masked_run_state is 'What was seen of a run without its text: the words for its state, its result and its code. Null for nothing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_masked_run_state.sql', 'repeatable', '821a0fb045afa96dd3b5da2ca94c9658aa0c0d9c0141323b92bebaa6981cd6f1', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_match_keys.sql
create or replace function forebay._match_keys(p_rows forebay.tasks[])
    returns setof forebay.enqueued_task
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say which task each row of an insertion became: itself, or the one that had its idempotency key before.
--
-- Errors  40001  the task with the key went away at this moment
--         QF201  the task with the key has another payload
declare
    v_match record;
begin
    for v_match in
        select
            r.ordinal,
            r.task_id as wanted_id,
            r.idempotency_key,
            case when r.idempotency_key is null then r.task_id else t.task_id end as task_id,
            t.payload <> r.payload as differs
        from (select n.*, row_number() over () as ordinal from unnest(p_rows) as n) as r
        left join forebay.tasks as t on t.agent = r.agent and t.idempotency_key = r.idempotency_key
        order by r.ordinal
    loop
        if v_match.task_id is null then
            raise exception 'task %: the task with key "%" went away at this moment', v_match.ordinal, v_match.idempotency_key
                using errcode = '40001', hint = 'Try again.';
        end if;
        if v_match.differs then
            raise exception 'task %: key "%" was used before with another payload, for task %',
                v_match.ordinal, v_match.idempotency_key, v_match.task_id
                using errcode = 'QF201', hint = 'Use one key for one piece of work, or leave it out.';
        end if;
        return next (v_match.ordinal::integer, v_match.task_id, v_match.task_id = v_match.wanted_id)::forebay.enqueued_task;
    end loop;
end;
$function$;

comment on function forebay._match_keys is 'Say which task each row of an insertion became: itself, or the one that had its idempotency key before.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_match_keys.sql', 'repeatable', 'c10bf1077ec8cc4237b0ac0014b744421a4ba41dcb12708e309d6e235367e8a6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_matching_tasks.sql
create or replace function forebay._matching_tasks(
    p_from      timestamptz,
    p_to        timestamptz,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.tasks
    language sql
    stable
    security invoker
as $function$
-- The tasks that the five filters let through; a null filter lets all through. Inlined into its callers, so it pins no path.
select t.*
from forebay.tasks as t
where (p_from is null or t.created_at >= p_from)
    and (p_to is null or t.created_at < p_to)
    and (p_statuses is null or t.status = any(p_statuses))
    and (p_agents is null or t.agent = any(p_agents))
    and (p_customers is null or coalesce(t.customer, '') = any(p_customers));
$function$;

comment on function forebay._matching_tasks is 'The tasks that the five filters let through; a null filter lets all through. Inlined into its callers, so it pins no path.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_matching_tasks.sql', 'repeatable', '573cebacef44cc4168036f36240a75a87d56c6b845b5ceb51b0d1ffc6bb66f21', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_may_defer.sql
create or replace function forebay._may_defer(p_agent forebay.agents, p_task forebay.tasks, p_now timestamptz)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether the task may be deferred once more: not too often, and not too long after it was deferred first.
select p_task.deferral_count < p_agent.max_deferrals
    and p_now < coalesce(p_task.deferred_since, p_now) + forebay._exact(p_agent.max_deferral_time);
$function$;

comment on function forebay._may_defer is 'Whether the task may be deferred once more: not too often, and not too long after it was deferred first.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_may_defer.sql', 'repeatable', 'bc0d72ace88cb297ee3c4de996a5ea35fad97f5711331187c4fb7b802de11b18', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_may_dispatch.sql
create or replace function forebay._may_dispatch()
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether tasks may start here: in what was installed, and in a copy that an operator opened in this place.
begin
    return (
        select not forebay._is_copy(i)
            or coalesce(i.opened_in = forebay._cluster(), false) and forebay._is_here(i.opened_home)
        from forebay.installation as i
    );
end;
$function$;

comment on function forebay._may_dispatch is 'Whether tasks may start here: in what was installed, and in a copy that an operator opened in this place.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_may_dispatch.sql', 'repeatable', '4459ef67a9629b641454a23a4a48d38a24ebeeb848765717feb35c6c7c129508', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_may_retry.sql
create or replace function forebay._may_retry(p_agent forebay.agents, p_attempt_count integer, p_max_attempts integer)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a task that spent p_attempt_count attempts has one left; its own p_max_attempts goes before the agent's.
select p_attempt_count < coalesce(p_max_attempts, p_agent.max_attempts);
$function$;

comment on function forebay._may_retry is 'Whether a task that spent p_attempt_count attempts has one left; its own p_max_attempts goes before the agent''s.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_may_retry.sql', 'repeatable', 'ae5a265c8ac8c8a4fe5c46a0c5c40a445a3abe4d9448ec85bb5ac38fabc0333e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_may_start.sql
create or replace function forebay._may_start(p_task forebay.tasks, p_at timestamptz, p_is_alone boolean)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a dequeue at p_at would take the enqueued task if nothing changed before: it asks what dequeue asks.
--
-- With p_is_alone as if no other task waited. Else those before it are looked at, 100 at most: a task behind as many depends
-- on others anyway.
declare
    v_agent   forebay.agents := forebay._get_effective(p_task.agent, p_at);
    v_room    integer := forebay._room(v_agent, p_at);
    v_limit   integer;
    v_learned forebay.learned;
begin
    if p_task.available_at > p_at or v_agent.paused_until > p_at or v_room = 0 then
        return false;
    elsif p_is_alone then
        v_learned := forebay._learned(v_agent.agent);
        return (forebay._fitting(v_agent, array[forebay._lined_up(v_agent, p_task, v_learned, p_at)], 1, p_at)).places <> '{}';
    end if;
    v_limit := least(v_room, forebay._count_ahead(p_task, p_at) + 1, 100)::integer;
    return exists (
        select from unnest(forebay._pick(v_agent, v_limit, null, p_at, false)) as p where p.task_id = p_task.task_id
    );
end;
$function$;

comment on function forebay._may_start is 'Whether a dequeue at p_at would take the enqueued task if nothing changed before: it asks what dequeue asks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_may_start.sql', 'repeatable', '2adc917a4b97ef6c2e3f4df1fe734d64a0e78e10bf60a312987188c20a74c9ec', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_measure.sql
create or replace function forebay._measure(p_attempt_id bigint)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add up what the attempt's calls used, on its row; the caller holds it and its task.
--
-- An unknown number adds nothing, and then the usage as a whole is not known. A call that used nothing, such as one that
-- the provider refused, is none.
--
-- Writes  forebay.task_attempts
declare
    v_source text := forebay._usage_source(p_attempt_id);
begin
    update forebay.task_attempts as a
    set used_input_tokens = used.input_tokens, used_output_tokens = used.output_tokens,
        used_cached_tokens = used.cached_tokens, used_calls = used.calls, is_usage_known = used.is_known
    from (
        select
            coalesce(sum(u.input_tokens), 0)::bigint as input_tokens,
            coalesce(sum(u.output_tokens), 0)::bigint as output_tokens,
            coalesce(sum(u.cached_tokens), 0)::bigint as cached_tokens,
            (count(*) filter (where u.input_tokens + u.output_tokens is distinct from 0 or u.pages > 0))::integer as calls,
            coalesce(bool_and(u.input_tokens is not null and u.output_tokens is not null), false) as is_known
        from forebay.attempt_usage as u
        where u.attempt_id = p_attempt_id and u.source = v_source
    ) as used
    where a.attempt_id = p_attempt_id;
end;
$function$;

comment on function forebay._measure is 'Add up what the attempt''s calls used, on its row; the caller holds it and its task.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_measure.sql', 'repeatable', '654b1eba84b5d2bbcfb3f3469a077f796af31f684b1ec36f32f07c01c673332d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_moment_words.sql
create or replace function forebay._moment_words(p_at timestamptz, p_now timestamptz)
    returns text
    language sql
    stable
    security invoker
as $function$
-- A moment as a sentence names it, in the session's time zone: the day only when it is further than 12 hours off.
select to_char(
    p_at,
    case when p_at between p_now - interval '12 hours' and p_now + interval '12 hours' then '' else 'YYYY-MM-DD ' end
    || 'HH24:MI:SS TZ'
);
$function$;

comment on function forebay._moment_words is
'A moment as a sentence names it, in the session''s time zone: the day only when it is further than 12 hours off.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_moment_words.sql', 'repeatable', 'c7a9665934a7a9bbf0dc03532a234217d70256f6723ab8f21d3920a27d97aec6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_move_ids.sql
create or replace function forebay._move_ids()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Have new batches, tasks and attempts of a branch numbered from a random multiple of 10^12 on: outside of it ids name one thing.
--
-- Up to 8 * 10^15, which JavaScript still holds exactly; a branch of a branch may come to lie below it.
--
-- Writes  the sequences of the ids
declare
    v_first bigint := (1 + floor(random() * 8000))::bigint * 1000000000000;
begin
    perform setval(pg_get_serial_sequence('forebay.batches', 'batch_id'), v_first);
    perform setval(pg_get_serial_sequence('forebay.tasks', 'task_id'), v_first);
    perform setval(pg_get_serial_sequence('forebay.task_attempts', 'attempt_id'), v_first);
end;
$function$;

comment on function forebay._move_ids is
'Have new batches, tasks and attempts of a branch numbered from a random multiple of 10^12 on: outside of it ids name one thing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_move_ids.sql', 'repeatable', 'a82f508825cd11e1f0830feeca516b348d209e038c3c81e451392f5497501aec', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_names.sql
create or replace function forebay._names(p_names text[], p_name text)
    returns text[]
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The distinct names of p_names, sorted.
--
-- Errors  22023  the array or one of its elements is null, or an element is empty or longer than 200 characters
begin
    if p_names is null or array_position(p_names, null) is not null then
        raise exception '% must not be null or hold null', p_name using errcode = '22023';
    end if;
    if exists (select from unnest(p_names) as names (name) where char_length(names.name) not between 1 and 200) then
        raise exception '% must hold names of 1 to 200 characters', p_name using errcode = '22023';
    end if;
    return array(select names.name from unnest(p_names) as names (name) group by names.name order by names.name collate "C");
end;
$function$;

comment on function forebay._names is 'The distinct names of p_names, sorted.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_names.sql', 'repeatable', '4b98395b29edf3db3bf636f18c26d2b17235c1ddd70b16a5d42a98c9511bf6f4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_need.sql
create or replace function forebay._need(
    p_unit    text,
    p_seconds double precision,
    p_uses    forebay.expected_use,
    p_pace    double precision
)
    returns double precision
    language sql
    immutable
    security invoker
as $function$
-- How much of a quota's unit a task that starts now will have used in p_seconds, at p_pace tokens a second (null: all of it).
--
-- At 0 seconds that is its first call.
select case
    when p_unit = 'concurrent_calls' then 1
    when p_seconds = 0 then forebay._in_unit(p_unit, 1, first_call.input_tokens, first_call.output_tokens)
    else greatest(
        case when p_unit = 'requests' then 1 else 0 end,
        forebay._within(
            forebay._in_unit(p_unit, p_uses.calls, p_uses.input_tokens, p_uses.output_tokens),
            p_uses.input_tokens + p_uses.output_tokens, p_pace, p_seconds
        )
    )
end
from forebay._first_call(p_uses) as first_call;
$function$;

comment on function forebay._need is 'How much of a quota''s unit a task that starts now will have used in p_seconds, at p_pace tokens a second (null: all of it).';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_need.sql', 'repeatable', 'ff9ad8c22d063b0afc19cd8e6d996cc3422a49b09861b35f3f1a717484cc70ae', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_newest_of_agents.sql
create or replace function forebay._newest_of_agents(
    p_filter    forebay.task_filter,
    p_before_at timestamptz,
    p_before_id bigint,
    p_limit     integer
)
    returns setof bigint
    language plpgsql
    stable
    security invoker
    rows 100
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- The newest tasks that a filter lets through, newest first; read by agent and status.
--
-- What the index answers is not asked of the row again: the planner would take it for one more condition.
-- _newest_of_customers is the same by another index, and changes with it.
declare
    v_agents text[] := coalesce(p_filter.agents, array(select a.agent from forebay.agents as a));
    v_rest   forebay.task_filter := p_filter;
begin
    v_rest.statuses := null;
    v_rest.agents := null;
    return query
    select newest.task_id
    from (select distinct a.agent from unnest(v_agents) as a (agent)) as names
    cross join forebay._wanted_statuses(p_filter) as words (status)
    cross join lateral (
        select t.task_id, t.created_at from forebay.tasks as t
        where t.agent = names.agent and t.status = words.status and forebay._passes(t, v_rest)
            and (t.created_at, t.task_id) < (p_before_at, p_before_id)
        order by t.created_at desc, t.task_id desc
        limit p_limit
    ) as newest
    order by newest.created_at desc, newest.task_id desc
    limit p_limit;
end;
$function$;

comment on function forebay._newest_of_agents is
'The newest tasks that a filter lets through, newest first; read by agent and status.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_newest_of_agents.sql', 'repeatable', 'd7f5052bbd12f16e01808dba42303d7ea9f230de605cc1251d16131df5601ebf', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_newest_of_customers.sql
create or replace function forebay._newest_of_customers(
    p_customers text[],
    p_filter    forebay.task_filter,
    p_before_at timestamptz,
    p_before_id bigint,
    p_limit     integer
)
    returns setof bigint
    language plpgsql
    stable
    security invoker
    rows 100
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- The newest tasks of customers that a filter lets through, its search aside; read by customer and status.
--
-- What the index answers is not asked of the row again: the planner would take it for one more condition.
-- _newest_of_agents is the same by another index, and changes with it.
declare
    v_rest forebay.task_filter := p_filter;
begin
    v_rest.statuses := null;
    v_rest.is_search := false;
    if not p_filter.is_search then
        v_rest.customers := null;
    end if;
    return query
    select newest.task_id
    from (select distinct c.customer from unnest(p_customers) as c (customer)) as names
    cross join forebay._wanted_statuses(p_filter) as words (status)
    cross join lateral (
        select t.task_id, t.created_at from forebay.tasks as t
        where t.customer = names.customer and t.status = words.status and forebay._passes(t, v_rest)
            and (t.created_at, t.task_id) < (p_before_at, p_before_id)
        order by t.created_at desc, t.task_id desc
        limit p_limit
    ) as newest
    order by newest.created_at desc, newest.task_id desc
    limit p_limit;
end;
$function$;

comment on function forebay._newest_of_customers is
'The newest tasks of customers that a filter lets through, its search aside; read by customer and status.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_newest_of_customers.sql', 'repeatable', 'dc7697c47050f60992ef2fb4968491481b39b7e7c3e83b27218b2f51dd19f072', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_next_round.sql
create or replace function forebay._next_round(p_agents text[], p_launchers text[], p_except text[])
    returns forebay.serving_round
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agents whose turn it is: those whose best waiting priority is highest, in random order; null agents when none is left.
--
-- Returns  floor: the priority down to which they are served before others come; null when nobody else waits
declare
    v_round forebay.serving_round;
begin
    with candidates as materialized (
        select c.agent, c.priority
        from forebay._candidates(p_agents, p_launchers) as c
        where c.agent <> all(p_except)
    ), best as (
        select max(c.priority) as priority from candidates as c
    ), rest as (
        select max(c.priority) as priority from candidates as c, best where c.priority < best.priority
    )
    select
        array_agg(c.agent order by random()),
        case when count(*) > 1 then best.priority else rest.priority + 1 end,
        count(*) = 1 and rest.priority is null
    into v_round
    from candidates as c
    inner join best on best.priority = c.priority
    cross join rest
    group by best.priority, rest.priority;
    return v_round;
end;
$function$;

comment on function forebay._next_round is 'The agents whose turn it is: those whose best waiting priority is highest, in random order; null agents when none is left.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_next_round.sql', 'repeatable', '262d6c317d5c45df08a0845b96f2e615d330fe4d3ebdab5daffbace029feb89d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_note_announcements.sql
create or replace function forebay._note_announcements(p_oldest_waiting interval)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note what began since the last look, and end what holds no more; when somebody else is at it, leave it to them.
--
-- A condition that holds is noted once, by the index of current ones. Pauses of a provider that follow one another within 5
-- minutes are one. What was settled a week ago is forgotten.
--
-- Writes  forebay.announcements, forebay.announcement_marks
-- Locks   an advisory lock, without waiting
declare
    v_now   timestamptz := forebay._now();
    v_found forebay.condition[];
begin
    if not pg_try_advisory_xact_lock(hashtextextended('forebay.announcements', 0)) then
        return;
    end if;
    v_found := array(select c from forebay._conditions(p_oldest_waiting, v_now) as c);
    insert into forebay.announcements (kind, subject, occurrence, details, occurred_at, created_at, next_try_at)
    select f.kind, f.subject, f.occurrence, f.details, f.occurred_at, v_now, v_now
    from (select c.* from unnest(v_found) as c union all select b.* from forebay._batches_done(v_now) as b) as f
    on conflict (kind, subject, occurrence) where ended_at is null do nothing;

    update forebay.announcements as n set ended_at = v_now
    where n.ended_at is null and n.kind in ('agent.paused', 'waiting.too_long')
        and not exists (select from unnest(v_found) as f where f.kind = n.kind and f.subject = n.subject)
        and not (
            n.kind = 'agent.paused' and exists (
                select from forebay.agents as a
                where a.agent = n.subject
                    and (forebay._throttle(a, v_now - interval '5 minutes')).paused_until is not null
            )
        );
    delete from forebay.announcements as n
    where n.settled_at < v_now - interval '7 days' and n.occurred_at < v_now - interval '14 days'
        and (n.ended_at is not null or n.kind in ('spend_cap.reached', 'batch.done'));
end;
$function$;

comment on function forebay._note_announcements is
'Note what began since the last look, and end what holds no more; when somebody else is at it, leave it to them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_note_announcements.sql', 'repeatable', 'd15d8a26929b4376544be9659e78631b029172d972f4a2601f043c9fa49dcf55', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_notify.sql
create or replace function forebay._notify(p_channel text, p_notified_until regclass)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Notify p_channel, unless so many others just did that it would only slow them down.
--
-- Every committing notifier takes one lock of the whole cluster, so under load most of them keep silent: the sequence holds
-- until when notifications have been spent, each costs 5 ms, and up to 20 may be spent ahead. When the rate is low nobody
-- is silenced. When it is high another notification follows within milliseconds, and listeners look once more after their
-- last wake-up. The clock here is the real one: a test's clock may stand still.
--
-- Writes  the sequence p_notified_until, which is shared and not transactional
declare
    v_now_ms bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
    v_until  bigint := coalesce(pg_sequence_last_value(p_notified_until), 0);
begin
    if v_until between v_now_ms + 100 and v_now_ms + 1000 then
        return;
    end if;
    perform setval(p_notified_until, case when v_until > v_now_ms + 1000 then v_now_ms else greatest(v_until, v_now_ms) end + 5);
    perform pg_notify(p_channel, '');
end;
$function$;

comment on function forebay._notify is 'Notify p_channel, unless so many others just did that it would only slow them down.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_notify.sql', 'repeatable', '5dc8fa1ba0122aac03a0ae92b7902a731df763d15b7d1a65ff628ab8a71b01cd', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_now.sql
create or replace function forebay._now()
    returns timestamptz
    language sql
    volatile
    security invoker
as $function$
-- The one clock: read it once into v_now, after the locks are held.
--
-- Tests install another body here; production has no switch that a caller could turn. A clock can step back, so nothing is
-- written as finished before it was started.
select clock_timestamp();
$function$;

comment on function forebay._now is 'The one clock: read it once into v_now, after the locks are held.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_now.sql', 'repeatable', 'f9db6e24961e35a4a3f1017bb5cc80ec05b0133d997195ae743bf43c33e57d30', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_number_words.sql
create or replace function forebay._number_words(p_number numeric)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- A number as a sentence names it: thousands apart, and up to four decimals of a small one.
select case
    when p_number = trunc(p_number) or abs(p_number) >= 100 then to_char(round(p_number), 'FM999,999,999,999,999,990')
    else trim_scale(round(p_number, 4))::text
end;
$function$;

comment on function forebay._number_words is 'A number as a sentence names it: thousands apart, and up to four decimals of a small one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_number_words.sql', 'repeatable', 'f532a9268dabe3b71a4cafd2315d10cd9fdeb3fecb663cca179351b3790e42a3', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_open_batch.sql
create or replace function forebay._open_batch(
    p_name           text,
    p_customer       text,
    p_owner          text,
    p_metadata       jsonb,
    p_submission_key text
)
    returns bigint
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Open a batch and return its id; null where p_owner has one of that submission key (null: none has it).
--
-- Writes  forebay.batches
-- Locks   p_owner's submission key
-- Errors  22023  a name, customer or owner is empty or too long, or p_metadata is no object
--         QF402  p_metadata is too large
declare
    v_batch_id bigint;
begin
    if p_name is null or char_length(p_name) not between 1 and 500 then
        raise exception 'p_name must have 1 to 500 characters' using errcode = '22023';
    end if;
    if char_length(p_customer) not between 1 and 200 or char_length(p_owner) not between 1 and 200 then
        raise exception 'p_customer and p_owner must have 1 to 200 characters, or be null' using errcode = '22023';
    end if;
    if p_metadata is null or jsonb_typeof(p_metadata) <> 'object' then
        raise exception 'p_metadata must be a JSON object' using errcode = '22023';
    end if;
    perform forebay._require_document(p_metadata, 'p_metadata', (forebay._limits()).max_payload_bytes);

    insert into forebay.batches (name, customer, owner, metadata, submission_key, created_at)
    values (p_name, p_customer, p_owner, p_metadata, p_submission_key, forebay._now())
    on conflict (owner, submission_key) where submission_key is not null do nothing
    returning batch_id into v_batch_id;
    return v_batch_id;
end;
$function$;

comment on function forebay._open_batch is 'Open a batch and return its id; null where p_owner has one of that submission key (null: none has it).';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_open_batch.sql', 'repeatable', '205f6d91ce668ed2328ac290d47ce4dbfa720686257541bd5eb7376aa79242f6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_open_calls.sql
create or replace function forebay._open_calls(p_quota text, p_now timestamptz)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many calls that the quota was charged for are under way: granted, and not reported.
--
-- Those of an attempt that was cancelled or superseded are, until its worker says that it has stopped, or its lease has run
-- out; those of one that ended otherwise are not. Agent by agent, whatever the statistics say (offset 0): what others have
-- in flight is not read.
begin
    return (
        select count(*)
        from forebay.agents as g
        cross join lateral (
            select o.attempt_id from forebay.task_attempts as o where o.agent = g.agent and o.finished_at is null
            union all
            select s.attempt_id
            from forebay.task_attempts as s
            where s.agent = g.agent and s.is_stop_pending and s.status in ('cancelled', 'superseded')
                and s.finished_at > p_now - g.lease and s.lease_expires_at > p_now
            offset 0
        ) as a
        inner join forebay.attempt_calls as c on c.attempt_id = a.attempt_id and not c.is_over
        where p_quota = any(g.quotas) and p_quota = any(c.quotas)
    );
end;
$function$;

comment on function forebay._open_calls is 'How many calls that the quota was charged for are under way: granted, and not reported.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_open_calls.sql', 'repeatable', '10853f6ba044aeba7c0260e90a9879ab2684039ca8a3454634e1170908162cb4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_open_line.sql
create or replace function forebay._open_line(p_agent text, p_waits boolean)
    returns forebay.opened_line
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take the agent's lock and those of its quotas, and make its line ready: due tasks join it, and where it is full or empty, expired leases too.
--
-- Each lock is a statement of its own, and everything is read and counted in later ones: a count in the locking statement
-- would see the world as it was before the lock was granted.
--
-- Locks    the agent, then its quotas by name; tasks and attempts without waiting
-- Errors   55P03  somebody else is admitting for the agent or on a quota of it, and p_waits is false
declare
    v_agent forebay.agents;
    v_now   timestamptz;
    v_moved integer;
    v_room  integer;
    v_swept forebay.sweep_result;
begin
    perform forebay._lock_agent(p_agent, p_waits);
    v_agent := forebay._get_agent(p_agent);
    if v_agent.quotas <> '{}' then
        perform forebay._lock_quotas(v_agent, p_waits);
    end if;
    v_now := forebay._now();
    v_agent := forebay._get_effective(p_agent, v_now);
    v_moved := forebay._wake_due(p_agent, v_now, 10000);
    v_room := forebay._room(v_agent, v_now);
    if v_room = 0 or not forebay._has_waiting(p_agent, v_now) then
        v_swept := forebay._end_expired(p_agent, 1000);
        if v_swept.requeued + v_swept.failed > 0 then
            v_moved := v_moved + v_swept.requeued + v_swept.failed;
            v_room := forebay._room(v_agent, forebay._now());
        end if;
    end if;
    return (v_agent, v_moved, v_room)::forebay.opened_line;
end;
$function$;

comment on function forebay._open_line is 'Take the agent''s lock and those of its quotas, and make its line ready: due tasks join it, and where it is full or empty, expired leases too.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_open_line.sql', 'repeatable', '9874d52cff3438fa6d97f337bc859d506db31250b5e6897b79199e738ce1e387', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_open_tasks.sql
create or replace function forebay._open_tasks(
    p_batch_id   bigint,
    p_agent      forebay.agents,
    out waiting  bigint,
    out running  bigint,
    out estimate bigint,
    out due_at   timestamptz
)
    language sql
    stable
    security invoker
as $function$
-- How many tasks of the batch wait for the agent and run there; of those that wait, their usual estimate, null where none
-- has one, and when the last of them is due.
select
    count(*) filter (where t.status = 'enqueued'), count(*) filter (where t.status = 'processing'),
    case when count(t.estimated_tokens) filter (where t.status = 'enqueued') > 0 then
        avg(coalesce(t.estimated_tokens, p_agent.default_estimated_tokens)) filter (where t.status = 'enqueued')
    end::bigint,
    max(t.available_at) filter (where t.status = 'enqueued')
from forebay.tasks as t
where t.batch_id = p_batch_id and t.agent = p_agent.agent and t.status in ('enqueued', 'processing');
$function$;

comment on function forebay._open_tasks is
'How many tasks of the batch wait for the agent and run there; of those that wait, their usual estimate, null where none has one, and when the last of them is due.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_open_tasks.sql', 'repeatable', 'ef7428d7903db5835943021fa25b9a0e2667ab212a3ac7fc5cb261db7d939538', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_outlook_words.sql
create or replace function forebay._outlook_words(
    p_answer forebay.task_explanation,
    p_task   forebay.tasks,
    p_now    timestamptz
)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What has to come before a task that waits can start: a moment, or what would still hinder it however long it waited.
--
-- That is 34 years, as far as _first_start looks.
declare
    v_last    forebay.task_explanation;
    v_expired bigint := case when p_answer.reason = 'full' then forebay._count_expired(p_answer.subject, p_now) end;
begin
    if p_answer.waiting_until is not null then
        return 'room is expected at ' || forebay._moment_words(p_answer.waiting_until, p_now);
    end if;
    v_last := forebay._waiting_reason(p_task, p_now + interval '34 years');
    return case
        when v_expired > 0 then format('the next dequeue takes back %s of them, whose workers are silent or late', v_expired)
        when v_last.explanation is null or v_last.reason = 'reserved' then 'others come first'
        when v_last.reason <> p_answer.reason then 'after that, ' || v_last.explanation
        when v_last.reason = 'spend_cap' then 'an operator can lift the cap for today'
        when v_last.has < 0 and not forebay._has_in_flight(v_last.subject)
            then 'it owes so much that it takes over 30 years, unless an operator takes the limit away and sets it again'
        else 'tasks that run have to end first'
    end;
end;
$function$;

comment on function forebay._outlook_words is
'What has to come before a task that waits can start: a moment, or what would still hinder it however long it waited.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_outlook_words.sql', 'repeatable', '3daf9c82ea82836c5de6793a7b0c1f175f19e107217dea5f4d1e937f1a4b97a9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_output_share.sql
create or replace function forebay._output_share(p_agent text, p_tokens bigint)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many of so many tokens are output, by what the agent has learned; rounded up.
declare
    v_learned forebay.learned := forebay._learned(p_agent);
begin
    return ceil(
        p_tokens::numeric * v_learned.output_permille / greatest(1, v_learned.input_permille + v_learned.output_permille)
    )::bigint;
end;
$function$;

comment on function forebay._output_share is 'How many of so many tokens are output, by what the agent has learned; rounded up.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_output_share.sql', 'repeatable', '97a9fbd3b8e945476613fa808fae4d7ad2c6877e5771195c2b4b2494e4b5b89a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_own_batch.sql
create or replace function forebay._own_batch(p_batch_id bigint, p_actor text)
    returns forebay.batches
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The batch of that id, if p_actor owns it; somebody else's answers as if it did not exist.
--
-- Errors  22023  an argument is null
--         QF302  there is none of p_actor's
declare
    v_batch forebay.batches := forebay._get_batch(p_batch_id);
begin
    if p_actor is null then
        raise exception 'p_actor must not be null' using errcode = '22023';
    end if;
    if forebay._is_person(v_batch.owner, p_actor) is not true then
        raise exception 'batch % does not exist', p_batch_id
            using errcode = 'QF302', hint = 'forebay.open_batch opens one.';
    end if;
    return v_batch;
end;
$function$;

comment on function forebay._own_batch is 'The batch of that id, if p_actor owns it; somebody else''s answers as if it did not exist.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_own_batch.sql', 'repeatable', '651f71253cc72c106d2f621aa60dc58e99f564d79dac24eaca28030f9b7c210a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_page_of_attempts.sql
create or replace function forebay._page_of_attempts(
    p_statuses  text[],
    p_agents    text[],
    p_from      timestamptz,
    p_to        timestamptz,
    p_before_at timestamptz,
    p_before_id bigint,
    p_limit     integer
)
    returns setof forebay.task_attempts
    language plpgsql
    stable
    security invoker
    rows 100
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- The newest attempts of statuses that are not good ends, of those before a moment and an id; read by status.
begin
    return query
    select newest.*
    from (select distinct w.status from unnest(p_statuses) as w (status)) as words
    cross join lateral (
        select a.* from forebay.task_attempts as a
        where a.status = words.status and a.status in ('failed', 'released', 'lost', 'superseded', 'cancelled')
            and (p_agents is null or a.agent = any(p_agents))
            and (p_from is null or a.started_at >= p_from)
            and (p_to is null or a.started_at < p_to)
            and (a.started_at, a.attempt_id) < (p_before_at, p_before_id)
        order by a.started_at desc, a.attempt_id desc
        limit p_limit
    ) as newest
    order by newest.started_at desc, newest.attempt_id desc
    limit p_limit;
end;
$function$;

comment on function forebay._page_of_attempts is
'The newest attempts of statuses that are not good ends, of those before a moment and an id; read by status.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_page_of_attempts.sql', 'repeatable', '9b55d008a3b52aa6a47e3ea14b9d60195615b2a6097864bd067be08e92e87cf6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_page_of_tasks.sql
create or replace function forebay._page_of_tasks(
    p_filter    forebay.task_filter,
    p_before_at timestamptz,
    p_before_id bigint,
    p_limit     integer
)
    returns setof bigint
    language plpgsql
    stable
    security invoker
    rows 100
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- The newest tasks that a filter lets through, of those before a moment and an id.
--
-- Each way reads in the order of an index: that of the batch or of what was searched, of a customer and status, of an agent
-- and status, or of time. Taking the newest of each agent and status, it never walks over those of others. Tasks of no
-- customer are in no index of customers, and where a search means more than 100 batches and customers, it is quicker to walk.
declare
    v_batches bigint[] := case when p_filter.batch_id is null then p_filter.found_batches else array[p_filter.batch_id] end;
    v_names   text[] := case when p_filter.is_search then p_filter.found_customers else p_filter.customers end;
    v_is_few  boolean := p_filter.batch_id is not null or (
        (p_filter.is_search or p_filter.customers is not null) and not '' = any(v_names)
        and cardinality(v_names) + cardinality(v_batches) <= 100
    );
begin
    if v_is_few then
        return query
        select t.task_id from forebay.tasks as t
        where t.task_id in (
            select b.task_id from forebay.tasks as b where b.batch_id = any(v_batches)
            union all
            select ids.id from unnest(p_filter.found_tasks) as ids (id)
            union all
            select newest.task_id
            from forebay._newest_of_customers(v_names, p_filter, p_before_at, p_before_id, p_limit) as newest (task_id)
            where p_filter.batch_id is null
        )
        and forebay._passes(t, p_filter) and (t.created_at, t.task_id) < (p_before_at, p_before_id)
        order by t.created_at desc, t.task_id desc
        limit p_limit;
    elsif num_nonnulls(p_filter.agents, p_filter.statuses, p_filter.customers) > 0 then
        return query
        select newest.task_id
        from forebay._newest_of_agents(p_filter, p_before_at, p_before_id, p_limit) as newest (task_id);
    else
        return query
        select t.task_id from forebay.tasks as t
        where forebay._passes(t, p_filter) and (t.created_at, t.task_id) < (p_before_at, p_before_id)
        order by t.created_at desc, t.task_id desc
        limit p_limit;
    end if;
end;
$function$;

comment on function forebay._page_of_tasks is
'The newest tasks that a filter lets through, of those before a moment and an id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_page_of_tasks.sql', 'repeatable', '88b1cf2c6d3d89428a024cdcf706816116099c8264bd4a164a603a0b3b39c42a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_parse_limit.sql
create or replace function forebay._parse_limit(p_quota text, p_limit jsonb)
    returns forebay.quota_limits
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Read one limit of a quota, without its level.
--
-- A bucket holds at least 1 where it admits anything, so that a single request can pass.
--
-- Errors  22023  it is no object, or a key is missing, of a wrong type or out of range
declare
    v_limit forebay.quota_limits;
    v_burst numeric;
begin
    if jsonb_typeof(p_limit) <> 'object' then
        raise exception 'a limit must be an object, not %', jsonb_typeof(p_limit) using errcode = '22023';
    end if;
    v_limit.quota := p_quota;
    v_limit.unit := forebay._json_text(p_limit, 'unit');
    v_limit.amount := forebay._json_integer(p_limit, 'amount', 0, 1000000000000000);
    v_limit.kind := coalesce(forebay._json_text(p_limit, 'kind'), 'window');
    v_burst := forebay._json_number(p_limit, 'burst');
    if v_limit.unit is null
        or v_limit.unit not in ('requests', 'tokens', 'input_tokens', 'output_tokens', 'concurrent_calls') then
        raise exception '"unit" must be requests, tokens, input_tokens, output_tokens or concurrent_calls, not %',
            coalesce(quote_ident(left(v_limit.unit, 60)), 'null') using errcode = '22023';
    elsif v_limit.amount is null then
        raise exception '"amount" is required' using errcode = '22023';
    elsif v_limit.kind not in ('window', 'bucket') then
        raise exception '"kind" must be window or bucket, not "%"', left(v_limit.kind, 60) using errcode = '22023';
    elsif v_burst is not null and (v_limit.kind <> 'bucket' or not (v_burst > 0 and v_burst <= 100)) then
        raise exception '"burst" must be above 0 and at most 100, and only a bucket has one' using errcode = '22023',
            hint = 'It is a factor of the amount.';
    end if;

    if v_limit.unit = 'concurrent_calls' then
        v_limit.kind := 'count';
        v_limit.period := '0';
    else
        v_limit.period := forebay._parse_period(forebay._json_text(p_limit, 'per'));
    end if;
    if v_limit.kind = 'bucket' then
        v_limit.burst := case when v_limit.amount = 0 then 0 else greatest(1, coalesce(v_burst, 0.8) * v_limit.amount) end;
    end if;
    return v_limit;
end;
$function$;

comment on function forebay._parse_limit is 'Read one limit of a quota, without its level.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_parse_limit.sql', 'repeatable', 'cb5b4ca20ffa6a16c07aa7d89f96ae08eec48c023d44d34608c3da4a0708db0d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_parse_limits.sql
create or replace function forebay._parse_limits(p_quota text, p_limits jsonb)
    returns forebay.quota_limits[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Read the limits that register_quota was given.
--
-- Errors  22023  p_limits is no array of objects, a key is missing, of a wrong type or out of range, or a limit comes twice
declare
    v_item   jsonb;
    v_limits forebay.quota_limits[] := array[]::forebay.quota_limits[];
begin
    if coalesce(jsonb_typeof(p_limits), 'null') <> 'array' then
        raise exception 'p_limits must be a JSON array of limits' using errcode = '22023';
    end if;
    for v_item in select elements.value from jsonb_array_elements(p_limits) as elements loop
        v_limits := v_limits || forebay._parse_limit(p_quota, v_item);
    end loop;
    if (select count(distinct (l.unit, l.period)) from unnest(v_limits) as l) < cardinality(v_limits) then
        raise exception 'p_limits must not name one unit and period twice' using errcode = '22023';
    end if;
    return v_limits;
end;
$function$;

comment on function forebay._parse_limits is 'Read the limits that register_quota was given.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_parse_limits.sql', 'repeatable', 'a0b05483ed8fe3c7320991299cbd1c3bc9b2b51b2b1bd03d66ff487a8a4c673f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_parse_period.sql
create or replace function forebay._parse_period(p_per text)
    returns interval
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The period of a limit: second, minute, hour, day, or an interval from 1 second to 1 day.
--
-- Errors  22023  it is something else
declare
    v_period interval;
begin
    begin
        v_period := forebay._exact(
            case when p_per in ('second', 'minute', 'hour', 'day') then '1 ' || p_per else p_per end::interval
        );
    exception when data_exception then
        v_period := null;
    end;
    if v_period is null or v_period not between interval '1 second' and interval '1 day' then
        raise exception '"per" must be second, minute, hour, day or an interval from 1 second to 1 day, not %',
            coalesce('"' || left(p_per, 60) || '"', 'null') using errcode = '22023';
    end if;
    return v_period;
end;
$function$;

comment on function forebay._parse_period is 'The period of a limit: second, minute, hour, day, or an interval from 1 second to 1 day.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_parse_period.sql', 'repeatable', '75114248241eb4454f4c5b0b527d8c1bfe4b864aee859c74eba5d69641767c56', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_parse_records.sql
create or replace function forebay._parse_records(p_rows jsonb, p_source text, p_now timestamptz)
    returns forebay.compute_usage[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The records that an array of documents holds; nothing is written.
--
-- Errors  22023  p_rows is no array or too long, or a record is bad, or there twice, which is named by its ordinal
declare
    v_records  forebay.compute_usage[] := array[]::forebay.compute_usage[];
    v_record   forebay.compute_usage;
    v_document jsonb;
    v_ordinal  integer := 0;
    v_message  text;
begin
    if p_rows is null or jsonb_typeof(p_rows) <> 'array' then
        raise exception 'p_rows must be a JSON array' using errcode = '22023';
    end if;
    perform forebay._require_between(
        jsonb_array_length(p_rows), 'the number of records', 0, (forebay._limits()).max_batch_size
    );
    for v_document in select elements.value from jsonb_array_elements(p_rows) as elements loop
        v_ordinal := v_ordinal + 1;
        if jsonb_typeof(v_document) <> 'object' then
            raise exception 'a record must be an object, not %', jsonb_typeof(v_document) using errcode = '22023';
        end if;
        v_record := (
            p_source, forebay._json_name(v_document, 'record_id', 500), forebay._json_integer(v_document, 'attempt_id'),
            forebay._json_number(v_document, 'usd'), forebay._json_number(v_document, 'seconds'),
            forebay._json_time(v_document, 'started_at'), forebay._json_time(v_document, 'ended_at'),
            coalesce(forebay._json_boolean(v_document, 'is_final'), true), p_now,
            forebay._json_name(v_document, 'product', 200)
        )::forebay.compute_usage;
        if v_record.record_id is null or v_record.usd is null then
            raise exception '"record_id" and "usd" are required' using errcode = '22023';
        end if;
        if (v_record.usd < 0 and p_source = 'local') or v_record.seconds < 0 then
            raise exception '"seconds", and the "usd" of an estimate, must not be negative' using errcode = '22023';
        end if;
        if v_record.product is not null and v_record.attempt_id is not null then
            raise exception 'what has a "product" is shared, and has no "attempt_id"' using errcode = '22023';
        end if;
        v_records := v_records || v_record;
    end loop;
    select max(r.place)::integer into v_ordinal
    from unnest(v_records) with ordinality as r (
        source, record_id, attempt_id, usd, seconds, started_at, ended_at, is_final, recorded_at, product, place
    )
    group by r.record_id
    having count(*) > 1
    limit 1;
    if found then
        raise exception 'it is there twice' using errcode = '22023';
    end if;
    return v_records;
exception when data_exception then
    get stacked diagnostics v_message = message_text;
    raise exception '%', case when v_ordinal > 0 then format('record %s: %s', v_ordinal, v_message) else v_message end
        using errcode = '22023', hint = 'Nothing was recorded.';
end;
$function$;

comment on function forebay._parse_records is 'The records that an array of documents holds; nothing is written.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_parse_records.sql', 'repeatable', '67c07d38cdf864ca25422bff9209770d2386d9fdaa646f8869cdd45907c4af76', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_parse_task.sql
create or replace function forebay._parse_task(
    p_agent     forebay.agents,
    p_document  jsonb,
    p_batch     forebay.batches,
    p_max_bytes integer,
    p_now       timestamptz
)
    returns forebay.tasks
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The row that a task's document asks for, with an id of its own; nothing is written.
--
-- Errors  22023  a key is missing, of a wrong type, or out of range
--         QF402  the payload is too large
declare
    v_task forebay.tasks;
begin
    if jsonb_typeof(p_document) <> 'object' then
        raise exception 'a task must be an object, not %', jsonb_typeof(p_document) using errcode = '22023';
    end if;
    v_task.payload := p_document -> 'payload';
    if coalesce(jsonb_typeof(v_task.payload), 'null') = 'null' then
        raise exception '"payload" is required' using errcode = '22023';
    end if;
    perform forebay._require_document(v_task.payload, 'the payload', p_max_bytes);

    v_task.task_id := nextval('forebay.tasks_task_id_seq');
    v_task.agent := p_agent.agent;
    v_task.status := 'enqueued';
    v_task.priority := 0;
    v_task.batch_id := p_batch.batch_id;
    v_task.available_at := p_now;
    v_task.attempt_no := 0;
    v_task.attempt_count := 0;
    v_task.release_count := 0;
    v_task.deferral_count := 0;
    v_task.used_input_tokens := 0;
    v_task.used_output_tokens := 0;
    v_task.used_cached_tokens := 0;
    v_task.cost_usd := 0;
    v_task.ended_attempts := 0;
    v_task.measured_attempts := 0;
    v_task.priced_attempts := 0;
    v_task.costed_attempts := 0;
    v_task.provisional_attempts := 0;
    v_task.run_time := interval '0';
    v_task.compute_usd := 0;
    v_task.is_shared := p_agent.is_fair_by_customer;
    v_task.created_at := p_now;
    if p_document ?| array['priority', 'estimated_tokens', 'max_attempts', 'run_after', 'customer', 'idempotency_key'] then
        v_task.priority := coalesce(forebay._json_integer(p_document, 'priority', -32768, 32767), 0)::smallint;
        v_task.estimated_tokens := forebay._json_integer(p_document, 'estimated_tokens', 0, 1000000000000);
        v_task.max_attempts := forebay._json_integer(p_document, 'max_attempts', 1, 1000)::integer;
        v_task.available_at := greatest(p_now, forebay._json_time(p_document, 'run_after'));
        v_task.customer := forebay._json_name(p_document, 'customer', 200);
        v_task.idempotency_key := forebay._json_name(p_document, 'idempotency_key', 500);
    end if;
    v_task.is_ready := v_task.available_at <= p_now;

    if p_batch.customer <> v_task.customer then
        raise exception '"customer" is "%", but the batch belongs to "%"', v_task.customer, p_batch.customer
            using errcode = '22023', hint = 'Leave it out: a batch''s tasks take its customer.';
    end if;
    v_task.customer := coalesce(p_batch.customer, v_task.customer);
    return v_task;
end;
$function$;

comment on function forebay._parse_task is 'The row that a task''s document asks for, with an id of its own; nothing is written.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_parse_task.sql', 'repeatable', '0dec44762b7c7c22766869747971bc7278e113e9e9f370310d958408f59f10b8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_parse_usage.sql
create or replace function forebay._parse_usage(p_usage jsonb)
    returns forebay.attempt_usage
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Read one call's usage as a row of attempt_usage, without attempt and time of recording.
--
-- Errors  22023  p_usage is no object, or a key is missing, of a wrong type, or out of range
declare
    v_call    forebay.attempt_usage;
    v_latency numeric;
begin
    if jsonb_typeof(p_usage) <> 'object' then
        raise exception 'a call''s usage must be an object, not %', jsonb_typeof(p_usage) using errcode = '22023';
    end if;
    v_call.call_id := forebay._json_name(p_usage, 'call_id', 500);
    v_call.source := coalesce(forebay._json_text(p_usage, 'source'), 'agent');
    v_call.model := forebay._json_name(p_usage, 'model', 500);
    v_call.input_tokens := forebay._json_integer(p_usage, 'input_tokens', 0, 1000000000000);
    v_call.output_tokens := forebay._json_integer(p_usage, 'output_tokens', 0, 1000000000000);
    v_call.cached_tokens := forebay._json_integer(p_usage, 'cached_tokens', 0, 1000000000000);
    v_call.pages := forebay._json_number(p_usage, 'pages');
    v_call.cost_usd := forebay._json_number(p_usage, 'cost_usd');
    v_call.list_usd := forebay._json_number(p_usage, 'list_usd');
    v_call.started_at := forebay._json_time(p_usage, 'started_at');
    v_latency := forebay._json_number(p_usage, 'latency_ms');
    v_call.trace_id := forebay._json_name(p_usage, 'trace_id', 500);
    if v_call.call_id is null then
        raise exception '"call_id" is required' using errcode = '22023';
    end if;
    if v_call.source not in ('agent', 'trace') then
        raise exception '"source" must be agent or trace, not "%"', left(v_call.source, 60) using errcode = '22023';
    end if;
    if v_call.cost_usd not between 0 and 1000000000 or v_call.list_usd not between 0 and 1000000000
        or v_call.pages not between 0 and 1000000000 or v_latency not between 0 and 1000000000000 then
        raise exception '"cost_usd", "list_usd" and "pages" must be from 0 to 10^9, and "latency_ms" from 0 to 10^12'
            using errcode = '22023';
    end if;
    v_call.latency_ms := round(v_latency)::bigint;
    if v_call.cached_tokens > v_call.input_tokens then
        raise exception '"cached_tokens" (%) are part of "input_tokens" (%)', v_call.cached_tokens, v_call.input_tokens
            using errcode = '22023', hint = 'Count the cached tokens into the input.';
    end if;
    return v_call;
end;
$function$;

comment on function forebay._parse_usage is 'Read one call''s usage as a row of attempt_usage, without attempt and time of recording.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_parse_usage.sql', 'repeatable', '53502ac17825b6459f34a3f80a7d9bcd8cdd21b25843f4146a0fb303a9437906', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_passes.sql
create or replace function forebay._passes(p_task forebay.tasks, p_filter forebay.task_filter)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether a filter lets a task through. Inlined into its callers, so that a filter can use an index; it pins no path.
--
-- The customer '' stands for tasks of no customer.
select (p_filter.created_from is null or p_task.created_at >= p_filter.created_from)
    and (p_filter.created_to is null or p_task.created_at < p_filter.created_to)
    and (p_filter.statuses is null or p_task.status = any(p_filter.statuses))
    and (p_filter.agents is null or p_task.agent = any(p_filter.agents))
    and (
        p_filter.customers is null or p_task.customer = any(p_filter.customers)
        or (p_task.customer is null and '' = any(p_filter.customers))
    )
    and (p_filter.batch_id is null or p_task.batch_id = p_filter.batch_id)
    and (p_filter.max_confidence is null or p_task.confidence <= p_filter.max_confidence)
    and (
        not p_filter.is_search or p_task.task_id = any(p_filter.found_tasks)
        or p_task.batch_id = any(p_filter.found_batches) or p_task.customer = any(p_filter.found_customers)
    );
$function$;

comment on function forebay._passes is
'Whether a filter lets a task through. Inlined into its callers, so that a filter can use an index; it pins no path.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_passes.sql', 'repeatable', '970340f98061a565ba327d6639a83acf9705b501787d29f5bf75a1cbfe498e51', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_passing.sql
create or replace function forebay._passing(
    p_agent   forebay.agents,
    p_use     forebay.expected_use,
    p_tasks   bigint,
    p_now     timestamptz,
    out takes interval,
    out words text
)
    returns setof record
    language sql
    stable
    security invoker
as $function$
-- How long each limit in force takes to let so many tasks start that use p_use each, and the limit in words.
--
-- Returns  one row a limit of the agent and of its quotas that refills; takes is null where the limit is 0
select
    make_interval(secs => (
        extract(epoch from l.period) * greatest(0, p_tasks * l.needs - l.room) / nullif(l.amount, 0)
    )::double precision),
    format(
        '%s %s lets %s pass.', l.kind, l.subject,
        concat_ws(' ', forebay._number_words(l.amount), replace(l.unit, '_', ' '), forebay._period_words(l.period))
    )
from (
    select
        'Agent' as kind, p_agent.agent as subject, 'tokens' as unit, interval '1 minute' as period,
        p_agent.max_tpm::numeric as amount, (p_use).input_tokens + (p_use).output_tokens as needs, levels.tokens as room
    from forebay._levels(p_agent, p_now) as levels
    union all
    select 'Agent', p_agent.agent, 'claims', interval '1 minute', p_agent.max_rpm, 1, levels.requests
    from forebay._levels(p_agent, p_now) as levels
    union all
    select
        'Quota', q.quota, q.unit, q.period, q.effective,
        forebay._in_unit(q.unit, (p_use).calls, (p_use).input_tokens, (p_use).output_tokens), q.room
    from forebay._quota_limits(p_agent.quotas, p_now) as q
    where q.kind <> 'count'
) as l
where l.amount is not null and p_use is not null;
$function$;

comment on function forebay._passing is 'How long each limit in force takes to let so many tasks start that use p_use each, and the limit in words.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_passing.sql', 'repeatable', 'f442d19ae9883d4c5369ca5911ce26765a61e0e71dcb35b78f07e1de2fd4d493', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_pause.sql
create or replace function forebay._pause(p_agent text, p_until timestamptz, p_reason text, p_actor text)
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Pause an agent, or every one (p_agent null), until p_until; null resumes. Say how many changed.
--
-- Where every agent is paused, one that is paused as long or longer already keeps its time and its reason. Resuming also
-- ends the pauses that a provider asked for.
--
-- Writes  forebay.agents, forebay.audit_log, forebay.refusals
-- Locks   the agents, by name: it waits for admissions that are under way
declare
    v_agent   text := p_agent;
    v_changed text[];
    v_now     timestamptz;
begin
    perform forebay._lock_definition(v_agent);
    v_now := forebay._now();

    with changed as (
        update forebay.agents as a
        set paused_until = p_until, pause_reason = case when p_until is not null then p_reason end
        where (v_agent is null or a.agent = v_agent)
            and (v_agent is not null or p_until is null or a.paused_until is null or a.paused_until < p_until)
            and (
                p_until is not null or a.paused_until is not null
                or (forebay._throttle(a, v_now)).paused_until is not null
            )
        returning a.agent
    )
    select array_agg(c.agent order by c.agent) into v_changed from changed as c;
    perform forebay._audit(
        case when p_until is null then 'resume_agent' else 'pause_agent' end, null, changed.agent, p_reason, p_actor,
        case when p_until is not null then jsonb_build_object('until', p_until) end
    )
    from unnest(v_changed) as changed (agent);
    if p_until is null then
        perform forebay._end_refusals(v_changed, v_now);
    end if;
    return coalesce(cardinality(v_changed), 0);
end;
$function$;

comment on function forebay._pause is 'Pause an agent, or every one (p_agent null), until p_until; null resumes. Say how many changed.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_pause.sql', 'repeatable', '7174542b8cd5220c9659eed7224610a3baecac38e2a91bb3d7206ffc92473b62', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_pause_words.sql
create or replace function forebay._pause_words(p_agent forebay.agents, p_now timestamptz)
    returns text
    language sql
    stable
    security invoker
as $function$
-- That an agent is paused and until when, without the reason, which operators write for each other.
select format(
    'Agent %s is paused until %s', p_agent.agent,
    coalesce(forebay._moment_words(nullif(p_agent.paused_until, 'infinity'), p_now), 'it is resumed')
);
$function$;

comment on function forebay._pause_words is
'That an agent is paused and until when, without the reason, which operators write for each other.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_pause_words.sql', 'repeatable', '0e4d824bc6f64b7926b554a775b143d4d7e84b282cc1025a32522d4966fdd18d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_pay.sql
create or replace function forebay._pay(p_agent forebay.agents, p_line forebay.lined_up[], p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take what the tasks are expected to use from the agent's buckets.
--
-- Writes  forebay.agent_budgets, forebay.agent_settlements
declare
    v_levels record;
begin
    if p_agent.max_tpm is null and p_agent.max_rpm is null then
        return;
    end if;
    select l.* into v_levels from forebay._levels(p_agent, p_now) as l;
    update forebay.agent_budgets as b
    set tokens = v_levels.tokens - bill.tokens, requests = v_levels.requests - cardinality(p_line), refilled_at = p_now
    from (
        select sum((l.uses).input_tokens + (l.uses).output_tokens) as tokens from unnest(p_line) as l
    ) as bill
    where b.agent = p_agent.agent;
    delete from forebay.agent_settlements as s where s.settlement_id = any(v_levels.folded);
end;
$function$;

comment on function forebay._pay is 'Take what the tasks are expected to use from the agent''s buckets.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_pay.sql', 'repeatable', 'bbed138b63d3e7412682dbfc55ecc8e829ef2f383b24bac73c34f083524784e5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_period_words.sql
create or replace function forebay._period_words(p_period interval)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- The period of a limit as a sentence names it; null without one.
select case extract(epoch from p_period)
    when 0 then null
    when 1 then 'a second'
    when 60 then 'a minute'
    when 3600 then 'an hour'
    when 86400 then 'a day'
    else 'in ' || trim_scale(extract(epoch from p_period)) || ' s'
end;
$function$;

comment on function forebay._period_words is 'The period of a limit as a sentence names it; null without one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_period_words.sql', 'repeatable', '00f6d8841498d814bd39b2e9788b3673cbf02fc5ea2cc70a11c7b29ec133f74c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_pick.sql
create or replace function forebay._pick(
    p_agent forebay.agents,
    p_limit integer,
    p_floor integer,
    p_now   timestamptz,
    p_locks boolean
)
    returns forebay.lined_up[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tasks that may start now, in order, p_limit of them at most, of priority p_floor and more (null: any).
--
-- Where not all of the first p_limit in line fit, 100 more are looked at, and customers whose cap is reached, or leaves too
-- little for their next task, stand aside: however many tasks of theirs wait, they hide no others.
--
-- Locks  with p_locks those that were looked at, without waiting
declare
    v_is_weighed boolean := forebay._is_weighed(p_agent);
    v_learned    forebay.learned := case when v_is_weighed then forebay._learned(p_agent.agent) end;
    v_line       forebay.lined_up[];
    v_fit        forebay.fit;
    v_aside      text[];
    v_short      text[] := array[]::text[];
begin
    v_line := forebay._line(p_agent, p_limit, p_floor, p_now, p_locks, v_learned, array[]::text[]);
    if v_line = '{}' or not v_is_weighed then
        return v_line;
    end if;
    v_fit := forebay._fitting(p_agent, v_line, p_limit, p_now, v_learned);
    if v_fit.reason is not null and cardinality(v_line) = p_limit then
        v_aside := forebay._capped_customers(p_now);
        loop
            v_aside := v_aside || v_short;
            v_line := forebay._line(p_agent, p_limit + 100, p_floor, p_now, p_locks, v_learned, v_aside);
            v_fit := forebay._fitting(p_agent, v_line, p_limit, p_now, v_learned);
            exit when cardinality(v_fit.places) = p_limit or cardinality(v_line) < p_limit + 100;
            v_short := forebay._short_customers(p_agent, v_line, v_fit.places, p_now);
            exit when v_short = '{}';
        end loop;
    end if;
    return array(select v_line[places.place] from unnest(v_fit.places) with ordinality as places (place, n) order by places.n);
end;
$function$;

comment on function forebay._pick is 'The tasks that may start now, in order, p_limit of them at most, of priority p_floor and more (null: any).';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_pick.sql', 'repeatable', 'b59487d94e5c83f2195eefadcbbdadf7b6e2c9d511e8898699b44d53d6d4ef6a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_place_in_line.sql
create or replace function forebay._place_in_line(p_task forebay.tasks, p_agent forebay.agents, p_now timestamptz)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What keeps a task of an agent that has room: a rule that it would break alone, or the tasks before it.
--
-- p_agent has the limits that hold at p_now. For reserved, task_id is the task that nobody passes, and the numbers are its.
--
-- Returns  reason: out_of_tokens, quota, spend_cap, reserved, behind_others or ready
declare
    v_learned forebay.learned := forebay._learned(p_agent.agent);
    v_found   forebay.task_explanation;
    v_first   bigint;
    v_fit     forebay.fit;
begin
    v_fit := forebay._fitting(p_agent, array[forebay._lined_up(p_agent, p_task, v_learned, p_now)], 1, p_now);
    if v_fit.reason is not null then
        return forebay._told(v_fit, p_task);
    end if;
    v_first := ((forebay._pick(p_agent, 1, null, p_now, false))[1]).task_id;
    v_fit := case when v_first is null then forebay._reservation(p_agent, p_now) end;
    if v_fit.reason is not null then
        v_found := forebay._told(v_fit, p_task);
        v_found.reason := 'reserved';
    else
        v_found.reason := case when v_first = p_task.task_id then 'ready' else 'behind_others' end;
    end if;
    return v_found;
end;
$function$;

comment on function forebay._place_in_line is 'What keeps a task of an agent that has room: a rule that it would break alone, or the tasks before it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_place_in_line.sql', 'repeatable', '51274a8fdb8aa68f1c126574369d414b6cfecb3168d56bb436340273298c851f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_points_of_slots.sql
create or replace function forebay._points_of_slots(
    p_slots     forebay.time_slots[],
    p_from      timestamptz,
    p_to        timestamptz,
    p_step      interval,
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns setof forebay.metric_point
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What metric_series says of a range that is cut into slots, none of them wider than a step.
declare
    v_origin constant timestamptz := timestamptz '2000-01-03 00:00:00+00';
begin
    return query
    with cells as materialized (
        select date_bin(p_step, c.starts_at, v_origin) as step_at, c.*
        from forebay._cells(p_slots, p_statuses, p_agents, p_customers is not null, p_customers) as c
    ), histograms as (
        select c.step_at, array_agg(b.bucket) as buckets, array_agg(b.tasks) as counts
        from cells as c
        cross join lateral unnest(c.buckets, c.counts) as b (bucket, tasks)
        where b.bucket < 1000  -- of responses
        group by c.step_at
    ), marks as (
        select h.step_at, m.median, m.p95
        from histograms as h
        cross join lateral forebay._histogram_marks(h.buckets, h.counts) as m
    ), sums as (
        select
            c.step_at, sum(c.tasks) filter (where c.status = 'enqueued') as enqueued,
            sum(c.tasks) filter (where c.status = 'processing') as processing,
            sum(c.tasks) filter (where c.status = 'completed') as completed,
            sum(c.tasks) filter (where c.status = 'failed') as failed,
            sum(c.tasks) filter (where c.status = 'cancelled') as cancelled,
            sum(c.input_tokens) as input_tokens, sum(c.output_tokens) as output_tokens,
            sum(c.cached_tokens) as cached_tokens, sum(c.llm_usd) as llm_usd, sum(c.compute_usd) as compute_usd
        from cells as c
        group by c.step_at
    )
    select
        greatest(steps.step_at, p_from), least(steps.step_at + p_step, p_to), coalesce(s.enqueued, 0)::bigint,
        coalesce(s.processing, 0)::bigint, coalesce(s.completed, 0)::bigint, coalesce(s.failed, 0)::bigint,
        coalesce(s.cancelled, 0)::bigint, coalesce(s.input_tokens, 0)::bigint, coalesce(s.output_tokens, 0)::bigint,
        coalesce(s.cached_tokens, 0)::bigint, coalesce(s.llm_usd, 0), coalesce(s.compute_usd, 0),
        forebay._time_at(m.median), forebay._time_at(m.p95)
    from generate_series(date_bin(p_step, p_from, v_origin), p_to - interval '1 microsecond', p_step) as steps (step_at)
    left join sums as s on s.step_at = steps.step_at
    left join marks as m on m.step_at = steps.step_at
    order by steps.step_at;
end;
$function$;

comment on function forebay._points_of_slots is
'What metric_series says of a range that is cut into slots, none of them wider than a step.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_points_of_slots.sql', 'repeatable', '9ddec71dc21639ba7d9445c3bb66473ef25802fa7babcc36a4da61857c0c0a38', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_price_call.sql
create or replace function forebay._price_call(p_call forebay.attempt_usage, p_at timestamptz)
    returns numeric
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a call costs by the price that its model has at p_at; null without a price, or when a number that it needs is unknown.
--
-- Cached tokens are part of the input, and none are when their number is unknown. What has no price in the row is free.
declare
    v_price  forebay.prices;
    v_cached bigint := least(coalesce(p_call.cached_tokens, 0), p_call.input_tokens);
begin
    select p.* into v_price
    from forebay.prices as p
    where p.model = p_call.model and p.valid_from <= p_at and p.valid_until > p_at
    order by p.valid_from desc
    limit 1;
    if not found then
        return null;
    end if;
    v_price.usd_per_m_cached := coalesce(v_price.usd_per_m_cached, v_price.usd_per_m_input);
    return
        case when v_price.usd_per_m_input is null then 0
            else 0.000001 * v_price.usd_per_m_input * (p_call.input_tokens - v_cached) end
        + case when v_price.usd_per_m_cached is null then 0 else 0.000001 * v_price.usd_per_m_cached * v_cached end
        + case when v_price.usd_per_m_output is null then 0
            else 0.000001 * v_price.usd_per_m_output * p_call.output_tokens end
        + case when v_price.usd_per_page is null then 0 else v_price.usd_per_page * p_call.pages end
        + coalesce(v_price.usd_per_call, 0);
end;
$function$;

comment on function forebay._price_call is 'What a call costs by the price that its model has at p_at; null without a price, or when a number that it needs is unknown.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_price_call.sql', 'repeatable', 'e5a913cf3464418c31f8040579d0e858610e7c2616426464ef8685431031ef7c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_projected_rooms.sql
create or replace function forebay._projected_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit is left to new tasks of an agent whose calls cannot be held back, now and at moments of its period.
--
-- Now: beside the first calls of those claimed before. At a moment: what the limit has then, with the calls that will
-- still count, less what the tasks in flight will have used by then. Of open calls each task in flight counts as one.
--
-- Returns  one row a limit and moment, at 0, 1/12, 1/4, 1/2 and 1 of the period; for concurrent_calls one, at 0
begin
    return query
    with flight as materialized (
        select f.* from forebay._in_flight(p_agent.quotas) as f
    ), calls as materialized (
        select c.* from forebay._calls_to_come(p_agent.quotas, p_now) as c
    )
    select
        l.quota, l.unit, l.period, l.effective::double precision, l.room >= l.capacity and uses.attempts = 0,
        ahead.seconds,
        (case
            when l.kind = 'count' then l.effective - uses.attempts
            when moments.part = 0 then l.room - (
                select coalesce(sum(forebay._in_unit(l.unit, 1, c.input_tokens, c.output_tokens)), 0)
                from calls as c
                where l.quota = any(c.quotas)
            )
            when l.kind = 'bucket' then least(l.capacity, l.room + l.effective * moments.part) - uses.amount
            else l.effective - uses.amount - forebay._window_used(
                l.quota, l.unit, l.period, p_now, make_interval(secs => ahead.seconds)
            )
        end)::double precision
    from forebay._quota_limits(p_agent.quotas, p_now) as l
    inner join (values (0.0), (1.0 / 12), (0.25), (0.5), (1.0)) as moments (part) on moments.part = 0 or l.kind <> 'count'
    cross join lateral (select (extract(epoch from l.period) * moments.part)::double precision as seconds) as ahead
    cross join lateral (
        select
            count(*) as attempts,
            coalesce(sum(forebay._within(
                forebay._in_unit(l.unit, f.calls, f.input_tokens, f.output_tokens),
                f.input_tokens + f.output_tokens, f.pace, ahead.seconds
            )), 0) as amount
        from flight as f
        where l.quota = any(f.quotas)
    ) as uses;
end;
$function$;

comment on function forebay._projected_rooms is 'How much of each limit is left to new tasks of an agent whose calls cannot be held back, now and at moments of its period.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_projected_rooms.sql', 'repeatable', 'a94c51ca6e77b4503f69e5193b4dd2705c9e9b450173a2c8c296777f13ad570f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_projected_usd.sql
create or replace function forebay._projected_usd(p_since timestamptz)
    returns table (agent text, customer text, usd numeric)
    language sql
    stable
    security invoker
as $function$
-- What attempts may cost beyond what is recorded of them: the open ones, and of those that ended since the ones that are untold.
--
-- Untold is an attempt with a call whose cost is unknown, or without any; and one that never reported its end, since it may
-- have made more calls than it could tell.
select a.agent, a.customer, greatest(a.expected_usd - coalesce(a.cost_usd, 0), 0)
from forebay.task_attempts as a
where a.finished_at is null
union all
select a.agent, a.customer, greatest(a.expected_usd - coalesce(a.cost_usd, 0), 0)
from forebay.task_attempts as a
where a.finished_at >= p_since and a.finished_at is not null and a.expected_usd > 0
    and (not a.is_cost_known or a.reported_at is null);
$function$;

comment on function forebay._projected_usd is 'What attempts may cost beyond what is recorded of them: the open ones, and of those that ended since the ones that are untold.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_projected_usd.sql', 'repeatable', '5b9491e6a99ec665f1f3bed66fccc995beafde10b565cd1bce67f84a68f9d357', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_quota_limits.sql
create or replace function forebay._quota_limits(
    p_quotas       text[],
    p_now          timestamptz,
    out quota      text,
    out unit       text,
    out period     interval,
    out kind       text,
    out amount     bigint,
    out effective  numeric,
    out capacity   numeric,
    out room       numeric
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Each limit of the quotas as of p_now: what holds of its amount, what an idle one has room for, and its room now.
--
-- The effective amount is the configured one, lowered by the provider's refusals, without the headroom of a window, which
-- takes no whole unit by itself. A bucket refills at the effective amount up to its capacity, the burst: what the burst is below the amount is
-- its margin, and it needs no headroom. The room is negative where calls used more than they were granted.
--
-- Returns  one row a limit
begin
    return query
    select
        l.quota, l.unit, l.period, l.kind, l.amount, terms.effective, terms.capacity,
        case l.kind
            when 'window' then terms.effective - forebay._window_used(l.quota, l.unit, l.period, p_now)
            when 'count' then terms.effective - forebay._open_calls(l.quota, p_now)
            else forebay._bucket_level(l, terms.capacity, terms.effective, p_now)
        end
    from forebay.quotas as q
    inner join forebay.quota_limits as l on l.quota = q.quota
    cross join lateral forebay._quota_throttle(q.quota, p_now) as throttle
    cross join lateral (
        select
            held.amount as effective,
            coalesce(l.burst * throttle.share, held.amount) as capacity
        from (
            select ceil(forebay._lowered(l.amount, throttle.share) * case l.kind when 'window' then 1 - q.headroom else 1 end)
            as amount
        ) as held
    ) as terms
    where q.quota = any(p_quotas);
end;
$function$;

comment on function forebay._quota_limits is 'Each limit of the quotas as of p_now: what holds of its amount, what an idle one has room for, and its room now.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_quota_limits.sql', 'repeatable', '0979e1d64960631e9658ff434cefae97b5f336af99837002ed9b150bf7fce8a8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_quota_rooms.sql
create or replace function forebay._quota_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit of the agent's quotas is left to new tasks, by whether the agent asks before its calls.
--
-- It does when its recent attempts did, or when one in flight has asked.
begin
    if p_agent.quotas = '{}' then
        return;
    elsif (forebay._learned(p_agent.agent)).asks_first or exists (
        select from forebay.task_attempts as a where a.agent = p_agent.agent and a.finished_at is null and a.asks_first
    ) then
        return query select r.* from forebay._supplied_rooms(p_agent, p_now) as r;
    else
        return query select r.* from forebay._projected_rooms(p_agent, p_now) as r;
    end if;
end;
$function$;

comment on function forebay._quota_rooms is 'How much of each limit of the agent''s quotas is left to new tasks, by whether the agent asks before its calls.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_quota_rooms.sql', 'repeatable', '7b93a735afb01b26c657fdf5d5b1c5a3d1c75ab7900a6fb0580770d73204ca1a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_quota_state.sql
create or replace function forebay._quota_state(p_quota text, p_now timestamptz)
    returns setof forebay.quota_state
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The quota as of p_now, one row a limit in no set order; a single one without a unit when it has none.
declare
    v_agents text[] := array(select g.agent from forebay.agents as g where p_quota = any(g.quotas) order by g.agent);
    v_pause  timestamptz := (forebay._quota_throttle(p_quota, p_now)).paused_until;
begin
    return query
    with flight as materialized (
        select f.* from forebay._in_flight(array[p_quota]) as f
    )
    select
        p_quota, l.unit, l.period, l.kind, l.amount, l.effective, l.capacity - l.room, greatest(0, l.room),
        (
            select case
                when l.kind = 'count' then count(*)
                else coalesce(sum(forebay._within(
                    forebay._in_unit(l.unit, f.calls, f.input_tokens, f.output_tokens),
                    f.input_tokens + f.output_tokens, f.pace, extract(epoch from l.period)
                ))::numeric, 0)
            end
            from flight as f
        ),
        forebay._open_calls(p_quota, p_now),
        (
            select count(*) from forebay.task_attempts as a
            where a.agent = any(v_agents) and a.call_asked_at is not null and a.finished_at is null
                and a.call_quota = p_quota and forebay._still_asks(a.call_wait_until, p_now)
        ),
        v_pause, v_agents, case when l.unit is not null then floor(greatest(0, coalesce(rooms.room, l.room))) end
    from (select) as one
    left join forebay._quota_limits(array[p_quota], p_now) as l on true
    left join forebay._task_rooms(p_quota, p_now) as rooms on rooms.unit = l.unit and rooms.period = l.period;
end;
$function$;

comment on function forebay._quota_state is 'The quota as of p_now, one row a limit in no set order; a single one without a unit when it has none.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_quota_state.sql', 'repeatable', 'ccd96e106d3fcedbcdb6c2949a3a4dbf1b7fe096c5737be138245c080368a385', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_quota_throttle.sql
create or replace function forebay._quota_throttle(p_quota text, p_now timestamptz)
    returns forebay.throttle
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a provider's refusals mean for a quota at p_now, whichever agents they met.
begin
    return forebay._throttled_by(forebay._last_refusal(null, p_quota), p_now);
end;
$function$;

comment on function forebay._quota_throttle is 'What a provider''s refusals mean for a quota at p_now, whichever agents they met.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_quota_throttle.sql', 'repeatable', 'cd2d25d03f4a0cde1bb163c7af81378b594e099ad9e5f9b102a5e4eeeb2a92fb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_ranked_line.sql
create or replace function forebay._ranked_line(
    p_agent   forebay.agents,
    p_limit   integer,
    p_floor   integer,
    p_now     timestamptz,
    p_locks   boolean,
    p_capped  text[],
    p_learned forebay.learned
)
    returns forebay.lined_up[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The line of an agent that lets tasks age, or serves its customers in turns: _line without the tasks of p_capped.
--
-- What somebody else holds is found out by trying, and left out of the next try.
--
-- Locks  with p_locks the tasks, without waiting
declare
    v_held bigint[] := array[]::bigint[];
    v_ids  bigint[];
    v_got  bigint[];
    v_id   bigint;
begin
    loop
        v_ids := case
            when p_agent.is_fair_by_customer
                then forebay._fair_order(p_agent, p_limit, p_floor, p_now, p_locks, p_capped, v_held, p_learned)
            else forebay._aged_order(p_agent, p_limit, p_floor, p_now, p_locks, p_capped, v_held)
        end;
        exit when not p_locks;
        v_got := array[]::bigint[];
        for v_id in
            select t.task_id from forebay.tasks as t
            where t.task_id = any(v_ids) and t.status = 'enqueued' and t.is_ready
            order by t.task_id
            for no key update skip locked
        loop
            v_got := v_got || v_id;
        end loop;
        exit when cardinality(v_got) = cardinality(v_ids);
        v_held := v_held || array(select ids.task_id from unnest(v_ids) as ids (task_id) where ids.task_id <> all(v_got));
    end loop;
    return array(
        select forebay._lined_up(p_agent, t, p_learned, p_now)
        from unnest(v_ids) with ordinality as places (task_id, place)
        inner join forebay.tasks as t on t.task_id = places.task_id
        order by places.place
    );
end;
$function$;

comment on function forebay._ranked_line is 'The line of an agent that lets tasks age, or serves its customers in turns: _line without the tasks of p_capped.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_ranked_line.sql', 'repeatable', '2eda36e4d320a92b078ed137056f8bf7a3c1df71284ab2c82069f006ef077bcc', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_rebuild_rollups.sql
create or replace function forebay._rebuild_rollups()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
    set jit = off
as $function$
-- Make the rollups from scratch, of the tasks as they are: for tasks that were written while no trigger noted them.
--
-- Writes  forebay.task_changes, forebay.task_rollups
-- Locks   forebay.tasks against writers, then the fold's advisory lock
declare
    v_at_once constant integer := 100000;
    v_first   bigint;
    v_last    bigint;
    v_cells   forebay.task_cell[];
begin
    lock table forebay.tasks in share row exclusive mode;
    perform pg_advisory_xact_lock(hashtextextended('forebay.task_rollups', 0));
    delete from forebay.task_changes;
    delete from forebay.task_rollups;
    select min(t.task_id), max(t.task_id) into v_first, v_last from forebay.tasks as t;
    while v_first <= v_last loop
        select array_agg(cell) into v_cells
        from forebay.tasks as t
        cross join lateral forebay._task_cell(t, 1) as cell
        where t.task_id >= v_first and t.task_id < v_first + v_at_once;
        perform forebay._add_to_rollups(v_cells);
        v_first := v_first + v_at_once;
    end loop;
end;
$function$;

comment on function forebay._rebuild_rollups is 'Make the rollups from scratch, of the tasks as they are: for tasks that were written while no trigger noted them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_rebuild_rollups.sql', 'repeatable', '6d9093e42d8e116e0fd5d7b76af4cf356de9f1a6d386c33fdf1181806aea295a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_record_usage.sql
create or replace function forebay._record_usage(p_attempt forebay.task_attempts, p_call forebay.attempt_usage)
    returns forebay.attempt_usage
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record one call's usage, and return it as it is known now; null when it was neither new, nor filled what was unknown.
--
-- It is priced as it is known then: by the reported cost_usd, else by its model's price at its start, else by list_usd.
--
-- Writes  forebay.attempt_usage
declare
    v_call forebay.attempt_usage;
begin
    insert into forebay.attempt_usage as u (
        attempt_id, source, call_id, model, input_tokens, output_tokens, cached_tokens, pages, cost_usd, started_at,
        latency_ms, trace_id, recorded_at, list_usd
    )
    values (
        p_attempt.attempt_id, p_call.source, p_call.call_id, p_call.model, p_call.input_tokens, p_call.output_tokens,
        p_call.cached_tokens, p_call.pages, p_call.cost_usd, p_call.started_at, p_call.latency_ms, p_call.trace_id,
        forebay._now(), p_call.list_usd
    )
    on conflict (attempt_id, source, call_id) do update set
        model = coalesce(u.model, excluded.model),
        input_tokens = coalesce(u.input_tokens, excluded.input_tokens),
        output_tokens = coalesce(u.output_tokens, excluded.output_tokens),
        cached_tokens = coalesce(u.cached_tokens, excluded.cached_tokens),
        pages = coalesce(u.pages, excluded.pages),
        cost_usd = coalesce(u.cost_usd, excluded.cost_usd),
        started_at = coalesce(u.started_at, excluded.started_at),
        latency_ms = coalesce(u.latency_ms, excluded.latency_ms),
        trace_id = coalesce(u.trace_id, excluded.trace_id),
        list_usd = coalesce(u.list_usd, excluded.list_usd)
    where (u.model is null and excluded.model is not null)
        or (u.input_tokens is null and excluded.input_tokens is not null)
        or (u.output_tokens is null and excluded.output_tokens is not null)
        or (u.cached_tokens is null and excluded.cached_tokens is not null)
        or (u.pages is null and excluded.pages is not null)
        or (u.cost_usd is null and excluded.cost_usd is not null)
        or (u.started_at is null and excluded.started_at is not null)
        or (u.latency_ms is null and excluded.latency_ms is not null)
        or (u.trace_id is null and excluded.trace_id is not null)
        or (u.list_usd is null and excluded.list_usd is not null);
    if not found then
        return null;
    end if;
    update forebay.attempt_usage as u
    set usd = coalesce(u.cost_usd, forebay._price_call(u, forebay._called_at(u, p_attempt.started_at)), u.list_usd)
    where u.attempt_id = p_attempt.attempt_id and u.source = p_call.source and u.call_id = p_call.call_id
    returning u.* into v_call;
    return v_call;
end;
$function$;

comment on function forebay._record_usage is 'Record one call''s usage, and return it as it is known now; null when it was neither new, nor filled what was unknown.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_record_usage.sql', 'repeatable', '01d075d330163bd07e43af9a4c646039cb713722c05048f0d010667dc376c9ed', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_recorded_usd.sql
create or replace function forebay._recorded_usd(p_day date)
    returns table (agent text, customer text, usd numeric)
    language sql
    stable
    security invoker
as $function$
-- What was spent on a UTC day, in parts: what was added up, and what still waits for that; customer '' is none.
select d.agent, d.customer, d.usd
from forebay.daily_spend as d
where d.day = p_day
union all
select e.agent, e.customer, e.usd
from forebay.spend_entries as e
where forebay._utc_day(e.spent_at) = p_day;
$function$;

comment on function forebay._recorded_usd is 'What was spent on a UTC day, in parts: what was added up, and what still waits for that; customer '''' is none.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_recorded_usd.sql', 'repeatable', '48a7c148f67dd1752ae09654140ee49e5c890b8e3f0653ee0672d2e41a893343', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_refill.sql
create or replace function forebay._refill(
    p_level      numeric,
    p_burst      numeric,
    p_per_minute numeric,
    p_since      timestamptz,
    p_until      timestamptz
)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- The level of a bucket that was at p_level at p_since and has refilled until p_until; time never runs backwards.
select least(p_burst, p_level + greatest(0, extract(epoch from p_until - p_since)) * p_per_minute / 60);
$function$;

comment on function forebay._refill is 'The level of a bucket that was at p_level at p_since and has refilled until p_until; time never runs backwards.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_refill.sql', 'repeatable', '528de7ce3a9956f4f1ec34898939a7c1a4b3823d00738acbb98feff0b0c9bff2', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_refuse.sql
create or replace function forebay._refuse(
    p_attempt forebay.task_attempts,
    p_agent   forebay.agents,
    p_quota   text,
    p_wait    interval
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note that a provider refused the attempt's calls: nothing starts until p_wait is over, then less than before.
--
-- The refusal is of the quota that the error names (p_quota) if the agent draws on it, else of its only quota, else of the
-- agent alone. It halves the share of the agent's own limits; a quota's limits are known, so a refusal means a little too
-- much, and takes a tenth of the share. No share falls below a tenth. A refusal of an attempt that was claimed before the
-- share was lowered says nothing of the lower share: it lowers nothing again, as long as the share has not grown since.
-- Two that do not see each other write the same share, so no lock is needed.
--
-- Writes  forebay.refusals
declare
    v_now     timestamptz := forebay._now();
    v_quota   text := case
        when p_quota = any(p_agent.quotas) then p_quota
        when cardinality(p_agent.quotas) = 1 then p_agent.quotas[1]
    end;
    v_refusal forebay.refusals := forebay._last_refusal(p_agent.agent, v_quota);
    v_share   numeric := forebay._share(v_refusal, v_now);
begin
    if p_attempt.started_at > v_refusal.lowered_at or v_share > v_refusal.share or v_refusal.refusal_id is null then
        v_refusal.share := greatest(0.1, trunc(v_share * case when v_quota is null then 0.5 else 0.9 end, 3));
        v_refusal.lowered_at := v_now;
        v_refusal.in_flight := greatest(
            (forebay._in_use(p_agent.agent, 10000) + 1)::integer, case when v_share < 1 then v_refusal.in_flight end
        );
    end if;
    insert into forebay.refusals (agent, quota, in_flight, paused_until, share, lowered_at)
    values (
        p_agent.agent, v_quota, v_refusal.in_flight, v_now + coalesce(forebay._exact(p_wait), interval '0'),
        v_refusal.share, v_refusal.lowered_at
    );
end;
$function$;

comment on function forebay._refuse is 'Note that a provider refused the attempt''s calls: nothing starts until p_wait is over, then less than before.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_refuse.sql', 'repeatable', '2ceb0c1021ae03892f76f27e0953655d9a11773c163bab6934e2f50972dc5c5e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_remaining.sql
create or replace function forebay._remaining(
    p_attempt         forebay.task_attempts,
    out calls         numeric,
    out input_tokens  numeric,
    out output_tokens numeric
)
    language sql
    stable
    security invoker
as $function$
-- What an attempt in flight is still expected to use, beyond what it has used and what its calls were granted.
--
-- A call that is over without known numbers keeps its grant, and is one of the used calls already.
select
    greatest(0, p_attempt.expected_calls - p_attempt.used_calls - count(*) filter (where not c.is_over)),
    greatest(0, p_attempt.expected_input_tokens - p_attempt.used_input_tokens - coalesce(sum(c.input_tokens), 0)),
    greatest(0, p_attempt.expected_output_tokens - p_attempt.used_output_tokens - coalesce(sum(c.output_tokens), 0))
from forebay.attempt_calls as c
where c.attempt_id = p_attempt.attempt_id;
$function$;

comment on function forebay._remaining is
'What an attempt in flight is still expected to use, beyond what it has used and what its calls were granted.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_remaining.sql', 'repeatable', '8eac83bfffc6b1d476ab40028d48dc1b0fe362b725de84d637a23d6ece8d1d61', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_rename_spending.sql
create or replace function forebay._rename_spending(p_customer text, p_alias text)
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Move what is added up for a customer to another name, on top of what is there; the caller holds the locks of both folds.
--
-- Returns  how many rows were moved
-- Writes   forebay.daily_spend, forebay.task_rollups
declare
    v_minutes integer;
    v_cells   forebay.task_cell[];
    v_rows    integer;
begin
    with moved as (
        delete from forebay.daily_spend as d where d.customer = p_customer and d.customer <> '' returning d.*
    )
    insert into forebay.daily_spend as d (day, agent, customer, usd)
    select m.day, m.agent, p_alias, m.usd from moved as m
    on conflict (day, agent, customer) do update set usd = d.usd + excluded.usd;
    get diagnostics v_rows = row_count;

    foreach v_minutes in array array[60, 1440, 40320] loop
        with moved as (
            delete from forebay.task_rollups as r
            where r.minutes = v_minutes and r.is_by_customer and r.customer = p_customer
            returning r.*
        )
        select array_agg((
            m.starts_at, m.agent, p_alias, m.status, m.tasks, m.ended_attempts, m.measured_attempts, m.priced_attempts,
            m.costed_attempts, m.provisional_attempts, m.input_tokens, m.output_tokens, m.cached_tokens, m.llm_usd,
            m.compute_usd, m.buckets, m.counts
        )::forebay.task_cell)
        into v_cells
        from moved as m;
        perform forebay._upsert_rollups(v_cells, v_minutes, true);
        v_rows := v_rows + coalesce(cardinality(v_cells), 0);
    end loop;
    return v_rows;
end;
$function$;

comment on function forebay._rename_spending is
'Move what is added up for a customer to another name, on top of what is there; the caller holds the locks of both folds.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_rename_spending.sql', 'repeatable', '481840c6ef2bb2975a9bdc3141694b0b17aa5a0aeb413d553c61542ce408f5de', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_reopen_uploads.sql
create or replace function forebay._reopen_uploads(p_task_ids bigint[])
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Have the uploads of tasks that were put back in line cleaned again when these have ended.
--
-- Writes  forebay.uploads
-- Locks   the uploads, by id
begin
    perform 1 from forebay.uploads as u
    where u.task_id = any(p_task_ids)
    order by u.upload_id
    for no key update;

    update forebay.uploads as u
    set cleaned_at = null
    where u.task_id = any(p_task_ids) and u.cleaned_at is not null;
end;
$function$;

comment on function forebay._reopen_uploads is 'Have the uploads of tasks that were put back in line cleaned again when these have ended.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_reopen_uploads.sql', 'repeatable', '6dcb912f21a301f99005000456420c06787181bb4f4c738d9242402f02f39731', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_report.sql
create or replace function forebay._report(
    p_attempt_id  bigint,
    p_is_success  boolean,
    p_result      jsonb,
    p_confidence  numeric,
    p_error       jsonb,
    p_retryable   boolean,
    p_retry_after interval
)
    returns forebay.reported_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Take in how an attempt ended, current or not, first time or repeated; what follows is _report_effect's to say.
--
-- An attempt that had ended without success, as one that was lost, and now succeeds has run until now: its end moves, and what
-- was estimated of its machine by the old end no longer counts. The end of one that Forebay has ended for good stays.
--
-- Writes  forebay.tasks, forebay.task_attempts, forebay.agent_settlements, forebay.refusals
-- Locks   the task, then the attempt and the task's current attempt, by id
-- Errors  QF304  there is no such attempt
declare
    v_held    forebay.held_attempt;
    v_task    forebay.tasks;
    v_attempt forebay.task_attempts;
    v_agent   forebay.agents;
    v_now     timestamptz;
    v_effect  text;
    v_status  text;
begin
    v_held := forebay._lock_attempt(p_attempt_id);
    v_task := v_held.task;
    v_attempt := v_held.attempt;
    v_agent := forebay._get_agent(v_task.agent);
    v_now := forebay._now();
    v_status := v_task.status;
    v_effect := forebay._report_effect(
        p_is_success, coalesce(v_task.attempt_id = p_attempt_id, false), v_task.status, v_attempt, v_agent.late_results
    );
    if v_effect = 'kept' and (p_result is not distinct from v_attempt.result or p_result is not distinct from v_task.result)
        or v_effect = 'recorded' and v_attempt.error is not distinct from p_error then
        v_effect := 'none';
    end if;

    update forebay.task_attempts as a
    set status = case v_effect when 'completed' then 'succeeded' when 'given_back' then 'failed' else a.status end,
        finished_at = case
            when v_effect in ('completed', 'given_back') then greatest(v_now, a.started_at)
            else a.finished_at
        end,
        result = case v_effect when 'kept' then p_result else a.result end,
        confidence = case v_effect when 'kept' then p_confidence else a.confidence end,
        error = case when v_effect in ('given_back', 'recorded') then p_error else a.error end,
        reported_at = coalesce(a.reported_at, v_now),
        is_stop_pending = false
    where a.attempt_id = p_attempt_id;

    if v_effect = 'completed' then
        if v_attempt.finished_at is not null then
            perform forebay._add_compute(array[p_attempt_id]);
        end if;
        update forebay.task_attempts as a
        set status = 'superseded', finished_at = greatest(v_now, a.started_at),
            is_stop_pending = a.run_ended_at is null
        where a.attempt_id = v_task.attempt_id and a.attempt_id <> p_attempt_id;
        update forebay.tasks as t
        set status = 'completed', result = p_result, confidence = p_confidence, error = null,
            finished_at = greatest(v_now, t.created_at),
            attempt_id = null, locked_by = null
        where t.task_id = v_task.task_id;
        v_status := 'completed';
    elsif v_effect = 'given_back' then
        v_status := forebay._after_failure(v_attempt, v_task, v_agent, p_error, p_retryable, p_retry_after);
        v_effect := case v_status when 'failed' then 'failed' else 'retrying' end;
    end if;
    perform forebay._settle(p_attempt_id);
    return (p_attempt_id, v_status, v_effect)::forebay.reported_attempt;
end;
$function$;

comment on function forebay._report is 'Take in how an attempt ended, current or not, first time or repeated; what follows is _report_effect''s to say.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_report.sql', 'repeatable', '161c69cfc7a78d591cfd65bba4ff5ea75fe18675912e3b8047674bc2958e3f12', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_report_effect.sql
create or replace function forebay._report_effect(
    p_is_success   boolean,
    p_is_current   boolean,
    p_task_status  text,
    p_attempt      forebay.task_attempts,
    p_late_results text
)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- What a report means: the one table of it.
--
-- Returns  completed, kept (the result goes to the attempt), given_back, recorded (the error goes to the attempt) or none
select case
    when p_is_current then case when p_is_success then 'completed' else 'given_back' end
    when p_task_status in ('completed', 'failed', 'cancelled') or p_attempt.status = 'cancelled'
        then case when p_is_success then 'kept' else 'none' end
    when p_attempt.status = 'failed' and p_attempt.reported_at is not null
        then case when p_is_success then 'completed' else 'none' end
    when not p_is_success then 'recorded'
    when p_late_results = 'accept' then 'completed'
    else 'kept'
end;
$function$;

comment on function forebay._report_effect is 'What a report means: the one table of it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_report_effect.sql', 'repeatable', 'cca44a142ef57021fdf342fdc6938e9e5fe07ce7b00f7c537051b23118e1be7d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_report_event.sql
create or replace function forebay._report_event(p_type text, p_attempt_id bigint, p_data jsonb)
    returns forebay.reported_attempt
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Report what an event says of how its attempt ended; null for an event that only brings usage.
--
-- Errors  22023  a key is of a wrong type or out of range, or a number is beyond 1.79e308
--         QF402  the result or the error is too large
declare
    v_confidence  numeric;
    v_retry_after interval;
    v_max_bytes   integer := (forebay._limits()).max_result_bytes;
begin
    if p_type = 'task.completed' then
        v_confidence := forebay._json_number(p_data, 'confidence');
        if v_confidence not between 0 and 1 then
            raise exception '"confidence" must be from 0 to 1, not %', v_confidence using errcode = '22023';
        end if;
        perform forebay._require_document(p_data -> 'result', 'the result', v_max_bytes);
        return forebay._report(p_attempt_id, true, p_data -> 'result', v_confidence, null, false, null);
    elsif p_type = 'task.failed' then
        perform forebay._require_document(p_data -> 'error', 'the error', v_max_bytes);
        if forebay._json_number(p_data, 'retry_after_seconds') not between 0 and 31557600 then
            raise exception '"retry_after_seconds" must be from 0 to a year' using errcode = '22023';
        end if;
        v_retry_after := make_interval(
            secs => round(forebay._json_number(p_data, 'retry_after_seconds'), 6)::double precision
        );
        return forebay._report(
            p_attempt_id, false, null, null, forebay._error(p_data -> 'error'),
            coalesce(forebay._json_boolean(p_data, 'retryable'), true), v_retry_after
        );
    end if;
    return null;
end;
$function$;

comment on function forebay._report_event is 'Report what an event says of how its attempt ended; null for an event that only brings usage.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_report_event.sql', 'repeatable', '79d68a18daf0437a3ef00dca30b153b08d5294f1de65fbe8075c9944a77e01ad', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_report_of_slots.sql
create or replace function forebay._report_of_slots(
    p_slots     forebay.time_slots[],
    p_statuses  text[],
    p_agents    text[],
    p_customers text[]
)
    returns forebay.metrics_report
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What metrics says of the tasks of slots: exact counts and sums, times and confidences by their histogram.
declare
    v_report  forebay.metrics_report;
    v_buckets smallint[];
    v_counts  bigint[];
begin
    with cells as materialized (
        select c.* from forebay._cells(p_slots, p_statuses, p_agents, p_customers is not null, p_customers) as c
    ), histogram as (
        select array_agg(h.bucket order by h.bucket) as buckets, array_agg(h.tasks order by h.bucket) as counts
        from (
            select b.bucket, sum(b.tasks)::bigint as tasks
            from cells as c
            cross join lateral unnest(c.buckets, c.counts) as b (bucket, tasks)
            group by b.bucket
        ) as h
    ), sums as (
        select
            coalesce(sum(c.tasks) filter (where c.status = 'enqueued'), 0)::bigint as enqueued,
            coalesce(sum(c.tasks) filter (where c.status = 'processing'), 0)::bigint as processing,
            coalesce(sum(c.tasks) filter (where c.status = 'completed'), 0)::bigint as completed,
            coalesce(sum(c.tasks) filter (where c.status = 'failed'), 0)::bigint as failed,
            coalesce(sum(c.tasks) filter (where c.status = 'cancelled'), 0)::bigint as cancelled,
            coalesce(sum(c.ended_attempts), 0)::bigint as ended, coalesce(sum(c.measured_attempts), 0)::bigint as measured,
            coalesce(sum(c.priced_attempts), 0)::bigint as priced, coalesce(sum(c.costed_attempts), 0)::bigint as costed,
            coalesce(sum(c.provisional_attempts), 0)::bigint as provisional, coalesce(sum(c.input_tokens), 0)::bigint as input_tokens,
            coalesce(sum(c.output_tokens), 0)::bigint as output_tokens, coalesce(sum(c.cached_tokens), 0)::bigint as cached_tokens,
            coalesce(sum(c.llm_usd), 0) as llm_usd, coalesce(sum(c.compute_usd), 0) as compute_usd
        from cells as c
    )
    select
        s.enqueued, s.processing, s.completed, s.failed, s.cancelled, s.ended, s.measured, s.priced, s.costed,
        s.input_tokens, s.output_tokens, s.cached_tokens, s.llm_usd, s.compute_usd,
        (select min(source.as_of) from forebay.compute_sources as source), s.costed = s.ended and s.provisional = 0,
        h.buckets, h.counts
    into
        v_report.enqueued, v_report.processing, v_report.completed, v_report.failed, v_report.cancelled,
        v_report.ended_attempts, v_report.measured_attempts, v_report.priced_attempts, v_report.costed_attempts,
        v_report.input_tokens, v_report.output_tokens, v_report.cached_tokens, v_report.llm_usd, v_report.compute_usd,
        v_report.compute_as_of, v_report.is_compute_final, v_buckets, v_counts
    from sums as s
    cross join histogram as h;
    return forebay._histogram_times(v_report, v_buckets, v_counts);
end;
$function$;

comment on function forebay._report_of_slots is
'What metrics says of the tasks of slots: exact counts and sums, times and confidences by their histogram.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_report_of_slots.sql', 'repeatable', '951ce5c5da64c3a950c71496e3bcb71b97275daa0d2dae3e5b82bb88025a3c74', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_request_burst.sql
create or replace function forebay._request_burst(p_agent forebay.agents)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How many claims the agent's bucket holds when it is full: 0.8 of max_rpm and at least one; null without max_rpm.
select case when p_agent.max_rpm > 0 then greatest(1, p_agent.max_rpm * 0.8) else p_agent.max_rpm end;
$function$;

comment on function forebay._request_burst is 'How many claims the agent''s bucket holds when it is full: 0.8 of max_rpm and at least one; null without max_rpm.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_request_burst.sql', 'repeatable', '834425b19d5ad6045d10bdaf99098f63703793fe3101767d72d9b80a32b2d72a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_agent_definition.sql
create or replace function forebay._require_agent_definition(p_agent forebay.agents)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check an agent's definition, so that a bad one is refused in a sentence before a constraint refuses it in a code.
--
-- Errors  22023  a name, word, limit, count or duration is out of its range
declare
    v_fault text;
begin
    v_fault := case
        when p_agent.agent is null or char_length(p_agent.agent) not between 1 and 200
            then 'p_agent must have 1 to 200 characters'
        when p_agent.launcher is null or p_agent.launcher not in ('pull', 'local', 'lakeflow')
            then 'p_launcher must be pull, local or lakeflow'
        when p_agent.launcher = 'local' and p_agent.entry_point is null
            then 'launcher local needs p_entry_point, such as parse_document'
        when char_length(p_agent.entry_point) not between 1 and 200 then 'p_entry_point must have 1 to 200 characters'
        when p_agent.max_concurrent_tasks < 0 or p_agent.max_tpm < 0 or p_agent.max_rpm < 0
            then 'p_max_concurrent_tasks, p_max_tpm and p_max_rpm must not be negative; null means no limit'
        when p_agent.max_waiting < 0 or p_agent.max_usd_per_day < 0
            then 'p_max_waiting and p_max_usd_per_day must not be negative; null means no limit'
        when p_agent.max_usd_per_day in ('NaN', 'Infinity') then 'p_max_usd_per_day must be a number; null means no limit'
        when p_agent.is_fair_by_customer is null then 'p_fair_by_customer must not be null'
        when p_agent.max_deferrals is null or p_agent.max_deferrals < 0 then 'p_max_deferrals must not be negative'
        when p_agent.reserve_after is null or p_agent.reserve_after not between interval '0' and interval '10 years'
            then 'p_reserve_after must be from 0 to 10 years'
        when p_agent.aging not between interval '1 microsecond' and interval '10 years'
            then 'p_aging must be above 0 and at most 10 years; null means strict priority'
        when p_agent.max_tpm > 1000000000000000 then 'p_max_tpm must not be above 10^15'
        when p_agent.tpm_burst is null or not (p_agent.tpm_burst > 0 and p_agent.tpm_burst <= 100)
            then 'p_tpm_burst must be above 0 and at most 100'
        when p_agent.max_attempts is null or p_agent.max_attempts not between 1 and 1000
            then 'p_max_attempts must be from 1 to 1000'
        when p_agent.max_releases is null or p_agent.max_releases < 0 then 'p_max_releases must not be negative'
        when p_agent.on_lost_lease is null or p_agent.on_lost_lease not in ('retry', 'fail')
            then 'p_on_lost_lease must be retry or fail'
        when p_agent.late_results is null or p_agent.late_results not in ('accept', 'reject')
            then 'p_late_results must be accept or reject'
        when p_agent.default_estimated_tokens is null or p_agent.default_estimated_tokens not between 0 and 1000000000000
            then 'p_default_estimated_tokens must be from 0 to 10^12'
        when p_agent.backoff_max < p_agent.backoff_base then 'p_backoff_max must not be below p_backoff_base'
        else (
            select format('%s must be above 0 and at most 10 years', durations.name)
            from (values
                ('p_lease', p_agent.lease), ('p_timeout', p_agent.timeout), ('p_backoff_base', p_agent.backoff_base),
                ('p_backoff_max', p_agent.backoff_max), ('p_retention', p_agent.retention),
                ('p_max_deferral_time', p_agent.max_deferral_time)
            ) as durations (name, duration)
            where durations.duration is null or durations.duration not between interval '1 microsecond' and interval '10 years'
            limit 1
        )
    end;
    if v_fault is not null then
        raise exception '%', v_fault using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_agent_definition is 'Check an agent''s definition, so that a bad one is refused in a sentence before a constraint refuses it in a code.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_agent_definition.sql', 'repeatable', '361490cd1f0648a23d24eec6092f1c9c78d5840f9cb3adc7c953ac500aaadf9c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_agents.sql
create or replace function forebay._require_agents(p_agents text[])
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that every name in p_agents is an agent's; null asks for nothing.
--
-- Errors  22023  a name is null
--         QF301  there is no such agent
declare
    v_name text;
begin
    if p_agents is null then
        return;
    end if;
    foreach v_name in array p_agents loop
        if v_name is null then
            raise exception 'p_agents must not hold null' using errcode = '22023';
        end if;
        perform forebay._get_agent(v_name);
    end loop;
end;
$function$;

comment on function forebay._require_agents is 'Check that every name in p_agents is an agent''s; null asks for nothing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_agents.sql', 'repeatable', 'da67b2a489d1c7c28044aeb80024d325b9b6a890b67f3ab5f2baca6f016ca8b8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_between.sql
create or replace function forebay._require_between(p_value bigint, p_name text, p_from bigint, p_to bigint)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that an argument lies between p_from and p_to; null does not.
--
-- Errors  22023  it does not
begin
    if p_value is null or p_value not between p_from and p_to then
        raise exception '% must be from % to %, not %', p_name, p_from, p_to, coalesce(p_value::text, 'null')
            using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_between is 'Check that an argument lies between p_from and p_to; null does not.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_between.sql', 'repeatable', '481a44ff3094737bef1a34c1f22851a6eb3804d529b54687da24ce8c5fa2ed8e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_call.sql
create or replace function forebay._require_call(p_tokens bigint, p_output_tokens bigint, p_call_id text)
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check what may_call is asked for, and where.
--
-- Errors  22023  a number is out of its range, or the call's id is empty or too long
--         25001  the transaction is not READ COMMITTED
begin
    perform forebay._require_between(p_tokens, 'p_tokens', 0, 1000000000000);
    if p_output_tokens is not null then
        perform forebay._require_between(p_output_tokens, 'p_output_tokens', 0, p_tokens);
    end if;
    if char_length(p_call_id) not between 1 and 500 then
        raise exception 'p_call_id must have 1 to 500 characters' using errcode = '22023';
    end if;
    perform forebay._require_read_committed('may_call');
end;
$function$;

comment on function forebay._require_call is 'Check what may_call is asked for, and where.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_call.sql', 'repeatable', 'c909cf7e1c0439a7b75612fca157745a8c029af3175eef63b071d145e31d5e29', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_count.sql
create or replace function forebay._require_count(p_count bigint, p_expected bigint)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that as many tasks match as somebody was shown.
--
-- Errors  QF204  they are more or fewer
begin
    if p_count <> p_expected then
        raise exception '% now, not %', case p_count when 1 then '1 task matches' else p_count || ' tasks match' end, p_expected
            using errcode = 'QF204', detail = 'Nothing was changed.', hint = 'Look at what matches, and confirm it again.';
    end if;
end;
$function$;

comment on function forebay._require_count is 'Check that as many tasks match as somebody was shown.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_count.sql', 'repeatable', '49b8cf3c99bf80c4f0d3dfec09019c9151c6a47a08379a7fa56c5bf2bcfd9cf9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_delay.sql
create or replace function forebay._require_delay(p_delay interval, p_name text)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a delay, if given, lies between nothing and a year.
--
-- Errors  22023  it does not
begin
    if p_delay < interval '0' or p_delay > interval '1 year' then
        raise exception '% must be from 0 to 1 year, not %', p_name, p_delay using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_delay is 'Check that a delay, if given, lies between nothing and a year.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_delay.sql', 'repeatable', 'cb60385fa2150164531be20ddb91b72d9335bd2a10a17b4ffadb30722c809f6b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_document.sql
create or replace function forebay._require_document(p_document jsonb, p_name text, p_max_bytes integer)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a document, written as text, is no longer than p_max_bytes, and that it can be read everywhere.
--
-- Errors  22023  it has a vast number, or is nested too deep
--         QF402  it is too long
declare
    v_fault text;
begin
    if octet_length(p_document::text) > p_max_bytes then
        raise exception '% has % bytes, more than the % that are allowed',
            p_name, octet_length(p_document::text), p_max_bytes
            using errcode = 'QF402', hint = 'Keep the content in a file and let the document point to it.';
    end if;
    v_fault := forebay._unreadable(p_document);
    if v_fault is not null then
        raise exception '% %', p_name, v_fault
            using errcode = '22023', hint = 'Write a large number as a string, and a deep document flatter.';
    end if;
end;
$function$;

comment on function forebay._require_document is
'Check that a document, written as text, is no longer than p_max_bytes, and that it can be read everywhere.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_document.sql', 'repeatable', '1e1be6d772815bcb451b036bb527acea9687611c7d20a836a7f5fbab13b406e8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_ids.sql
create or replace function forebay._require_ids(p_ids bigint[], p_name text)
    returns bigint[]
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The distinct ids of p_ids, in order, without nulls.
--
-- Errors  22023  the array itself is null
begin
    if p_ids is null then
        raise exception '% must not be null', p_name using errcode = '22023';
    end if;
    return array(select distinct ids.id from unnest(p_ids) as ids (id) where ids.id is not null order by ids.id);
end;
$function$;

comment on function forebay._require_ids is 'The distinct ids of p_ids, in order, without nulls.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_ids.sql', 'repeatable', 'fc6a992477719a7572b769f9aad019867dd8e364fa4fb12b7f5d685d6f305a01', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_launchers.sql
create or replace function forebay._require_launchers(p_launchers text[])
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that every word in p_launchers is a launcher; null asks for nothing.
--
-- Errors  22023  one is not
begin
    if not p_launchers <@ array['pull', 'local', 'lakeflow'] then
        raise exception 'p_launchers may hold pull, local and lakeflow, not %', left(p_launchers::text, 100)
            using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_launchers is 'Check that every word in p_launchers is a launcher; null asks for nothing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_launchers.sql', 'repeatable', '79301b1cdf251d3b587f91f7430fa375572b46894863176e72cf67faa2d17a86', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_open.sql
create or replace function forebay._require_open()
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse to go on in a branch or a restored copy that no operator has opened.
--
-- Errors  QF401  this database is a copy and may not dispatch
begin
    if not forebay._may_dispatch() then
        raise exception 'this database is a branch or a restored copy and does not dispatch'
            using errcode = 'QF401',
                detail = 'Its tasks belong to the database it was copied from.',
                hint = 'An operator opens it with forebay.open_installation(p_reason => ''...'').';
    end if;
end;
$function$;

comment on function forebay._require_open is 'Refuse to go on in a branch or a restored copy that no operator has opened.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_open.sql', 'repeatable', '6bfd3f9411590ebbe2f788168b8619eb279916c8c063a5110ac472447cc7004a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_owner.sql
create or replace function forebay._require_owner()
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse what destroys data, or begins a branch, to a login that could not do it by hand: one that may not act as forebay_owner.
--
-- Errors  42501  the login is no member of forebay_owner
begin
    if not pg_has_role(session_user, 'forebay_owner', 'member') then
        raise exception 'role "%" may not act as forebay_owner', session_user
            using errcode = '42501', hint = 'Log in as who installed the schema, or have them grant forebay_owner.';
    end if;
end;
$function$;

comment on function forebay._require_owner is
'Refuse what destroys data, or begins a branch, to a login that could not do it by hand: one that may not act as forebay_owner.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_owner.sql', 'repeatable', 'ca77297b933898e83c19f35b2dc64189289ecbe330128f9106f31ff9f48da48e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_quotas.sql
create or replace function forebay._require_quotas(p_quotas text[])
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that every name in p_quotas is a quota's; null asks for nothing.
--
-- Errors  22023  a name is null
--         QF305  there is no such quota
declare
    v_name text;
begin
    foreach v_name in array coalesce(p_quotas, '{}') loop
        if v_name is null then
            raise exception 'p_quotas must not hold null' using errcode = '22023';
        end if;
        if not exists (select from forebay.quotas as q where q.quota = v_name) then
            raise exception 'quota "%" does not exist', left(v_name, 200)
                using errcode = 'QF305', hint = 'Register it with forebay.register_quota, or see forebay.quota_status().';
        end if;
    end loop;
end;
$function$;

comment on function forebay._require_quotas is 'Check that every name in p_quotas is a quota''s; null asks for nothing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_quotas.sql', 'repeatable', '4ea0f809aca600f71cb4d136cdb81964095270ae2c9e23fb700f2f909d9885b9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_read_committed.sql
create or replace function forebay._require_read_committed(p_act text)
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that each statement of the transaction sees what was committed before it: under a lock, it must.
--
-- Errors  25001  it does not
begin
    if current_setting('transaction_isolation') <> 'read committed' then
        raise exception '% must run at READ COMMITTED, not %', p_act, upper(current_setting('transaction_isolation'))
            using errcode = '25001', hint = 'Call it in a transaction of its own, at the default isolation level.';
    end if;
end;
$function$;

comment on function forebay._require_read_committed is 'Check that each statement of the transaction sees what was committed before it: under a lock, it must.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_read_committed.sql', 'repeatable', '87df65af32982ee589f05e15180b058d3e21fa44dad1f3e87ca0c0f658a02eec', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_short_line.sql
create or replace function forebay._require_short_line(p_agent forebay.agents)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse what was just enqueued when more tasks of the agent wait than may; those that are not due yet wait too.
--
-- Errors  QF403  more would wait than max_waiting
declare
    v_waiting bigint;
begin
    select count(*) into v_waiting
    from (
        (
            select 1 from forebay.tasks as t
            where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready
            limit p_agent.max_waiting::bigint + 1
        )
        union all
        (
            select 1 from forebay.tasks as t
            where t.agent = p_agent.agent and t.status = 'enqueued' and not t.is_ready
            limit p_agent.max_waiting::bigint + 1
        )
    ) as waiting;
    if v_waiting > p_agent.max_waiting then
        raise exception 'agent "%" has no room in its line: at most % of its tasks may wait', p_agent.agent, p_agent.max_waiting
            using errcode = 'QF403', hint = 'Nothing was enqueued. Try again when some have started.';
    end if;
end;
$function$;

comment on function forebay._require_short_line is 'Refuse what was just enqueued when more tasks of the agent wait than may; those that are not due yet wait too.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_short_line.sql', 'repeatable', '9b7bb2b034d8125524a0f89ee522f8b7030bb834f79df88d19ea5935bcf54b80', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_statuses.sql
create or replace function forebay._require_statuses(p_statuses text[])
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that p_statuses, if given, holds statuses.
--
-- Errors  22023  a word is no status
declare
    v_word text;
begin
    select words.word into v_word
    from unnest(p_statuses) as words (word)
    where words.word is null or words.word not in ('enqueued', 'processing', 'completed', 'failed', 'cancelled')
    limit 1;
    if found then
        raise exception 'no status is called "%"', v_word
            using errcode = '22023', hint = 'Statuses: enqueued, processing, completed, failed, cancelled.';
    end if;
end;
$function$;

comment on function forebay._require_statuses is 'Check that p_statuses, if given, holds statuses.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_statuses.sql', 'repeatable', 'f544d1fe66cce0f9846681661ce65e83ce05a4846932a9225fdab714ee731c89', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_unreported.sql
create or replace function forebay._require_unreported(p_attempt_id bigint, p_call_id text)
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a call was not reported under its id: what a second call used would be taken for the first one's.
--
-- Errors  22023  it was
begin
    if exists (
        select from forebay.attempt_usage as u
        where u.attempt_id = p_attempt_id and u.source = 'agent' and u.call_id = p_call_id
    ) then
        raise exception 'call "%" of attempt % was reported already', left(p_call_id, 60), p_attempt_id
            using errcode = '22023', hint = 'Each try of a call needs a p_call_id of its own.';
    end if;
end;
$function$;

comment on function forebay._require_unreported is
'Check that a call was not reported under its id: what a second call used would be taken for the first one''s.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_unreported.sql', 'repeatable', '839078419687f91b75001af4777fad6fdcbaa395fdc4fdf537e4a136753a3487', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_require_worker.sql
create or replace function forebay._require_worker(p_worker text)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that p_worker can name a process.
--
-- Errors  22023  it is null, empty, or longer than 200 characters
begin
    if p_worker is null or p_worker = '' or char_length(p_worker) > 200 then
        raise exception 'p_worker must be a name of 1 to 200 characters'
            using errcode = '22023', hint = 'Use one that is unique to the process, such as host:pid:random.';
    end if;
end;
$function$;

comment on function forebay._require_worker is 'Check that p_worker can name a process.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_require_worker.sql', 'repeatable', 'ec22cb05a259e9571582eb247529e8e1b747afe8e232e6b1b8312657984de46a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_reservation.sql
create or replace function forebay._reservation(p_agent forebay.agents, p_now timestamptz)
    returns forebay.fit
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What the task waits for that nobody in the agent's line passes, when nothing of the line may start; reason null: no such task.
declare
    v_line forebay.lined_up[] := forebay._line(p_agent, 101, null, p_now, false);
    v_fit  forebay.fit;
begin
    v_line := array(select l from unnest(v_line) as l where l.waited >= p_agent.reserve_after);
    loop
        v_fit := forebay._fitting(p_agent, v_line, 1, p_now);
        exit when v_fit.reason is distinct from 'spend_cap';
        v_line := array(select l from unnest(v_line) as l where l.task_id <> v_fit.task_id);
    end loop;
    return v_fit;
end;
$function$;

comment on function forebay._reservation is
'What the task waits for that nobody in the agent''s line passes, when nothing of the line may start; reason null: no such task.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_reservation.sql', 'repeatable', 'a87149b9e768adbae19532c31f8b063de5b22b5c2fb9f771438671ef62012f64', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_result_fault.sql
create or replace function forebay._result_fault(p_result jsonb, p_confidence numeric)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What is wrong with a result, in words; null when nothing is.
begin
    return (
        select case
            when octet_length(p_result::text) > i.max_result_bytes
                then format('the result has %s bytes, more than the %s that are allowed', octet_length(p_result::text), i.max_result_bytes)
            when forebay._unreadable(p_result) is not null
                then 'the result ' || forebay._unreadable(p_result)
            when p_confidence not between 0 and 1
                then format('the confidence must be from 0 to 1, not %s', p_confidence)
        end
        from forebay.installation as i
    );
end;
$function$;

comment on function forebay._result_fault is 'What is wrong with a result, in words; null when nothing is.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_result_fault.sql', 'repeatable', '609fba58a648a732b580357edd6d6edd104476ea1930ea17b2c37efc7f2c6798', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_retry.sql
create or replace function forebay._retry(p_task_ids bigint[], p_priority integer, p_reason text, p_actor text)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Put failed and cancelled tasks back in line. Their attempts start afresh, their history stays.
--
-- Returns  one row a distinct id, by id; effect is retried, none (nothing to retry) or unknown
-- Writes   forebay.tasks, forebay.uploads, forebay.audit_log
-- Locks    the lines of the tasks' agents against a change of their definition, then the tasks, by id, and their uploads
-- Errors   22023  p_task_ids is null, or p_priority is no smallint
declare
    v_ids     bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_retried bigint[];
    v_now     timestamptz;
begin
    if p_priority is not null then
        perform forebay._require_between(p_priority, 'p_priority', -32768, 32767);
    end if;
    perform forebay._join_line(array(select t.agent from forebay.tasks as t where t.task_id = any(v_ids)));
    perform forebay._lock_tasks(v_ids);
    v_now := forebay._now();

    with retried as (
        update forebay.tasks as t
        set status = 'enqueued', priority = coalesce(p_priority, t.priority), finished_at = null, error = null,
            attempt_count = 0, release_count = 0, deferral_count = 0, deferred_since = null,
            available_at = v_now, is_ready = true,
            is_shared = (select a.is_fair_by_customer from forebay.agents as a where a.agent = t.agent)
        where t.task_id = any(v_ids) and t.status in ('failed', 'cancelled')
        returning t.task_id
    )
    select coalesce(array_agg(r.task_id), '{}') into v_retried from retried as r;
    perform forebay._reopen_uploads(v_retried);
    perform forebay._audit('retry', v_retried, null, p_reason, p_actor);

    return query select * from forebay._effects(v_ids, v_retried, 'retried');
end;
$function$;

comment on function forebay._retry is 'Put failed and cancelled tasks back in line. Their attempts start afresh, their history stays.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_retry.sql', 'repeatable', 'bff06ab1f9a236d601a2c5c44f1b275a62634b173921eedca83d47ac89d88280', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_room.sql
create or replace function forebay._room(p_agent forebay.agents, p_now timestamptz)
    returns integer
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many more tasks the agent may have processing: by concurrency, and by claims a minute.
--
-- A limit of 0 admits nothing, max_tpm's included.
declare
    v_slots    bigint;
    v_requests numeric;
begin
    if p_agent.max_tpm = 0 or p_agent.max_rpm = 0 or p_agent.max_concurrent_tasks = 0 then
        return 0;
    end if;
    if p_agent.max_concurrent_tasks is not null then
        v_slots := p_agent.max_concurrent_tasks - forebay._in_use(p_agent.agent, p_agent.max_concurrent_tasks);
    end if;
    if p_agent.max_rpm is not null then
        v_requests := floor((forebay._levels(p_agent, p_now)).requests);
    end if;
    return greatest(0, least(v_slots, v_requests, 2147483647))::integer;
end;
$function$;

comment on function forebay._room is 'How many more tasks the agent may have processing: by concurrency, and by claims a minute.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_room.sql', 'repeatable', '2a31a9f137915cb6cf248047efb75313b6eff7a51af733216052834427f4b782', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_rule_words.sql
create or replace function forebay._rule_words(p_fit forebay.fit, p_task forebay.tasks)
    returns text
    language sql
    stable
    security invoker
as $function$
-- The two sides of the rule that hinders p_task, or one before it: what its subject has left, and what is needed.
select case p_fit.reason
    when 'full' then format(
        'agent %s runs %s of %s tasks at once%s', p_fit.subject,
        forebay._number_words(p_fit.amount - p_fit.has), forebay._number_words(p_fit.amount), forebay._configured_words(p_fit)
    )
    when 'spend_cap' then format(
        'the cap of %s %s has %s of %s US dollars left for today and this task is expected to cost %s',
        case when p_fit.subject = p_task.customer then 'customer' else 'agent' end, p_fit.subject,
        forebay._number_words(greatest(0, p_fit.has)), forebay._number_words(p_fit.amount), forebay._number_words(p_fit.needs)
    )
    else format(
        '%s %s has %s of %s%s left%s and %s needs %s',
        case p_fit.reason when 'quota' then 'quota' else 'agent' end, p_fit.subject,
        forebay._number_words(floor(greatest(0, p_fit.has))),
        concat_ws(
            ' ', forebay._number_words(p_fit.amount), replace(p_fit.unit, '_', ' '), forebay._period_words(p_fit.period)
        ),
        forebay._configured_words(p_fit),
        case p_fit.reason when 'quota' then ' for new tasks' end,
        case p_fit.task_id when p_task.task_id then 'this task' else 'that one' end, forebay._number_words(ceil(p_fit.needs))
    )
end;
$function$;

comment on function forebay._rule_words is
'The two sides of the rule that hinders p_task, or one before it: what its subject has left, and what is needed.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_rule_words.sql', 'repeatable', '48de85b12338bad78d9c0d60ab5d9ae4e78f356781fc3d7afe6c7749fd6e054c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_run_outcome.sql
create or replace function forebay._run_outcome(p_launcher text, p_run jsonb)
    returns forebay.run_outcomes
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The row of run_outcomes that fits a run best: the fewest * wins; a state that no row names renews.
--
-- Errors  22023  a key of p_run is of a wrong type
declare
    v_outcome forebay.run_outcomes;
    v_life    text := forebay._json_text(p_run, 'life_cycle_state');
    v_result  text := coalesce(forebay._json_text(p_run, 'result_state'), '*');
    v_code    text := coalesce(forebay._json_text(p_run, 'termination_code'), '*');
begin
    select o.* into v_outcome
    from forebay.run_outcomes as o
    where o.launcher = p_launcher and o.life_cycle_state = v_life
        and o.result_state in (v_result, '*') and o.termination_code in (v_code, '*')
    order by (o.result_state = '*')::integer + (o.termination_code = '*')::integer, o.termination_code = '*'
    limit 1;
    if not found then
        v_outcome.outcome := 'renew';
        v_outcome.is_ended := false;
        v_outcome.may_report_yet := false;
        v_outcome.is_held_up := false;
    end if;
    return v_outcome;
end;
$function$;

comment on function forebay._run_outcome is 'The row of run_outcomes that fits a run best: the fewest * wins; a state that no row names renews.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_run_outcome.sql', 'repeatable', '9cb5900fe15be4c64ebe701c1accce7e7d8c4ee636178f99b21acd4b162ec2a1', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_run_words.sql
create or replace function forebay._run_words(p_run jsonb)
    returns text
    language sql
    stable
    security invoker
as $function$
-- What the launcher saw of a run, or of its own call, in words.
select
    case p_run ->> 'life_cycle_state'
        when 'LAUNCH_FAILED' then 'launch failed with '
        when 'POLL_FAILED' then 'run not seen: '
        else 'run seen '
    end
    || concat_ws(
        ', ', nullif(nullif(p_run ->> 'life_cycle_state', 'LAUNCH_FAILED'), 'POLL_FAILED'), p_run ->> 'result_state',
        p_run ->> 'termination_code'
    )
    || coalesce(': ' || left(p_run ->> 'message', 500), '');
$function$;

comment on function forebay._run_words is 'What the launcher saw of a run, or of its own call, in words.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_run_words.sql', 'repeatable', '1c79e5b3ec55129a9707ff858151b2aa3c219e8ee3ddb767492968085dc13670', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_search_tasks.sql
create or replace function forebay._search_tasks(p_search text, p_filter forebay.task_filter)
    returns forebay.task_filter
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Resolve a search: p_filter with the tasks, batches and customers that p_search means; one without words means all.
--
-- A number is the id of a task, batch or attempt. Anything may be a run, a launch token or an idempotency key, exactly; what
-- is no number also part of a batch's name or a customer. Of such batches the 1,000 latest count.
--
-- Errors  22023  p_search has more than 500 characters
declare
    v_search text := nullif(btrim(p_search), '');
    v_part   text := lower(v_search);
    v_number bigint := case when v_search ~ '^[0-9]{1,18}$' then v_search::bigint end;
    v_filter forebay.task_filter := p_filter;
begin
    if char_length(v_search) > 500 then
        raise exception 'p_search must have at most 500 characters' using errcode = '22023';
    end if;
    v_filter.is_search := v_search is not null;
    v_filter.found_tasks := array(
        select t.task_id from forebay.tasks as t where t.task_id = v_number
        union
        select a.task_id from forebay.task_attempts as a where a.attempt_id = v_number
        union
        select a.task_id from forebay.task_attempts as a where a.run_id = v_search
        union
        select a.task_id from forebay.task_attempts as a where a.launch_token = v_search
        union
        select t.task_id
        from forebay.agents as g
        inner join forebay.tasks as t on t.agent = g.agent and t.idempotency_key = v_search
    );
    v_filter.found_batches := array(
        select b.batch_id from forebay.batches as b
        where b.batch_id = v_number or (v_number is null and strpos(lower(b.name), v_part) > 0)
        order by b.batch_id desc
        limit 1000
    );
    v_filter.found_customers := array(
        select c.customer from forebay._customers_with_tasks() as c (customer)
        where v_number is null and strpos(lower(c.customer), v_part) > 0
    );
    return v_filter;
end;
$function$;

comment on function forebay._search_tasks is
'Resolve a search: p_filter with the tasks, batches and customers that p_search means; one without words means all.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_search_tasks.sql', 'repeatable', '3fe4134b5d2c251c36e53428025fcd33473b6942284d08d5e40440a2e00f4797', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_seen.sql
create or replace function forebay._seen(p_worker text, p_did text)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note for health() that p_worker has just claimed or swept; at most once in five seconds, and never waiting.
--
-- Writes  forebay.dispatchers, under a try-lock of its own, so that callers with one name do not queue up
declare
    v_now timestamptz := forebay._now();
begin
    perform 1 from forebay.dispatchers as d
    where d.worker = p_worker
        and case p_did when 'claim' then d.last_claim_at else d.last_sweep_at end > v_now - interval '5 seconds';
    if found or not pg_try_advisory_xact_lock(hashtextextended('forebay.dispatcher ' || p_worker, 0)) then
        return;
    end if;

    insert into forebay.dispatchers as d (worker, first_seen_at, last_claim_at, last_sweep_at)
    values (p_worker, v_now, case p_did when 'claim' then v_now end, case p_did when 'sweep' then v_now end)
    on conflict (worker) do update set
        last_claim_at = coalesce(excluded.last_claim_at, d.last_claim_at),
        last_sweep_at = coalesce(excluded.last_sweep_at, d.last_sweep_at);
end;
$function$;

comment on function forebay._seen is 'Note for health() that p_worker has just claimed or swept; at most once in five seconds, and never waiting.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_seen.sql', 'repeatable', '2add6c3f77f4884d21fd0852188ba48bc02172fba510a4848c49e6ae8c0b4217', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_set_budget.sql
create or replace function forebay._set_budget(p_old forebay.agents, p_new forebay.agents, p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Give an agent the buckets of its new definition: a level is kept, cut to the new burst; a first limit starts full.
--
-- Writes  forebay.agent_budgets, forebay.agent_settlements
declare
    v_levels record;
begin
    select l.* into v_levels from forebay._levels(p_old, p_now) as l;
    insert into forebay.agent_budgets as b (agent, tokens, requests, refilled_at, limited_since)
    values (
        p_new.agent,
        case when p_new.max_tpm is not null then least(v_levels.tokens, forebay._token_burst(p_new)) end,
        case when p_new.max_rpm is not null then least(v_levels.requests, forebay._request_burst(p_new)) end,
        p_now,
        case when p_new.max_tpm is not null then p_now end
    )
    on conflict (agent) do update set
        tokens = excluded.tokens, requests = excluded.requests, refilled_at = excluded.refilled_at,
        limited_since = case
            when v_levels.tokens is null or p_new.max_tpm is null then excluded.limited_since
            else b.limited_since
        end;
    delete from forebay.agent_settlements as s
    where s.agent = p_new.agent and (p_new.max_tpm is null or s.settlement_id = any(v_levels.folded));
end;
$function$;

comment on function forebay._set_budget is 'Give an agent the buckets of its new definition: a level is kept, cut to the new burst; a first limit starts full.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_set_budget.sql', 'repeatable', '7a747f18bfedb79091f2ca55993e93161bea9733585e24c9c68b94c9ce088da4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_set_shared.sql
create or replace function forebay._set_shared(p_agent forebay.agents)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Let the tasks of an agent that serves its customers in turns be found by customer; those of others may be found so too.
--
-- Writes  forebay.tasks.is_shared
-- Locks   the tasks, by id
begin
    if not p_agent.is_fair_by_customer then
        return;
    end if;
    with alone as (
        select t.task_id from forebay.tasks as t
        where t.agent = p_agent.agent and t.status in ('enqueued', 'processing') and not t.is_shared
        order by t.task_id
        for no key update
    )
    update forebay.tasks as t
    set is_shared = true
    from alone
    where t.task_id = alone.task_id;
end;
$function$;

comment on function forebay._set_shared is 'Let the tasks of an agent that serves its customers in turns be found by customer; those of others may be found so too.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_set_shared.sql', 'repeatable', '7ec23c60cb1a6ce082897216c3e72adf9bcf922f346220730447a1b2d59b5f5f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_settle.sql
create or replace function forebay._settle(p_attempt_id bigint, p_is_release boolean default false)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Replace what the attempt was charged with by what it used, as far as that is known; the caller holds its row.
--
-- What is used beyond the charge counts at once. Less counts when the attempt has ended and its usage is known: a crash
-- keeps the charge until somebody reports. A release that reported nothing used nothing.
--
-- Writes  forebay.agent_settlements, forebay.task_attempts.charged_tokens
declare
    v_attempt forebay.task_attempts := forebay._get_attempt(p_attempt_id);
    v_used    bigint := v_attempt.used_input_tokens + v_attempt.used_output_tokens;
    v_actual  bigint := case
        when v_attempt.finished_at is not null and v_attempt.is_usage_known then v_used
        when v_attempt.used_calls = 0 and p_is_release then 0
        else greatest(v_attempt.charged_tokens, v_used)
    end;
begin
    if v_attempt.charged_tokens is null or v_actual = v_attempt.charged_tokens then
        return;
    end if;
    insert into forebay.agent_settlements (agent, tokens, settled_at)
    select v_attempt.agent, v_attempt.charged_tokens - v_actual, forebay._now()
    from forebay.agent_budgets as b
    where b.agent = v_attempt.agent and b.limited_since <= v_attempt.started_at;
    update forebay.task_attempts as a set charged_tokens = v_actual where a.attempt_id = p_attempt_id;
end;
$function$;

comment on function forebay._settle is 'Replace what the attempt was charged with by what it used, as far as that is known; the caller holds its row.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_settle.sql', 'repeatable', '88ea2d33ba3998c88fe955bd8fd452d27e582414065af80548c761ab71c7950b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_settle_call.sql
create or replace function forebay._settle_call(
    p_attempt forebay.task_attempts,
    p_old     forebay.attempt_usage,
    p_new     forebay.attempt_usage
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Leave to the quotas what a call's report adds to what they were charged for it; p_old is null for a new call.
--
-- A granted call is found by its id, or as the oldest that was granted without one. Its first report says that it is over;
-- a number of tokens that stays unknown keeps its grant until it is known. A call that nobody asked for counts when it was
-- made, against the quotas that the agent draws on now. Traces count only where neither the agent's asking nor its own
-- reports tell of its calls.
--
-- Writes  forebay.quota_settlements, forebay.attempt_calls
declare
    v_quotas text[];
    v_grant  forebay.attempt_calls;
    v_call   forebay.quota_settlements;
begin
    if p_new.source = 'trace' and (p_attempt.asks_first or exists (
        select from forebay.attempt_usage as u where u.attempt_id = p_attempt.attempt_id and u.source = 'agent'
    )) then
        return;
    end if;
    select c.* into v_grant
    from forebay.attempt_calls as c
    where c.attempt_id = p_attempt.attempt_id and (c.call_id = p_new.call_id or (c.call_id is null and p_old.call_id is null))
    order by c.call_id nulls last, c.is_over, c.call_no
    limit 1;
    if found then
        delete from forebay.attempt_calls as c
        where c.attempt_id = v_grant.attempt_id and c.call_no = v_grant.call_no
            and p_new.input_tokens is not null and p_new.output_tokens is not null;
        update forebay.attempt_calls as c
        set is_over = true, call_id = p_new.call_id,
            input_tokens = case when p_new.input_tokens is null then c.input_tokens else 0 end,
            output_tokens = case when p_new.output_tokens is null then c.output_tokens else 0 end
        where c.attempt_id = v_grant.attempt_id and c.call_no = v_grant.call_no;
    end if;
    v_quotas := coalesce(v_grant.quotas, (forebay._get_agent(p_attempt.agent)).quotas);
    v_call.called_at := coalesce(v_grant.granted_at, forebay._called_at(p_new, p_attempt.started_at));
    v_call.requests := (v_grant.call_no is null and p_old.call_id is null)::integer;
    v_call.input_tokens := coalesce(p_new.input_tokens - coalesce(p_old.input_tokens, v_grant.input_tokens, 0), 0);
    v_call.output_tokens := coalesce(p_new.output_tokens - coalesce(p_old.output_tokens, v_grant.output_tokens, 0), 0);

    insert into forebay.quota_settlements (quota, called_at, requests, input_tokens, output_tokens)
    select q.quota, v_call.called_at, v_call.requests, v_call.input_tokens, v_call.output_tokens
    from forebay.quotas as q
    where q.quota = any(v_quotas) and (v_call.requests, v_call.input_tokens, v_call.output_tokens) <> (0, 0, 0);
end;
$function$;

comment on function forebay._settle_call is 'Leave to the quotas what a call''s report adds to what they were charged for it; p_old is null for a new call.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_settle_call.sql', 'repeatable', 'e706c930c38b6952a5fc98f6f341365d6c82080d3010e72f77acd8e75b4d4db9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_share.sql
create or replace function forebay._share(p_refusal forebay.refusals, p_now timestamptz)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- The share of the limits that holds at p_now: as lowered until the pause ends, then a tenth more every 30 seconds, up to 1.
select coalesce(
    least(1, p_refusal.share + 0.1 * floor(greatest(0, extract(epoch from p_now - p_refusal.paused_until)) / 30)), 1
);
$function$;

comment on function forebay._share is 'The share of the limits that holds at p_now: as lowered until the pause ends, then a tenth more every 30 seconds, up to 1.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_share.sql', 'repeatable', 'd8a2f82ee92afaf5a013bb994b31744b770103d290a822edc86c3bf52e4116f8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_short_customers.sql
create or replace function forebay._short_customers(
    p_agent  forebay.agents,
    p_line   forebay.lined_up[],
    p_places integer[],
    p_now    timestamptz
)
    returns text[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The customers in p_line whose cap leaves too little for a task of theirs, and of whom nothing starts at p_places.
begin
    return array(
        select c.customer
        from unnest(p_line) with ordinality as l (
            task_id, priority, customer, waited, estimated_tokens, uses, place
        )
        inner join forebay._caps(p_agent, array(select distinct w.customer from unnest(p_line) as w), p_now) as c
            on c.customer = l.customer
        group by c.customer
        having bool_or(forebay._is_short(c, (l.uses).usd)) and not bool_or(l.place = any(p_places))
    );
end;
$function$;

comment on function forebay._short_customers is 'The customers in p_line whose cap leaves too little for a task of theirs, and of whom nothing starts at p_places.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_short_customers.sql', 'repeatable', 'c6d6c9f25c32afe038f7c87f83b9d4293e8ff5599935941da3558297df6104cb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_slot_at.sql
create or replace function forebay._slot_at(p_period interval, p_at timestamptz)
    returns timestamptz
    language sql
    immutable
    security invoker
as $function$
-- The beginning of the slot, a 120th of the period, that a moment lies in.
select date_bin(p_period / 120, p_at, timestamptz '2000-01-01 00:00:00+00');
$function$;

comment on function forebay._slot_at is 'The beginning of the slot, a 120th of the period, that a moment lies in.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_slot_at.sql', 'repeatable', 'af7b53f936f2e7d444257178482848cfb9ad5252d2a9bdf5b1d9861d2d280bc9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_slots.sql
create or replace function forebay._slots(p_from timestamptz, p_to timestamptz, p_minutes integer[])
    returns forebay.time_slots[]
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Cut a range into parts that whole slots fill, each as wide as can be, and what is left at its ends.
--
-- p_minutes are the widths, from the widest to the narrowest, each a multiple of the next. Slots of a width follow each other from a Monday,
-- midnight UTC.
declare
    v_origin constant timestamptz := timestamptz '2000-01-03 00:00:00+00';
    v_slots  forebay.time_slots[] := array[]::forebay.time_slots[];
    v_from   timestamptz;  -- of what is cut by now
    v_to     timestamptz;
    v_first  timestamptz;
    v_end    timestamptz;
    v_width  interval;
    v_minute integer;
begin
    if p_from >= p_to then
        return v_slots;
    end if;
    foreach v_minute in array p_minutes loop
        v_width := make_interval(mins => v_minute);
        v_first := date_bin(v_width, p_from, v_origin);
        if v_first < p_from then
            v_first := v_first + v_width;
        end if;
        v_end := date_bin(v_width, p_to, v_origin);
        if v_first < coalesce(v_from, v_end) then
            v_slots := v_slots || (v_minute, v_first, coalesce(v_from, v_end))::forebay.time_slots;
        end if;
        if v_to < v_end then
            v_slots := v_slots || (v_minute, v_to, v_end)::forebay.time_slots;
        end if;
        if v_first < v_end then
            v_from := v_first;
            v_to := v_end;
        end if;
    end loop;
    if p_from < coalesce(v_from, p_to) then
        v_slots := v_slots || (0, p_from, coalesce(v_from, p_to))::forebay.time_slots;
    end if;
    if v_to < p_to then
        v_slots := v_slots || (0, v_to, p_to)::forebay.time_slots;
    end if;
    return v_slots;
end;
$function$;

comment on function forebay._slots is 'Cut a range into parts that whole slots fill, each as wide as can be, and what is left at its ends.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_slots.sql', 'repeatable', 'd27eee98c068786b60956ea1575e5966a2637c24fa43e515c964572de65193de', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_spend.sql
create or replace function forebay._spend(p_attempt_id bigint)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Bring what the attempt cost up to date, and note the difference as spent; the caller holds its row.
--
-- The calls of the more complete source count, never of two. Each is spent on the UTC day that it was made. A call that used
-- nothing needs no price.
--
-- Writes  forebay.attempt_usage, forebay.spend_entries, forebay.task_attempts
declare
    v_source text := forebay._usage_source(p_attempt_id);
begin
    with calls as (
        select
            u.source, u.call_id, a.agent, coalesce(a.customer, '') as customer, u.counted_usd,
            case when u.source = v_source then u.usd end as counts, forebay._called_at(u, a.started_at) as called_at
        from forebay.attempt_usage as u
        inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
        where u.attempt_id = p_attempt_id
            and u.counted_usd is distinct from case when u.source = v_source then u.usd end
    ), counted as (
        update forebay.attempt_usage as u
        set counted_usd = c.counts
        from calls as c
        where u.attempt_id = p_attempt_id and u.source = c.source and u.call_id = c.call_id
    )
    insert into forebay.spend_entries (agent, customer, spent_at, usd)
    select
        c.agent, c.customer, min(c.called_at), sum(coalesce(c.counts, 0) - coalesce(c.counted_usd, 0))
    from calls as c
    group by c.agent, c.customer, forebay._utc_day(c.called_at)
    having sum(coalesce(c.counts, 0) - coalesce(c.counted_usd, 0)) <> 0;

    update forebay.task_attempts as a
    set cost_usd = known.usd, is_cost_known = known.is_all
    from (
        select
            sum(u.usd) as usd,
            coalesce(bool_and(
                u.usd is not null or coalesce(u.input_tokens + u.output_tokens + coalesce(u.pages, 0) = 0, false)
            ), false) as is_all
        from forebay.attempt_usage as u
        where u.attempt_id = p_attempt_id and u.source = v_source
    ) as known
    where a.attempt_id = p_attempt_id and (a.cost_usd, a.is_cost_known) is distinct from (known.usd, known.is_all);
end;
$function$;

comment on function forebay._spend is 'Bring what the attempt cost up to date, and note the difference as spent; the caller holds its row.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_spend.sql', 'repeatable', '2b7dac256d8300ff87bc6f276d6965c7fc53d34b6c909b6e9eb2748dbe31af7f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_spent_today.sql
create or replace function forebay._spent_today(
    p_agent       text,
    p_customer    text,
    p_now         timestamptz,
    out recorded  numeric,
    out projected numeric
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What an agent or a customer (the other is null) has spent on the UTC day of p_now, and what its attempts may cost beyond it.
--
-- A release or a refusal cost nothing, whatever else ended without a word on its cost what was expected. It is stable, so
-- that all is read in one snapshot: money that is reported or folded meanwhile is either still expected, or noted, or added up.
declare
    v_day   date := forebay._utc_day(p_now);
    v_since timestamptz := date_trunc('day', p_now, 'UTC');
begin
    if p_customer is null then
        select coalesce(sum(r.usd), 0) into recorded from forebay._recorded_usd(v_day) as r where r.agent = p_agent;
        select coalesce(sum(p.usd), 0) into projected from forebay._projected_usd(v_since) as p where p.agent = p_agent;
    else
        select coalesce(sum(r.usd), 0) into recorded
        from forebay._recorded_usd(v_day) as r
        where r.customer = p_customer and r.customer <> '';
        select coalesce(sum(p.usd), 0) into projected
        from forebay._projected_usd(v_since) as p
        where p.customer = p_customer and p.customer is not null;
    end if;
end;
$function$;

comment on function forebay._spent_today is 'What an agent or a customer (the other is null) has spent on the UTC day of p_now, and what its attempts may cost beyond it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_spent_today.sql', 'repeatable', 'dd0c551383f2943e87572262532bf9df93d4535ee8e7890faa57bf0a9e3c46a8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_stands_before.sql
create or replace function forebay._stands_before(
    p_agent forebay.agents,
    p_one   forebay.tasks,
    p_other forebay.tasks,
    p_now   timestamptz
)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether the one task comes before the other in line, customers' turns aside.
select (-forebay._effective_priority(p_agent, p_one, p_now), p_one.created_at, p_one.task_id)
    < (-forebay._effective_priority(p_agent, p_other, p_now), p_other.created_at, p_other.task_id);
$function$;

comment on function forebay._stands_before is 'Whether the one task comes before the other in line, customers'' turns aside.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_stands_before.sql', 'repeatable', '1f71dc7b0107ed66025c83046a2fdff1f3151287db0d9dbe59442223ba09c242', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_starts_at.sql
create or replace function forebay._starts_at(p_task forebay.tasks, p_now timestamptz)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The earliest moment at which a dequeue would take a task that waits, if nothing else changes; null when others decide it.
--
-- No formula: the rule itself is asked about later moments. First for the task alone: what time brings (a pause that ends,
-- a bucket that refills, a window that moves on, the next day) never takes its room away. Then beside those before it,
-- which it may pass at that moment, and later no more.
declare
    v_alone timestamptz := case
        when forebay._may_start(p_task, p_now, true) then p_now
        else forebay._first_start(p_task, p_now, p_now, true)
    end;
begin
    if v_alone > p_now and forebay._may_start(p_task, v_alone, false) then
        return v_alone;
    end if;
    return case when v_alone is not null then forebay._first_start(p_task, p_now, v_alone, false) end;
end;
$function$;

comment on function forebay._starts_at is
'The earliest moment at which a dequeue would take a task that waits, if nothing else changes; null when others decide it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_starts_at.sql', 'repeatable', '62cddb479ceef7cd950da3e39f7de72902d666c020ace18d1fdf52ea37daf0f4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_step.sql
create or replace function forebay._step(
    p_from           timestamptz,
    p_to             timestamptz,
    p_step           interval,
    p_is_by_customer boolean
)
    returns interval
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The step of a series over a range: p_step, or the shortest that gives at most 120 points.
--
-- A customer's rollups begin at an hour: from 10 hours on shorter steps would be counted task by task.
--
-- Errors  22023  p_step is no step, or there were more than 1,000 points
declare
    v_minutes constant integer[] := array[1, 5, 15, 60, 360, 1440, 10080];
    v_step    interval := p_step;
    v_minute  integer;
begin
    if v_step is null then
        foreach v_minute in array v_minutes loop
            v_step := make_interval(mins => v_minute);
            exit when (v_minute <> 15 or not p_is_by_customer) and p_to - p_from <= 119 * v_step;
        end loop;
    elsif extract(epoch from v_step) <> all (select m.minutes * 60 from unnest(v_minutes) as m (minutes)) then
        raise exception 'p_step must be 1, 5 or 15 minutes, 1 or 6 hours, 1 or 7 days, not %', v_step
            using errcode = '22023';
    end if;
    if p_to - p_from > 999 * v_step then
        raise exception 'steps of % from % to % would be more than 1,000 points', v_step, p_from, p_to
            using errcode = '22023', hint = 'Give a longer p_step, or a shorter range.';
    end if;
    return make_interval(secs => extract(epoch from v_step));
end;
$function$;

comment on function forebay._step is 'The step of a series over a range: p_step, or the shortest that gives at most 120 points.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_step.sql', 'repeatable', '16a7e308429f084df6b065a1ddeaec41b7ad52d3a92e687dc9b662ce9b6bdfcd', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_still_asks.sql
create or replace function forebay._still_asks(p_wait_until timestamptz, p_now timestamptz)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether a call that was told to wait until then has its place in line still: for 5 s more, in which it asks again.
select p_wait_until > p_now - interval '5 seconds';
$function$;

comment on function forebay._still_asks is 'Whether a call that was told to wait until then has its place in line still: for 5 s more, in which it asks again.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_still_asks.sql', 'repeatable', 'c5fee3a8d81e21b2dafa552fa646fbdb368ffd0195a7c69204c4637dbd99f9cb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_strict_line.sql
create or replace function forebay._strict_line(
    p_agent   forebay.agents,
    p_limit   integer,
    p_floor   integer,
    p_now     timestamptz,
    p_capped  text[],
    p_learned forebay.learned
)
    returns forebay.lined_up[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- A look at the line of an agent that goes by priority, then age, then id: _line without the tasks of p_capped.
declare
    v_floor integer := coalesce(p_floor, -32768);
begin
    return array(
        select forebay._lined_up(p_agent, h, p_learned, p_now)
        from (
            (
                select t.* from forebay.tasks as t
                where t.agent = p_agent.agent and t.status = 'enqueued' and t.is_ready and t.priority >= v_floor
                    and (t.customer is null or t.customer <> all(p_capped))
                order by t.priority desc, t.created_at, t.task_id
                limit p_limit
            )
            union all
            select t.* from forebay.tasks as t
            where t.agent = p_agent.agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
                and t.priority >= v_floor and (t.customer is null or t.customer <> all(p_capped))
        ) as h
        order by h.priority desc, h.created_at, h.task_id
        limit p_limit
    );
end;
$function$;

comment on function forebay._strict_line is 'A look at the line of an agent that goes by priority, then age, then id: _line without the tasks of p_capped.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_strict_line.sql', 'repeatable', 'ca6d2a3ac1d37cd4fac5a0192071dc74d5da04d2d5c55416041f9134cdd1f179', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_submitted_batch.sql
create or replace function forebay._submitted_batch(p_submission_key text, p_upload_ids uuid[], p_actor text)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The batch that p_actor submitted under that key; null when there is none.
--
-- Errors  QF201  it was another set of uploads
declare
    v_key      text := p_submission_key;
    v_actor    text := p_actor;
    v_batch_id bigint;
begin
    select b.batch_id into v_batch_id from forebay.batches as b where b.owner = v_actor and b.submission_key = v_key;
    if found and exists (
        (
            select u.upload_id from forebay.tasks as t inner join forebay.uploads as u on u.task_id = t.task_id
            where t.batch_id = v_batch_id
            except
            select ids.id from unnest(p_upload_ids) as ids (id)
        )
        union all
        (
            select ids.id from unnest(p_upload_ids) as ids (id)
            except
            select u.upload_id from forebay.tasks as t inner join forebay.uploads as u on u.task_id = t.task_id
            where t.batch_id = v_batch_id
        )
    ) then
        raise exception 'submission "%" was made before with other uploads, as batch %', p_submission_key, v_batch_id
            using errcode = 'QF201', hint = 'Use a new key for every submission.';
    end if;
    return v_batch_id;
end;
$function$;

comment on function forebay._submitted_batch is 'The batch that p_actor submitted under that key; null when there is none.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_submitted_batch.sql', 'repeatable', 'b69e5ed21e1cfb01611a79d2d714eb199a2b67f961824718a5b0c36d73def827', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_supplied_rooms.sql
create or replace function forebay._supplied_rooms(p_agent forebay.agents, p_now timestamptz)
    returns setof forebay.quota_room
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of each limit is left to new tasks of an agent that asks before its calls.
--
-- The calls keep the limits by themselves, and a claim only keeps them supplied: there is room for a task while its first
-- call finds room beside the calls that wait and the first calls of those claimed before it, and more: a tenth of the
-- limit, or what comes back in a minute if the period is longer than that; and for one whatever its size while none waits.
-- So always a call waits, but few for an hour, and what a task uses later does not matter.
--
-- Returns  one row a limit, at 0 seconds
begin
    return query
    with calls as materialized (
        select c.* from forebay._calls_to_come(p_agent.quotas, p_now) as c
    )
    select
        l.quota, l.unit, l.period, l.effective::double precision, ahead.needs = 0, 0::double precision,
        (l.room + greatest(
            0.1 * l.effective * least(1, 60 / greatest(extract(epoch from l.period), 1)), least(1, l.effective)
        ) - ahead.needs)::double precision
    from forebay._quota_limits(p_agent.quotas, p_now) as l
    cross join lateral (
        select coalesce(sum(forebay._in_unit(l.unit, 1, c.input_tokens, c.output_tokens)), 0) as needs
        from calls as c
        where l.quota = any(c.quotas)
    ) as ahead;
end;
$function$;

comment on function forebay._supplied_rooms is 'How much of each limit is left to new tasks of an agent that asks before its calls.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_supplied_rooms.sql', 'repeatable', '790dce3795d57d2d1a2fda5afa30608f0c79f6548e224461544a3448ef6829d9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_take_money.sql
create or replace function forebay._take_money(p_caps forebay.spend_cap[], p_task forebay.lined_up)
    returns forebay.spend_cap[]
    language sql
    immutable
    security invoker
as $function$
-- What a task that starts now leaves of the caps: of the agent's, and of its customer's.
select array(
    select
        (
            c.customer, c.amount,
            c.has - case when c.customer is null or c.customer = p_task.customer then (p_task.uses).usd else 0 end
        )::forebay.spend_cap
    from unnest(p_caps) as c
);
$function$;

comment on function forebay._take_money is 'What a task that starts now leaves of the caps: of the agent''s, and of its customer''s.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_take_money.sql', 'repeatable', '19c0127699d2ec1de86cfef298d9e94dbb9fc11ac5985a1deb2428aa64dc12ce', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_take_room.sql
create or replace function forebay._take_room(
    p_rooms  forebay.quota_room[],
    p_quotas text[],
    p_uses   forebay.expected_use,
    p_pace   double precision
)
    returns forebay.quota_room[]
    language sql
    immutable
    security invoker
as $function$
-- What a task that starts now, and draws on p_quotas, leaves of the rooms.
select array(
    select
        (
            r.quota, r.unit, r.period, r.amount, r.takes_any and not draws.is_so, r.seconds,
            r.room - case when draws.is_so then forebay._need(r.unit, r.seconds, p_uses, p_pace) else 0 end
        )::forebay.quota_room
    from unnest(p_rooms) as r
    cross join lateral (select r.quota = any(p_quotas) as is_so) as draws
);
$function$;

comment on function forebay._take_room is 'What a task that starts now, and draws on p_quotas, leaves of the rooms.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_take_room.sql', 'repeatable', '3e78ff40a25c0bd481ef6a3d80b6289fb81d680d1b926dacb0884997940957f4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_take_turns.sql
create or replace function forebay._take_turns(p_agent forebay.agents, p_line forebay.lined_up[])
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Count what the tasks of p_line, which are about to start, will use for their customers, and move the agent's turn on.
--
-- The turn is the least count of those that wait: a customer that comes, or comes back, starts from there. So counts that it
-- has reached say nothing any more, and are removed.
--
-- Writes  forebay.customer_turns, forebay.agent_budgets
declare
    v_old numeric := (select b.turn from forebay.agent_budgets as b where b.agent = p_agent.agent);
    v_new numeric;
begin
    insert into forebay.customer_turns as c (agent, customer, served)
    select p_agent.agent, coalesce(l.customer, ''), v_old + sum(forebay._turn_cost(l.uses))
    from unnest(p_line) as l
    group by coalesce(l.customer, '')
    on conflict (agent, customer) do update set served = c.served + excluded.served - v_old;

    v_new := (
        select min(coalesce(c.served, v_old))
        from forebay._customer_priorities(p_agent.agent) as w
        left join forebay.customer_turns as c on c.agent = p_agent.agent and c.customer = coalesce(w.customer, '')
    );
    if v_new > v_old then
        update forebay.agent_budgets as b set turn = v_new where b.agent = p_agent.agent;
        delete from forebay.customer_turns as c where c.agent = p_agent.agent and c.served <= v_new;
    end if;
end;
$function$;

comment on function forebay._take_turns is 'Count what the tasks of p_line, which are about to start, will use for their customers, and move the agent''s turn on.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_take_turns.sql', 'repeatable', '4e88b5da5f76a333322ba4ede245f2ef4f67d3c33433b4337a6f311402d8aea4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_take_uploads.sql
create or replace function forebay._take_uploads(p_upload_ids uuid[], p_priority integer, p_actor text)
    returns jsonb
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock p_actor's uploads for their submission, and return the tasks that they become, in the order of p_upload_ids.
--
-- Locks   the uploads, by id
-- Errors  QF203  one was submitted
--         QF306  p_actor has no such upload, or it was dropped, or is not stored yet
declare
    v_upload forebay.uploads;
    v_id     uuid;
begin
    foreach v_id in array array(select ids.id from unnest(p_upload_ids) as ids (id) order by ids.id) loop
        v_upload := forebay._lock_open_upload(v_id, p_actor);
        if v_upload.stored_at is null then
            raise exception 'upload % ("%") is not stored yet', v_id, v_upload.name
                using errcode = 'QF306', hint = 'Wait for the end of the upload, or upload the file again.';
        end if;
    end loop;

    return (
        select jsonb_agg(
            jsonb_build_object(
                'payload', jsonb_build_object('document', u.document, 'name', u.name),
                'priority', p_priority,
                'idempotency_key', u.upload_id,
                'estimated_tokens', u.estimated_tokens
            )
            order by ids.place
        )
        from unnest(p_upload_ids) with ordinality as ids (id, place)
        inner join forebay.uploads as u on u.upload_id = ids.id
    );
end;
$function$;

comment on function forebay._take_uploads is 'Lock p_actor''s uploads for their submission, and return the tasks that they become, in the order of p_upload_ids.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_take_uploads.sql', 'repeatable', '5bbd954010739caa2cdd9ac7b52fe0b895b25757c57a2363cea4d5a25331c3d1', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_take_usage.sql
create or replace function forebay._take_usage(p_attempt forebay.task_attempts, p_call forebay.attempt_usage)
    returns boolean
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Record one call's usage and settle it with the quotas; say whether it was new, or filled something that was unknown.
--
-- Writes  forebay.attempt_usage, forebay.attempt_calls, forebay.quota_settlements
declare
    v_old forebay.attempt_usage;
    v_new forebay.attempt_usage;
begin
    select u.* into v_old
    from forebay.attempt_usage as u
    where u.attempt_id = p_attempt.attempt_id and u.source = p_call.source and u.call_id = p_call.call_id;
    v_new := forebay._record_usage(p_attempt, p_call);
    if v_new.call_id is null then
        return false;
    end if;
    perform forebay._settle_call(p_attempt, v_old, v_new);
    return true;
end;
$function$;

comment on function forebay._take_usage is 'Record one call''s usage and settle it with the quotas; say whether it was new, or filled something that was unknown.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_take_usage.sql', 'repeatable', '7d56988fe9c86205b5d4cb089c985d1e14f1f3b716a138936c4a4208833e0e45', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_task_cell.sql
create or replace function forebay._task_cell(p_task forebay.tasks, p_sign integer)
    returns setof forebay.task_cell
    language sql
    immutable
    security invoker
as $function$
-- What a task adds to the counts of its kind (p_sign 1), or takes away from them (-1).
select
    p_task.created_at, p_task.agent, coalesce(p_task.customer, ''), p_task.status, p_sign::bigint,
    p_sign::bigint * p_task.ended_attempts, p_sign::bigint * p_task.measured_attempts,
    p_sign::bigint * p_task.priced_attempts, p_sign::bigint * p_task.costed_attempts,
    p_sign::bigint * p_task.provisional_attempts,
    p_sign * p_task.used_input_tokens, p_sign * p_task.used_output_tokens, p_sign * p_task.used_cached_tokens,
    p_sign * p_task.cost_usd, p_sign * p_task.compute_usd, b.buckets, array_fill(p_sign::bigint, array[cardinality(b.buckets)])
from (
    select case when p_task.status = 'completed'
        then forebay._buckets(p_task.finished_at - p_task.created_at, p_task.run_time, p_task.confidence)
        else '{}'
    end as buckets
) as b;
$function$;

comment on function forebay._task_cell is 'What a task adds to the counts of its kind (p_sign 1), or takes away from them (-1).';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_task_cell.sql', 'repeatable', '60eafd1e960eb05f9e3a972108afc6f1b89fdfef4df0ebd17b54516e5357497f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_task_filter.sql
create or replace function forebay._task_filter(
    p_from           timestamptz,
    p_to             timestamptz,
    p_statuses       text[],
    p_agents         text[],
    p_customers      text[],
    p_batch_id       bigint,
    p_search         text,
    p_max_confidence numeric
)
    returns forebay.task_filter
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Which tasks are asked for: the filters, checked, and the search, resolved. What is null lets all through.
--
-- Statuses without agents are those of all agents, by name: so they are found by the index of both.
--
-- Errors  22023  a status does not exist, p_agents holds null, p_max_confidence is not from 0 to 1, p_search is too long
--         QF301, QF302  no such agent or batch
declare
    v_agents text[] := p_agents;
    v_filter forebay.task_filter;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    if p_batch_id is not null then
        perform forebay._get_batch(p_batch_id);
    end if;
    if p_max_confidence not between 0 and 1 then
        raise exception 'p_max_confidence must be from 0 to 1' using errcode = '22023';
    end if;
    if p_statuses is not null then
        v_agents := coalesce(v_agents, array(select a.agent from forebay.agents as a));
    end if;
    v_filter := (
        p_from, p_to, p_statuses, v_agents, p_customers, p_batch_id, p_max_confidence, false, '{}', '{}', '{}'
    )::forebay.task_filter;
    return forebay._search_tasks(p_search, v_filter);
end;
$function$;

comment on function forebay._task_filter is
'Which tasks are asked for: the filters, checked, and the search, resolved. What is null lets all through.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_task_filter.sql', 'repeatable', '28f1b768c355157f627b89b771d1b99f87d8e4634c07fb6804bcacbedb2928bd', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_task_rooms.sql
create or replace function forebay._task_rooms(
    p_quota    text,
    p_now      timestamptz,
    out unit   text,
    out period interval,
    out room   numeric
)
    returns setof record
    language sql
    stable
    security invoker
as $function$
-- How much of each limit of the quota a new task could take: of the agent that may take most, within the whole period.
select rooms.unit, rooms.period, max(rooms.room)::numeric
from (
    select r.unit, r.period, min(r.room) as room
    from forebay.agents as a
    cross join lateral forebay._get_effective(a.agent, p_now) as g
    cross join lateral forebay._quota_rooms(g, p_now) as r
    where p_quota = any(a.quotas) and r.quota = p_quota
    group by a.agent, r.unit, r.period
) as rooms
group by rooms.unit, rooms.period;
$function$;

comment on function forebay._task_rooms is
'How much of each limit of the quota a new task could take: of the agent that may take most, within the whole period.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_task_rooms.sql', 'repeatable', '1b8cc9abeef39d5ebabf724bd477bbe4b2be9f7060e6306364f35ecd8d441457', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_task_use.sql
create or replace function forebay._task_use(
    p_task            forebay.tasks,
    out input_tokens  bigint,
    out output_tokens bigint,
    out cached_tokens bigint,
    out is_known      boolean,
    out usd           numeric,
    out is_cost_known boolean,
    out run_time      interval
)
    language sql
    stable
    security invoker
as $function$
-- What all attempts of a task have used as far as it was reported: null where nothing is known, known when every end is.
select
    case when p_task.measured_attempts > 0 or p_task.used_input_tokens > 0 then p_task.used_input_tokens end,
    case when p_task.measured_attempts > 0 or p_task.used_output_tokens > 0 then p_task.used_output_tokens end,
    case when p_task.measured_attempts > 0 or p_task.used_cached_tokens > 0 then p_task.used_cached_tokens end,
    p_task.ended_attempts > 0 and p_task.measured_attempts = p_task.ended_attempts,
    forebay._known_usd(p_task.cost_usd, p_task.priced_attempts),
    p_task.ended_attempts > 0 and p_task.priced_attempts = p_task.ended_attempts,
    case when p_task.ended_attempts > 0 then p_task.run_time end;
$function$;

comment on function forebay._task_use is
'What all attempts of a task have used as far as it was reported: null where nothing is known, known when every end is.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_task_use.sql', 'repeatable', '9683d8e469b44ecc386ffef59f66499e23e94301eb3e41a9ae9e56e68ae6589f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_throttle.sql
create or replace function forebay._throttle(p_agent forebay.agents, p_now timestamptz)
    returns forebay.throttle
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a provider's refusals mean for the agent at p_now.
--
-- Those without a quota pause it and lower its own limits. Those of a quota lower the quota, and pause all who draw on it.
-- The longest pause holds.
declare
    v_throttle forebay.throttle := forebay._throttled_by(forebay._last_refusal(p_agent.agent, null), p_now);
    v_other    forebay.throttle;
    v_quota    text;
begin
    foreach v_quota in array p_agent.quotas loop
        v_other := forebay._quota_throttle(v_quota, p_now);
        if v_other.paused_until > coalesce(v_throttle.paused_until, '-infinity') then
            v_throttle.paused_until := v_other.paused_until;
            v_throttle.reason := v_other.reason;
        end if;
    end loop;
    return v_throttle;
end;
$function$;

comment on function forebay._throttle is 'What a provider''s refusals mean for the agent at p_now.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_throttle.sql', 'repeatable', '43367143c176449b3fd01e62ab464c92db1e8a1b1cc15fabf01e84d4ba2ba061', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_throttled_by.sql
create or replace function forebay._throttled_by(p_refusal forebay.refusals, p_now timestamptz)
    returns forebay.throttle
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a refusal means at p_now: a pause until it is over, and a share of the limits until that is whole again.
declare
    v_share  numeric := forebay._share(p_refusal, p_now);
    v_reason text := case
        when p_refusal.quota is null then 'the provider asked to wait'
        else format('the provider of quota "%s" asked to wait', p_refusal.quota)
    end;
begin
    return (
        case when p_refusal.paused_until > p_now then p_refusal.paused_until end,
        case when p_refusal.paused_until > p_now then v_reason end,
        v_share,
        case when v_share < 1 then p_refusal.in_flight end
    )::forebay.throttle;
end;
$function$;

comment on function forebay._throttled_by is 'What a refusal means at p_now: a pause until it is over, and a share of the limits until that is whole again.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_throttled_by.sql', 'repeatable', '860c2ccd2609392a5761d8875d21f8fcacebd7746f1fa90e14f746f3afc6173f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_time_at.sql
create or replace function forebay._time_at(p_place integer)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- The time in the middle of a place of a histogram: no time from a millisecond on in it lies more than 2.5 % from there.
select make_interval(secs => power(1.05::double precision, p_place + 0.5) / 1000);
$function$;

comment on function forebay._time_at is 'The time in the middle of a place of a histogram: no time from a millisecond on in it lies more than 2.5 % from there.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_time_at.sql', 'repeatable', 'efa2930ab03b8bb59e7747b0048b71a32ba617039d93dfedf27576391f3b0311', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_time_place.sql
create or replace function forebay._time_place(p_time interval)
    returns integer
    language sql
    immutable
    security invoker
as $function$
-- The place of a time in a histogram: how many steps of 5 % it lies above a millisecond, from 0 to 999.
select least(
    floor(ln(greatest(extract(epoch from p_time)::double precision * 1000, 1)) / ln(1.05::double precision)), 999
)::integer;
$function$;

comment on function forebay._time_place is 'The place of a time in a histogram: how many steps of 5 % it lies above a millisecond, from 0 to 999.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_time_place.sql', 'repeatable', '7286603ae42183f172eed5af804e912bfccc869f666bd8b71c844335b6101975', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_token_burst.sql
create or replace function forebay._token_burst(p_agent forebay.agents)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How many tokens the agent's bucket holds when it is full; null when the agent has no max_tpm.
select p_agent.max_tpm * p_agent.tpm_burst;
$function$;

comment on function forebay._token_burst is 'How many tokens the agent''s bucket holds when it is full; null when the agent has no max_tpm.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_token_burst.sql', 'repeatable', 'c8d15de5e741c26a04f5f847025cc2146e06a6128188567f8421138cd36aa5aa', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_told.sql
create or replace function forebay._told(p_fit forebay.fit, p_task forebay.tasks)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- A rule that hinders p_task, or a task before it, in the columns of explain_task; explanation is the rule in words.
declare
    v_told forebay.task_explanation;
begin
    v_told.task_id := p_fit.task_id;
    v_told.reason := p_fit.reason;
    v_told.explanation := forebay._rule_words(p_fit, p_task);
    v_told.subject := p_fit.subject;
    v_told.unit := p_fit.unit;
    v_told.period := p_fit.period;
    v_told.needs := p_fit.needs;
    v_told.has := p_fit.has;
    v_told.amount := p_fit.amount;
    return v_told;
end;
$function$;

comment on function forebay._told is
'A rule that hinders p_task, or a task before it, in the columns of explain_task; explanation is the rule in words.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_told.sql', 'repeatable', 'c17c893ab3d905b1d56f6b5687b8aea23928d358e04e3c92391f51f6d934e264', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_trace_state.sql
create or replace function forebay._trace_state(p_traces forebay.attempt_traces)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- How far the search for an attempt's traces is: found, partial, awaited, or missing: given up.
select case
    when p_traces.is_whole then 'found'
    when p_traces.traces > 0 then 'partial'
    when p_traces.next_look_at is not null then 'awaited'
    else 'missing'
end;
$function$;

comment on function forebay._trace_state is 'How far the search for an attempt''s traces is: found, partial, awaited, or missing: given up.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_trace_state.sql', 'repeatable', '164d21f4a004a4bc5c4295e910dd1d9b10a5816648ecf62a7f6a035bb2765297', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_trace_wait.sql
create or replace function forebay._trace_wait(p_looks integer, p_is_expected boolean)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- How long to wait for traces after p_looks in vain: 1 minute, then four times as long each; null: look no more.
--
-- The seventh look is the last, 23 hours after the first. Where the attempt told what it used, and of no trace, the third is.
select case
    when p_looks < case when p_is_expected then 7 else 3 end then interval '1 minute' * power(4, greatest(p_looks, 1) - 1)
end;
$function$;

comment on function forebay._trace_wait is
'How long to wait for traces after p_looks in vain: 1 minute, then four times as long each; null: look no more.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_trace_wait.sql', 'repeatable', 'e504124bcafc3dd3e61ab4e1eeb2523a66da892604c461ebc9bcecd06fa87f45', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_turn_cost.sql
create or replace function forebay._turn_cost(p_uses forebay.expected_use)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- How far a task moves its customer's count: by the tokens that it is expected to use, one at least.
select greatest(1, p_uses.input_tokens + p_uses.output_tokens)::numeric;
$function$;

comment on function forebay._turn_cost is 'How far a task moves its customer''s count: by the tokens that it is expected to use, one at least.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_turn_cost.sql', 'repeatable', 'dd692319cfcea9e5d5c6c3a20d64b3a1a22f3add9e259c2805e8f95c8452276b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_turns.sql
create or replace function forebay._turns(
    p_agent        forebay.agents,
    p_customers    text[],
    p_priorities   integer[],
    p_depths       integer[],
    p_now          timestamptz,
    p_locks        boolean,
    p_capped       text[],
    p_except       bigint[],
    p_learned      forebay.learned,
    out task_id    bigint,
    out created_at timestamptz,
    out priority   integer,
    out turn       numeric,
    out nth        integer
)
    returns setof record
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- When it is the turn of the first p_depths tasks of each customer and priority, and unless p_locks of those not woken yet.
--
-- The turn of a task is what its customer's count will be once the customer's tasks before it have started. A customer
-- without a count starts from the agent's turn: nobody saves up.
--
-- Returns  one row a task, in no set order; nth is the place of its customer and priority, null where it was not woken yet
declare
    v_turn numeric := (select b.turn from forebay.agent_budgets as b where b.agent = p_agent.agent);
begin
    return query
    with firsts as (
        select f.task, f.nth
        from forebay._firsts(p_agent.agent, p_customers, p_priorities, p_depths, p_except) as f
        union all
        select t, null from forebay.tasks as t
        where not p_locks and t.agent = p_agent.agent and t.status = 'enqueued' and not t.is_ready
            and t.available_at <= p_now and (t.customer is null or t.customer <> all(p_capped))
    ), ranked as (
        select
            f.*, forebay._effective_priority(p_agent, f.task, p_now) as priority,
            forebay._turn_cost((forebay._lined_up(p_agent, f.task, p_learned, p_now)).uses) as cost
        from firsts as f
    )
    select
        (r.task).task_id, (r.task).created_at, r.priority,
        coalesce(c.served, v_turn) - r.cost + sum(r.cost) over (
            partition by (r.task).customer order by r.priority desc, (r.task).created_at, (r.task).task_id
        ),
        r.nth
    from ranked as r
    left join forebay.customer_turns as c on c.agent = p_agent.agent and c.customer = coalesce((r.task).customer, '');
end;
$function$;

comment on function forebay._turns is 'When it is the turn of the first p_depths tasks of each customer and priority, and unless p_locks of those not woken yet.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_turns.sql', 'repeatable', '7437bc280483d1c125ebb7305793d6613c9daa44b8031a1c8d609dd31154876d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_unreadable.sql
create or replace function forebay._unreadable(p_document jsonb)
    returns text
    language sql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Why other languages fail to read a document, in words that follow its name; null when they can.
--
-- A number may be beyond those of double precision, or lists and objects more than 500 levels deep in each other: parsers
-- that call themselves for each level run out of stack, and what cannot be read cannot be claimed.
select case
    when jsonb_path_exists(p_document, 'strict $.**{501}')
        then 'is nested more than 500 levels deep'
    when jsonb_path_exists(p_document, 'strict $.** ? (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308)')
        then 'has a number that is too large: numbers are at most 1.79e308'
end;
$function$;

comment on function forebay._unreadable is
'Why other languages fail to read a document, in words that follow its name; null when they can.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_unreadable.sql', 'repeatable', '63d13e5e0b0c6af40217137dc8d48ebde8af864fbaf623c75c41463d457d5542', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_upsert_rollups.sql
create or replace function forebay._upsert_rollups(
    p_cells          forebay.task_cell[],
    p_minutes        integer,
    p_is_by_customer boolean
)
    returns void
    language sql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add cells, one a slot, agent, customer and status, to the rollups of a width; the caller holds the fold's advisory lock.
--
-- Writes  forebay.task_rollups
insert into forebay.task_rollups as r (
    minutes, is_by_customer, customer, starts_at, agent, status, tasks, ended_attempts, measured_attempts,
    priced_attempts, costed_attempts, provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd,
    compute_usd, buckets, counts
)
select
    p_minutes, p_is_by_customer, c.customer, c.starts_at, c.agent, c.status, c.tasks, c.ended_attempts,
    c.measured_attempts, c.priced_attempts, c.costed_attempts, c.provisional_attempts, c.input_tokens, c.output_tokens,
    c.cached_tokens, c.llm_usd, c.compute_usd, c.buckets, c.counts
from unnest(p_cells) as c
on conflict (minutes, is_by_customer, customer, starts_at, agent, status) do update set
    tasks = r.tasks + excluded.tasks,
    ended_attempts = r.ended_attempts + excluded.ended_attempts,
    measured_attempts = r.measured_attempts + excluded.measured_attempts,
    priced_attempts = r.priced_attempts + excluded.priced_attempts,
    costed_attempts = r.costed_attempts + excluded.costed_attempts,
    provisional_attempts = r.provisional_attempts + excluded.provisional_attempts,
    input_tokens = r.input_tokens + excluded.input_tokens,
    output_tokens = r.output_tokens + excluded.output_tokens,
    cached_tokens = r.cached_tokens + excluded.cached_tokens,
    llm_usd = r.llm_usd + excluded.llm_usd,
    compute_usd = r.compute_usd + excluded.compute_usd,
    (buckets, counts) = (
        select coalesce(array_agg(h.bucket order by h.bucket), '{}'), coalesce(array_agg(h.tasks order by h.bucket), '{}')
        from (
            select b.bucket, sum(b.tasks)::bigint as tasks
            from unnest(r.buckets || excluded.buckets, r.counts || excluded.counts) as b (bucket, tasks)
            group by b.bucket
            having sum(b.tasks) <> 0
        ) as h
    );
$function$;

comment on function forebay._upsert_rollups is 'Add cells, one a slot, agent, customer and status, to the rollups of a width; the caller holds the fold''s advisory lock.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_upsert_rollups.sql', 'repeatable', 'd4c0f58a4ce33565e7c6e0a5e144d66ec7f8642b1045b25555aded7d496bcb4b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_usage_source.sql
create or replace function forebay._usage_source(p_attempt_id bigint)
    returns text
    language sql
    stable
    security invoker
as $function$
-- Which source counts for an attempt, as _usage_sources says; null when no call was reported.
select s.source from forebay._usage_sources(p_attempt_id) as s (source);
$function$;

comment on function forebay._usage_source is 'Which source counts for an attempt, as _usage_sources says; null when no call was reported.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_usage_source.sql', 'repeatable', '5c2d6eb0803af258ae035ffcf162f69687a40ef71544d35136dd3c2307e80a04', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_usage_sources.sql
create or replace function forebay._usage_sources(p_attempt_id bigint)
    returns setof text
    language sql
    stable
    security invoker
as $function$
-- Which source counts for an attempt: the one that knows tokens or cost of more calls; no row when no call was reported.
--
-- Of two that know of as many, the one that knows input and output of more, then what more of them cost. It returns a set so
-- that it is inlined where it is asked for many attempts.
select u.source
from forebay.attempt_usage as u
where u.attempt_id = p_attempt_id
group by u.source
order by
    count(*) filter (where (u.input_tokens is not null and u.output_tokens is not null) or u.usd is not null) desc,
    count(*) filter (where u.input_tokens is not null and u.output_tokens is not null) desc, count(u.usd) desc, u.source
limit 1;
$function$;

comment on function forebay._usage_sources is 'Which source counts for an attempt: the one that knows tokens or cost of more calls; no row when no call was reported.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_usage_sources.sql', 'repeatable', '68c5c1cbd503582fea31fb8d67ad0cd35150c3d683fffec98da73f4d94408a7b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_utc_day.sql
create or replace function forebay._utc_day(p_at timestamptz)
    returns date
    language sql
    immutable
    security invoker
as $function$
-- The day that money of that moment belongs to: in UTC, whatever the session's time zone.
select (p_at at time zone 'UTC')::date;
$function$;

comment on function forebay._utc_day is 'The day that money of that moment belongs to: in UTC, whatever the session''s time zone.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_utc_day.sql', 'repeatable', 'e723bc7e3027aa2dc4abd4f1afc2de619730fb164fbbdf0b31e335673fd15505', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_waiting_priorities.sql
create or replace function forebay._waiting_priorities(p_agent text)
    returns setof integer
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The priorities of the tasks in the agent's line, each once, highest first; the index is entered anew for each.
declare
    v_priority integer := 32768;
begin
    loop
        select max(t.priority)::integer into v_priority
        from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.priority < v_priority;
        exit when v_priority is null;
        return next v_priority;
    end loop;
end;
$function$;

comment on function forebay._waiting_priorities is 'The priorities of the tasks in the agent''s line, each once, highest first; the index is entered anew for each.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_waiting_priorities.sql', 'repeatable', '48adae1f800195df14211eb2cdb48c36b5c87bb835293bce75a13f992488bfe5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_waiting_reason.sql
create or replace function forebay._waiting_reason(p_task forebay.tasks, p_now timestamptz)
    returns forebay.task_explanation
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The first rule that keeps an enqueued task from starting: one of all its agent's tasks, or of its place in line.
--
-- Returns  reason and ahead; where the rule compares numbers these too, and the rule in words as explanation
declare
    v_agent forebay.agents := forebay._get_effective(p_task.agent, p_now);
    v_found forebay.task_explanation;
begin
    v_found.reason := (forebay._agent_state(v_agent, p_now)).reason;
    if not forebay._may_dispatch() then
        v_found.reason := 'not_open';
    elsif v_found.reason not in ('closed', 'paused') and p_task.available_at > p_now then
        v_found.reason := case when p_task.deferral_count > 0 then 'deferred' else 'delayed' end;
    elsif v_found.reason = 'full' then
        v_found := forebay._told((
            null, 'full', p_task.task_id, v_agent.agent, 'tasks', 1, v_agent.max_concurrent_tasks - forebay._in_use(v_agent.agent),
            v_agent.max_concurrent_tasks, null
        )::forebay.fit, p_task);
    elsif v_found.reason = 'out_of_requests' then
        v_found := forebay._told((
            null, 'out_of_requests', p_task.task_id, v_agent.agent, 'claims', 1, (forebay._levels(v_agent, p_now)).requests,
            v_agent.max_rpm, interval '1 minute'
        )::forebay.fit, p_task);
    elsif v_found.reason not in ('closed', 'paused') then
        v_found := forebay._place_in_line(p_task, v_agent, p_now);
    end if;
    if v_found.reason in ('ready', 'behind_others') and forebay._launcher_words(v_agent.launcher, p_now) is not null then
        v_found.reason := 'unreachable';
    end if;
    if v_found.reason not in ('delayed', 'deferred') then
        v_found.ahead := forebay._count_ahead(p_task, p_now);
    end if;
    return v_found;
end;
$function$;

comment on function forebay._waiting_reason is 'The first rule that keeps an enqueued task from starting: one of all its agent''s tasks, or of its place in line.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_waiting_reason.sql', 'repeatable', 'a9c198bff5935a77a96ec7a6dcd00dccab6c45f171d10144e61830e4e41a33c5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_waiting_words.sql
create or replace function forebay._waiting_words(
    p_answer forebay.task_explanation,
    p_task   forebay.tasks,
    p_now    timestamptz
)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The sentences for a reason to wait: the rule with its numbers, when room is expected, and how many tasks come before.
declare
    v_agent forebay.agents := forebay._get_effective(p_task.agent, p_now);
    v_words text;
begin
    v_words := case p_answer.reason
        when 'not_open' then 'This database is a branch or a restored copy, and no operator has opened it.'
        when 'closed' then format('A limit of agent %s is 0, which admits nothing.', v_agent.agent)
        when 'paused' then concat(forebay._pause_words(v_agent, p_now), ': ' || v_agent.pause_reason, '.')
        when 'delayed' then format(
            'It is not due before %s%s.', forebay._moment_words(p_task.available_at, p_now),
            ': its last attempt ended with "' || (
                select a.error ->> 'message' from forebay.task_attempts as a
                where a.task_id = p_task.task_id and a.attempt_no = p_task.attempt_no
            ) || '"'
        )
        when 'deferred' then format(
            'A provider has refused it %s since %s, which spent no attempt; it is not due before %s.',
            case p_task.deferral_count when 1 then 'once' else p_task.deferral_count || ' times' end,
            forebay._moment_words(p_task.deferred_since, p_now), forebay._moment_words(p_task.available_at, p_now)
        )
        when 'ready' then format(
            'It is next in line: the next dequeue for agent %s takes it; %s.', v_agent.agent,
            coalesce(
                'the last one was at ' || forebay._moment_words((select max(d.last_claim_at) from forebay.dispatchers as d), p_now),
                'none was seen yet'
            )
        )
        when 'unreachable' then forebay._launcher_words(v_agent.launcher, p_now)
        when 'behind_others' then format('Agent %s has room for it; others come first.', v_agent.agent)
        when 'reserved' then format(
            'Task %s is before it and has waited so long that nobody passes it: %s; %s.',
            p_answer.task_id, p_answer.explanation, forebay._outlook_words(p_answer, p_task, p_now)
        )
        else format(
            '%s%s; %s.', upper(left(p_answer.explanation, 1)), substr(p_answer.explanation, 2),
            forebay._outlook_words(p_answer, p_task, p_now)
        )
    end;
    return v_words || forebay._ahead_words(p_answer.ahead);
end;
$function$;

comment on function forebay._waiting_words is
'The sentences for a reason to wait: the rule with its numbers, when room is expected, and how many tasks come before.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_waiting_words.sql', 'repeatable', 'abdc1558eeaa15537b527bebabf0fb92dff772b48d258b7fd87b3abdf19041d3', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_waits_since.sql
create or replace function forebay._waits_since(p_agent text, p_now timestamptz)
    returns timestamptz
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Since when the agent's oldest task that could start waits: since it was created, or where it was put off since it is due.
--
-- Of each priority it looks at the 100 that were created first, however long the line is. Null when nothing waits.
begin
    return (
        select min(oldest.since) from (
            select greatest(first.created_at, first.available_at) as since
            from forebay._waiting_priorities(p_agent) as words (priority)
            cross join lateral (
                select t.created_at, t.available_at from forebay.tasks as t
                where t.agent = p_agent and t.status = 'enqueued' and t.is_ready and t.priority = words.priority
                order by t.created_at, t.task_id
                limit 100
            ) as first
            union all
            select min(d.available_at) from forebay.tasks as d
            where d.agent = p_agent and d.status = 'enqueued' and not d.is_ready and d.available_at <= p_now
        ) as oldest
    );
end;
$function$;

comment on function forebay._waits_since is
'Since when the agent''s oldest task that could start waits: since it was created, or where it was put off since it is due.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_waits_since.sql', 'repeatable', '2e85106ba6e6ff1b1c02e2e4d59f5b8caddfe3f3b4f71deb48beb599c8df588f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_wake_due.sql
create or replace function forebay._wake_due(p_agent text, p_now timestamptz, p_limit integer)
    returns integer
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Put the agent's due tasks into the line of those that can be claimed; say how many.
--
-- Writes  forebay.tasks.is_ready
-- Locks   the tasks, by id, skipping what somebody else holds
declare
    v_woken integer;
begin
    with due as (
        select t.task_id
        from forebay.tasks as t
        where t.agent = p_agent and t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
        order by t.available_at
        limit p_limit
    ), locked as (
        select t.task_id
        from forebay.tasks as t
        inner join due on due.task_id = t.task_id
        where t.status = 'enqueued' and not t.is_ready and t.available_at <= p_now
        order by t.task_id
        for no key update of t skip locked
    )
    update forebay.tasks as t
    set is_ready = true
    from locked
    where t.task_id = locked.task_id;
    get diagnostics v_woken = row_count;
    return v_woken;
end;
$function$;

comment on function forebay._wake_due is 'Put the agent''s due tasks into the line of those that can be claimed; say how many.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_wake_due.sql', 'repeatable', 'd9690394da5ae40c7b0de0a1e34c2bb6c53bab9b9788e727e6d41f7eea252dd3', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_wanted_statuses.sql
create or replace function forebay._wanted_statuses(p_filter forebay.task_filter)
    returns setof text
    language sql
    immutable
    security invoker
as $function$
-- The statuses that a filter lets through, each once.
select distinct words.status
from unnest(coalesce(p_filter.statuses, '{enqueued,processing,completed,failed,cancelled}')) as words (status);
$function$;

comment on function forebay._wanted_statuses is 'The statuses that a filter lets through, each once.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_wanted_statuses.sql', 'repeatable', 'ec1eda4e27bd0c6241bfdada68563bbe533f74a15723566ecbd798fd46fba1db', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_window_length.sql
create or replace function forebay._window_length(p_period interval)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- How long after its beginning a slot of a window of this period counts.
--
-- The provider counts a call from its arrival, a little after the grant. So a slot counts until its end has left the
-- period, and a second more (at most four slots): the ledger never gives room back before the provider.
select p_period + p_period / 120 + least(p_period / 30, interval '1 second');
$function$;

comment on function forebay._window_length is 'How long after its beginning a slot of a window of this period counts.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_window_length.sql', 'repeatable', 'baa0fc1e2df2231559327e534a6151576ff2fc6c7ddb876e4536b405ac4ca4e0', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_window_used.sql
create or replace function forebay._window_used(
    p_quota  text,
    p_unit   text,
    p_period interval,
    p_now    timestamptz,
    p_later  interval default '0'
)
    returns numeric
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How much of the calls so far counts against a window so long after p_now, settlements that wait to be folded in included.
declare
    v_since timestamptz := p_now + p_later - forebay._window_length(p_period);
begin
    return greatest(0, (
        select coalesce(sum(s.used), 0)
        from forebay.quota_slots as s
        where s.quota = p_quota and s.unit = p_unit and s.period = p_period and s.slot_at > v_since
    ) + (
        select coalesce(sum(forebay._in_unit(p_unit, s.requests, s.input_tokens, s.output_tokens)), 0)
        from forebay.quota_settlements as s
        inner join forebay.quota_limits as l on l.quota = s.quota and l.unit = p_unit and l.period = p_period
        where s.quota = p_quota and s.called_at >= l.since and forebay._slot_at(p_period, s.called_at) > v_since
    ));
end;
$function$;

comment on function forebay._window_used is 'How much of the calls so far counts against a window so long after p_now, settlements that wait to be folded in included.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_window_used.sql', 'repeatable', 'fe2781be5dcebeab3273122e8a0c1d4e8b7b30a70d0d08d340f83de5fdc029ed', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_within.sql
create or replace function forebay._within(
    p_amount  double precision,
    p_tokens  double precision,
    p_pace    double precision,
    p_seconds double precision
)
    returns double precision
    language sql
    immutable
    security invoker
as $function$
-- How much of p_amount is used within p_seconds by a task with p_tokens to go, at p_pace tokens a second (null: all at once).
select coalesce(least(p_amount, p_amount / nullif(p_tokens, 0) * p_pace * p_seconds), p_amount);
$function$;

comment on function forebay._within is 'How much of p_amount is used within p_seconds by a task with p_tokens to go, at p_pace tokens a second (null: all at once).';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_within.sql', 'repeatable', 'b5744d9041a04c20c9a6f9a3664d784d63b7954558634f66c9f3826fae53e6e2', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/internal/_without_quotas.sql
create or replace function forebay._without_quotas(p_agent forebay.agents)
    returns forebay.agents
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The agent as if it drew on no quota.
declare
    v_agent forebay.agents := p_agent;
begin
    v_agent.quotas := array[]::text[];
    return v_agent;
end;
$function$;

comment on function forebay._without_quotas is 'The agent as if it drew on no quota.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/internal/_without_quotas.sql', 'repeatable', '38e4057503fbdba4df84b469b2a91e136cbf2cfd7fca24247acd629241101828', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/batch_explanations.sql
create or replace function forebay.batch_explanations(p_batch_id bigint, p_actor text, p_task_ids bigint[])
    returns setof forebay.task_explanation
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say why tasks of p_actor's batch wait, as explain_task does for one.
--
-- Of a pause they hear until when, and not why: operators write that for each other.
--
-- Returns    one row for each of p_task_ids that is in the batch and waits, by id
-- Errors     22023  an argument is null, or p_task_ids has more than 200 ids
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._batch_explanations(p_batch_id, p_task_ids);
end;
$function$;

comment on function forebay.batch_explanations is 'Say why tasks of p_actor''s batch wait, as explain_task does for one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/batch_explanations.sql', 'repeatable', 'c75e6981328f10160e25cbe1ffa328f134d2506982bc50ead20b584bdea3789f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/batch_outlook.sql
create or replace function forebay.batch_outlook(p_batch_id bigint, p_actor text)
    returns forebay.batch_outlook
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- How far p_actor's batch has come, what it has cost, and how long it will still take.
--
-- time_left counts what is before the batch's last waiting task, the tasks that run, and the batch's own, at the rate at
-- which its agents really finished tasks lately; or, where that takes longer, at the rate that the limits in force let
-- pass. limited_by names such a limit, or the rule that nothing starts by; of a pause not its reason. Null: nothing finished lately, or no end of
-- that rule is known.
--
-- Returns    one row; per_minute is null where nothing finished in the last 15 minutes
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    return forebay._batch_outlook(forebay._own_batch(p_batch_id, p_actor));
end;
$function$;

comment on function forebay.batch_outlook is 'How far p_actor''s batch has come, what it has cost, and how long it will still take.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/batch_outlook.sql', 'repeatable', '31b38b58657d19f7301c8ceb64f7344719de5f020c4b6b31c1bf52aa79dfc12d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/batch_results.sql
create or replace function forebay.batch_results(
    p_batch_id      bigint,
    p_actor         text,
    p_task_ids      bigint[] default null,
    p_after_task_id bigint default null,
    p_limit         integer default 1000
)
    returns setof forebay.batch_result
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List what went into the tasks of p_actor's batch and what came out: the next page is that after the last id of this one.
--
-- A result has up to 1 MiB: ask for few at a time.
--
-- Returns    one row a task, by id; those of p_task_ids that are in the batch, all of it where that is null
-- Errors     22023  p_batch_id or p_actor is null, or p_limit is not from 1 to 1,000
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._batch_results(p_batch_id, p_task_ids, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.batch_results is 'List what went into the tasks of p_actor''s batch and what came out: the next page is that after the last id of this one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/batch_results.sql', 'repeatable', 'b1f51c6a6593d188a8fc428121deaee8fc899389de9e8f94bddab25dffa0925a', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/batch_tasks.sql
create or replace function forebay.batch_tasks(
    p_batch_id      bigint,
    p_actor         text,
    p_statuses      text[] default null,
    p_after_task_id bigint default null,
    p_limit         integer default 10000
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List the tasks of p_actor's batch, without their results: the next page is that after the last id of this one.
--
-- Returns    one row a task, by id; progress and started_at are those of the attempt that runs, fields what the result has
--            under "fields" (null for more than 4 kB), llm_usd null while nothing of it is known
-- Errors     22023  p_batch_id or p_actor is null, a status does not exist, or p_limit is not from 1 to 10,000
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._batch_tasks(p_batch_id, p_statuses, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.batch_tasks is 'List the tasks of p_actor''s batch, without their results: the next page is that after the last id of this one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/batch_tasks.sql', 'repeatable', 'da1a8831addb978582cf6383c4d1e6a002ee6f00458f3865249e71fb74d7e508', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/batch_tasks_by_confidence.sql
create or replace function forebay.batch_tasks_by_confidence(
    p_batch_id      bigint,
    p_actor         text,
    p_after_task_id bigint default null,
    p_limit         integer default 10000
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List the completed tasks of p_actor's batch, the least sure first: the next page is that after the last id of this one.
--
-- Returns    one row a completed task as of batch_tasks, by confidence (null comes last), then by id
-- Errors     22023  p_batch_id or p_actor is null, or p_limit is not from 1 to 10,000
--            QF302  p_actor has no such batch
--            QF303  p_after_task_id is no completed task of the batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._batch_tasks_by_confidence(p_batch_id, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.batch_tasks_by_confidence is
'List the completed tasks of p_actor''s batch, the least sure first: the next page is that after the last id of this one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/batch_tasks_by_confidence.sql', 'repeatable', '03151c8d5dcea02d624f13ea5afce0505a8d34021cace1ca61db95fcf48d7e9b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/cancel_batch.sql
create or replace function forebay.cancel_batch(p_batch_id bigint, p_actor text, p_reason text default null)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Cancel what is left of p_actor's batch, as cancel does for single tasks.
--
-- Returns    one row a task of the batch, by id
-- Writes     forebay.tasks, forebay.task_attempts, forebay.audit_log
-- Locks      the tasks, by id, then their attempts, by id
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._cancel(
        array(select t.task_id from forebay.tasks as t where t.batch_id = p_batch_id), p_reason, p_actor
    );
end;
$function$;

comment on function forebay.cancel_batch is 'Cancel what is left of p_actor''s batch, as cancel does for single tasks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/cancel_batch.sql', 'repeatable', '9403965db9336cfc3ce7878a1251024cd4ece3b20e8ca55f857a110b4f9eeab2', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/drop_upload.sql
create or replace function forebay.drop_upload(p_upload_id uuid, p_actor text)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Give up a file before it is submitted, and return the name under which the storage may still have it.
--
-- Whoever calls this removes the file after the commit; if that fails, the clean-up does it. Once more is no error.
--
-- Writes     forebay.uploads
-- Locks      the upload
-- Errors     22023  an argument is null
--            QF203  the upload was submitted
--            QF306  p_actor has no such upload
-- Called by  forebay_submitter
declare
    v_upload forebay.uploads := forebay._lock_upload(p_upload_id, p_actor);
begin
    update forebay.uploads as u
    set dropped_at = forebay._now()
    where u.upload_id = p_upload_id and u.dropped_at is null;
    return v_upload.document;
end;
$function$;

comment on function forebay.drop_upload is 'Give up a file before it is submitted, and return the name under which the storage may still have it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/drop_upload.sql', 'repeatable', '5a52aa2930916e822798232c7ba0bfbfc3aa8b97f24da5655a4db2d00a0c3f0b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/enqueue.sql
create or replace function forebay.enqueue(
    p_agent            text,
    p_payload          jsonb,
    p_priority         integer default 0,
    p_batch_id         bigint default null,
    p_customer         text default null,
    p_idempotency_key  text default null,
    p_run_after        timestamptz default null,
    p_estimated_tokens bigint default null,
    p_max_attempts     integer default null
)
    returns bigint
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Enqueue one task and return its id, as enqueue_many does for many.
--
-- Errors     as enqueue_many
-- Called by  forebay_submitter
begin
    return (
        select e.task_id
        from forebay.enqueue_many(
            p_agent,
            jsonb_build_array(jsonb_build_object(
                'payload', p_payload,
                'priority', p_priority,
                'customer', p_customer,
                'idempotency_key', p_idempotency_key,
                'run_after', p_run_after,
                'estimated_tokens', p_estimated_tokens,
                'max_attempts', p_max_attempts
            )),
            p_batch_id
        ) as e
    );
end;
$function$;

comment on function forebay.enqueue is 'Enqueue one task and return its id, as enqueue_many does for many.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/enqueue.sql', 'repeatable', 'fc5460563e221c5463b40f99b1799ef202fc17d1fcbc670816f8ff84b7efac2c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/enqueue_many.sql
create or replace function forebay.enqueue_many(p_agent text, p_tasks jsonb, p_batch_id bigint default null)
    returns setof forebay.enqueued_task
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Enqueue tasks for one agent, all or none of them.
--
-- A task is an object: payload (required), priority, customer, idempotency_key, run_after, estimated_tokens,
-- max_attempts; other keys are ignored. A key that the agent already has answers with the first task and created = false;
-- only the payload is compared. run_after is an instant: a caller whose clock is wrong gets what it asked for. The
-- customer's boost is added to the priority.
--
-- Returns    one row a task, by ordinal from 1, in the order given
-- Writes     forebay.tasks
-- Locks      the agent's line, shared; for an agent with max_waiting also its end, alone, until the transaction ends;
--            then idempotency keys, in the order of the keys
-- Errors     22023  p_tasks is no array, too long, or has a bad task, which is named by its ordinal
--            25001  the agent has max_waiting, and the transaction is not READ COMMITTED
--            40001  a task with the same key went away at this moment, or the agent was defined anew after the snapshot
--            QF201  a key was used before with another payload
--            QF301, QF302  no such agent or batch
--            QF402  a payload is too large
--            QF403  more tasks of the agent would wait than its max_waiting
-- Called by  forebay_submitter
declare
    v_agent    forebay.agents;
    v_batch    forebay.batches;
    v_rows     forebay.tasks[] := array[]::forebay.tasks[];
    v_document jsonb;
    v_ordinal  integer := 0;
    v_has_keys boolean := false;
    v_is_named boolean := false;
    v_limits   forebay.installation := forebay._limits();
    v_now      timestamptz := forebay._now();
    v_message  text;
    v_state    text;
    v_hint     text;
begin
    perform forebay._join_line(array[p_agent]);
    v_agent := forebay._get_agent(p_agent);
    if p_tasks is null or jsonb_typeof(p_tasks) <> 'array' then
        raise exception 'p_tasks must be a JSON array' using errcode = '22023';
    end if;
    perform forebay._require_between(jsonb_array_length(p_tasks), 'the number of tasks', 0, v_limits.max_batch_size);
    if p_batch_id is not null then
        v_batch := forebay._get_batch(p_batch_id);
    end if;

    begin
        for v_document in select elements.value from jsonb_array_elements(p_tasks) as elements loop
            v_ordinal := v_ordinal + 1;
            v_rows := v_rows || forebay._parse_task(v_agent, v_document, v_batch, v_limits.max_payload_bytes, v_now);
            v_has_keys := v_has_keys or v_rows[v_ordinal].idempotency_key is not null;
            v_is_named := v_is_named or v_rows[v_ordinal].customer is not null;
        end loop;
    exception when data_exception or sqlstate 'QF402' then
        get stacked diagnostics v_message = message_text, v_state = returned_sqlstate, v_hint = pg_exception_hint;
        raise exception 'task %: %', v_ordinal, v_message using errcode = v_state, hint = concat_ws(' ', nullif(v_hint, ''), 'Nothing was enqueued.');
    end;

    if v_is_named then
        v_rows := forebay._boosted(v_rows);
    end if;
    if v_agent.max_waiting is not null then
        perform forebay._lock_end_of_line(v_agent);
    end if;
    insert into forebay.tasks
    select r.* from unnest(v_rows) as r
    order by r.idempotency_key collate "C" nulls first, r.task_id
    on conflict (agent, idempotency_key) where idempotency_key is not null do nothing;
    if found and v_agent.max_waiting is not null then
        perform forebay._require_short_line(v_agent);
    end if;

    if v_has_keys then
        return query select * from forebay._match_keys(v_rows);
    else
        return query select (row_number() over ())::integer, r.task_id, true from unnest(v_rows) as r;
    end if;
end;
$function$;

comment on function forebay.enqueue_many is 'Enqueue tasks for one agent, all or none of them.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/enqueue_many.sql', 'repeatable', '09a2235334a9325884f37f2100cade240cd9123714dc1db059a2cd46ddbf6a8b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/finish_upload.sql
create or replace function forebay.finish_upload(
    p_upload_id        uuid,
    p_bytes            bigint,
    p_pages            integer,
    p_estimated_tokens bigint,
    p_actor            text
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take note that all of a file is stored and was found to be readable: from now on it can be submitted.
--
-- p_pages and p_estimated_tokens are null where they are not known. Once more is no error; the last numbers hold.
--
-- Writes     forebay.uploads
-- Locks      the upload
-- Errors     22023  p_upload_id or p_actor is null, or a number is out of range
--            QF203  the upload was submitted
--            QF306  p_actor has no such upload, or it was dropped: the file must not stay
-- Called by  forebay_submitter
begin
    perform forebay._require_between(p_bytes, 'p_bytes', 1, 1000000000000000);
    perform forebay._require_between(coalesce(p_pages, 0), 'p_pages', 0, 2147483647);
    perform forebay._require_between(coalesce(p_estimated_tokens, 0), 'p_estimated_tokens', 0, 1000000000000);
    perform forebay._lock_open_upload(p_upload_id, p_actor);
    update forebay.uploads as u
    set stored_at = forebay._now(), bytes = p_bytes, pages = p_pages, estimated_tokens = p_estimated_tokens
    where u.upload_id = p_upload_id;
end;
$function$;

comment on function forebay.finish_upload is 'Take note that all of a file is stored and was found to be readable: from now on it can be submitted.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/finish_upload.sql', 'repeatable', '7b267d6e7296e2b1d490f1a2b26f9bf51958e3ef1fe12115d1d76113d23397dd', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/list_uploads.sql
create or replace function forebay.list_uploads(p_actor text)
    returns setof forebay.stored_upload
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List what p_actor has uploaded and neither submitted nor dropped.
--
-- Returns    one row a file that can be submitted, the first stored first; as many as a batch may have
-- Errors     22023  p_actor is null
-- Called by  forebay_submitter
declare
    v_actor text := p_actor;
begin
    if p_actor is null then
        raise exception 'p_actor must not be null' using errcode = '22023';
    end if;
    return query
    select u.upload_id, u.name, u.document, u.bytes, u.pages, u.estimated_tokens, u.opened_at, u.stored_at
    from forebay.uploads as u
    where forebay._is_person(u.owner, v_actor) and u.stored_at is not null and u.task_id is null and u.dropped_at is null
    order by u.stored_at, u.upload_id
    limit (forebay._limits()).max_batch_size;
end;
$function$;

comment on function forebay.list_uploads is 'List what p_actor has uploaded and neither submitted nor dropped.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/list_uploads.sql', 'repeatable', 'f8c251a58ab8f3997201fb291a182826aaec9dc9fed2d3f8a5f136ef48224eb7', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/open_batch.sql
create or replace function forebay.open_batch(
    p_name     text,
    p_customer text default null,
    p_owner    text default null,
    p_metadata jsonb default '{}'
)
    returns bigint
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Open a batch, the parent of many tasks, and return its id; its tasks take its customer and owner.
--
-- Writes     forebay.batches
-- Errors     22023  a name, customer or owner is empty or too long, or p_metadata is no object
--            QF402  p_metadata is too large
-- Called by  forebay_submitter
begin
    return forebay._open_batch(p_name, p_customer, p_owner, p_metadata, null);
end;
$function$;

comment on function forebay.open_batch is 'Open a batch, the parent of many tasks, and return its id; its tasks take its customer and owner.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/open_batch.sql', 'repeatable', '58aaa9c7c6269bb5cac1f4e49f5f1ff30bc386b598557e349bdd6ecefda918a1', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/open_upload.sql
create or replace function forebay.open_upload(p_upload_id uuid, p_name text, p_actor text)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take note of a file that is about to be uploaded, and return the name that it has in the storage.
--
-- Commit before the first byte is written: from then on the clean-up knows of the file. p_name is what the person calls it;
-- it is kept whole and names nothing. The storage's folder, uploads, is known to the clean-up of intake too. The same id again
-- begins the upload anew, as long as it was not submitted.
--
-- Writes     forebay.uploads
-- Locks      the upload
-- Errors     22023  p_upload_id is null, or p_name or p_actor is null, empty or too long
--            QF203  the upload was submitted
--            QF306  the upload was dropped, or is somebody else's
-- Called by  forebay_submitter
declare
    v_document text := format('uploads/%s.pdf', p_upload_id);
    v_now      timestamptz := forebay._now();
begin
    if p_upload_id is null then
        raise exception 'p_upload_id must not be null' using errcode = '22023';
    end if;
    if p_name is null or char_length(p_name) not between 1 and 1000 then
        raise exception 'p_name must have 1 to 1000 characters' using errcode = '22023';
    end if;
    if p_actor is null or char_length(p_actor) not between 1 and 200 then
        raise exception 'p_actor must have 1 to 200 characters' using errcode = '22023';
    end if;

    insert into forebay.uploads (upload_id, owner, name, document, opened_at)
    values (p_upload_id, p_actor, p_name, v_document, v_now)
    on conflict (upload_id) do nothing;
    if not found then
        perform forebay._lock_open_upload(p_upload_id, p_actor);
        update forebay.uploads as u
        set name = p_name, opened_at = v_now, stored_at = null, bytes = null, pages = null, estimated_tokens = null
        where u.upload_id = p_upload_id;
    end if;
    return v_document;
end;
$function$;

comment on function forebay.open_upload is 'Take note of a file that is about to be uploaded, and return the name that it has in the storage.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/open_upload.sql', 'repeatable', '1e4f415c0092c7c4e011a02e960400b35ec07b73deac33a7c9499173de218fb9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/own_batches.sql
create or replace function forebay.own_batches(
    p_actor           text,
    p_before_batch_id bigint default null,
    p_limit           integer default 50
)
    returns setof forebay.batch_progress
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List p_actor's batches, the newest first, a page at a time: the next page is that before the last id of this one.
--
-- They are those of every spelling of p_actor in capitals and small letters.
--
-- Returns    one row a batch, by id downwards
-- Errors     22023  p_actor is null, or p_limit is not from 1 to 1,000
-- Called by  forebay_submitter
declare
    v_actor text := p_actor;
begin
    if p_actor is null then
        raise exception 'p_actor must not be null' using errcode = '22023';
    end if;
    perform forebay._require_between(p_limit, 'p_limit', 1, 1000);
    return query
    select p.*
    from (
        select b.batch_id from forebay.batches as b
        where forebay._is_person(b.owner, v_actor) and b.batch_id < coalesce(p_before_batch_id, 9223372036854775807)
        order by b.batch_id desc
        limit p_limit
    ) as own
    cross join lateral forebay.batch_progress(own.batch_id) as p
    order by own.batch_id desc;
end;
$function$;

comment on function forebay.own_batches is 'List p_actor''s batches, the newest first, a page at a time: the next page is that before the last id of this one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/own_batches.sql', 'repeatable', 'b8aa5029ddb9bb4b290594b88df97ba171ebdc2d5097de1b3c7b2c8f3d35277d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/registered_agents.sql
create or replace function forebay.registered_agents(p_agents text[])
    returns setof text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say which of these agents are there to be given tasks.
--
-- Returns    the names of p_agents that are registered, each once, in the order given
-- Errors     22023  p_agents is null
-- Called by  forebay_submitter
begin
    if p_agents is null then
        raise exception 'p_agents must not be null' using errcode = '22023';
    end if;
    return query
    select a.agent
    from unnest(p_agents) with ordinality as names (agent, place)
    inner join forebay.agents as a on a.agent = names.agent
    group by a.agent
    order by min(names.place);
end;
$function$;

comment on function forebay.registered_agents is 'Say which of these agents are there to be given tasks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/registered_agents.sql', 'repeatable', 'a8ca12498ed405c92d6dc3f6892b32e6c021d9ce0afd2eb074cd67ef16c76d9d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/retry_batch.sql
create or replace function forebay.retry_batch(p_batch_id bigint, p_actor text, p_reason text default null)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Put the failed and cancelled tasks of p_actor's batch back in line, as retry does for single tasks.
--
-- Returns    one row a task of the batch, by id
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  an argument is null
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    return query select * from forebay._retry(
        array(select t.task_id from forebay.tasks as t where t.batch_id = p_batch_id), null, p_reason, p_actor
    );
end;
$function$;

comment on function forebay.retry_batch is 'Put the failed and cancelled tasks of p_actor''s batch back in line, as retry does for single tasks.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/retry_batch.sql', 'repeatable', '5547e1cc0780eb9f97d2fe28ed885bdc95f834919e53b4f016a4a0bf39829204', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/retry_batch_tasks.sql
create or replace function forebay.retry_batch_tasks(
    p_batch_id bigint,
    p_actor    text,
    p_statuses text[] default null,
    p_task_ids bigint[] default null,
    p_reason   text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Put failed or cancelled tasks of p_actor's batch back in line: those of these statuses and ids alone.
--
-- Null statuses or ids let every one through; with both null it is retry_batch. Ids of other batches are left out.
--
-- Returns    one row a task of the batch that is meant, by id
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  p_batch_id or p_actor is null, or a status is none
--            QF302  p_actor has no such batch
-- Called by  forebay_submitter
begin
    perform forebay._own_batch(p_batch_id, p_actor);
    perform forebay._require_statuses(p_statuses);
    return query select * from forebay._retry(
        array(
            select t.task_id from forebay.tasks as t
            where t.batch_id = p_batch_id
                and (p_statuses is null or t.status = any(p_statuses))
                and (p_task_ids is null or t.task_id = any(p_task_ids))
        ),
        null, p_reason, p_actor
    );
end;
$function$;

comment on function forebay.retry_batch_tasks is
'Put failed or cancelled tasks of p_actor''s batch back in line: those of these statuses and ids alone.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/retry_batch_tasks.sql', 'repeatable', '4d4af0222dd755daf48bc5ef79167002df61cb07fbcebd83466410983b4117fa', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/submitter/submit_uploads.sql
create or replace function forebay.submit_uploads(
    p_submission_key text,
    p_upload_ids     uuid[],
    p_agent          text,
    p_name           text,
    p_actor          text,
    p_customer       text default null,
    p_priority       integer default 0
)
    returns bigint
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Submit p_actor's uploads as one batch, all or none of them, and return its id.
--
-- The same submission again answers with the same batch, whatever became of the first answer. A task's payload is
-- {"document", "name"}, its idempotency key the upload's id.
--
-- Returns    the batch
-- Writes     forebay.batches, forebay.tasks, forebay.uploads
-- Locks      the agent's line, shared; p_actor's submission key; the uploads, by id; then as enqueue_many
-- Errors     22023  an argument is null, out of range or too long
--            25001, 40001, QF301, QF403  as enqueue_many
--            QF201  the key was used for other uploads
--            QF203  an upload was submitted before; it is named
--            QF306  p_actor has no such upload, or it was dropped, or is not stored yet; it is named
-- Called by  forebay_submitter
declare
    v_ids      uuid[] := array(
        select ids.id from unnest(p_upload_ids) with ordinality as ids (id, place)
        where ids.id is not null group by ids.id order by min(ids.place)
    );
    v_batch_id bigint;
    v_tasks    jsonb;
begin
    if p_submission_key is null or char_length(p_submission_key) not between 1 and 200 then
        raise exception 'p_submission_key must have 1 to 200 characters' using errcode = '22023';
    end if;
    if p_actor is null then
        raise exception 'p_actor must not be null' using errcode = '22023';
    end if;
    perform forebay._require_between(cardinality(v_ids), 'the number of uploads', 1, (forebay._limits()).max_batch_size);

    v_batch_id := forebay._submitted_batch(p_submission_key, v_ids, p_actor);
    if v_batch_id is not null then
        return v_batch_id;
    end if;
    perform forebay._join_line(array[p_agent]);
    v_batch_id := forebay._open_batch(p_name, p_customer, p_actor, '{}', p_submission_key);
    if v_batch_id is null then
        return forebay._submitted_batch(p_submission_key, v_ids, p_actor);
    end if;
    v_tasks := forebay._take_uploads(v_ids, p_priority, p_actor);
    update forebay.uploads as u
    set task_id = e.task_id
    from forebay.enqueue_many(p_agent, v_tasks, v_batch_id) as e
    where u.upload_id = v_ids[e.ordinal];
    return v_batch_id;
end;
$function$;

comment on function forebay.submit_uploads is 'Submit p_actor''s uploads as one batch, all or none of them, and return its id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/submitter/submit_uploads.sql', 'repeatable', 'd9d6285ac5e0674256c8bc7fa533f2fb7d7e57106b40b79056da2ab6b867ed19', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/adopt.sql
create or replace function forebay.adopt(p_worker text, p_launchers text[], p_limit integer default 100)
    returns setof forebay.adopted_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take over attempts whose driver let the lease run out while their run may live on outside of it.
--
-- Attempt and launch token stay. Without a run id: launch again with the same token, and get the same run. With one: ask
-- its state and pass it to observe_run.
--
-- Returns    one row an attempt, by id; of more than p_limit those that expired first
-- Writes     forebay.task_attempts.worker, lease_expires_at; forebay.tasks.locked_by
-- Locks      the tasks, then their attempts, skipping what somebody else holds
-- Errors     22023  p_worker, p_launchers or p_limit is wrong
--            QF401  this database is a copy
-- Called by  forebay_worker
declare
    v_launchers text[] := p_launchers;
    v_tasks     bigint[];
    v_attempts  bigint[];
    v_now       timestamptz;
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if p_launchers is null then
        raise exception 'p_launchers must not be null' using errcode = '22023';
    end if;
    perform forebay._require_launchers(v_launchers);
    perform forebay._require_open();
    v_now := forebay._now();

    select array_agg(locked.task_id) into v_tasks from (
        select t.task_id
        from forebay.tasks as t
        inner join forebay.task_attempts as a on a.task_id = t.task_id and a.attempt_id = t.attempt_id
        where a.finished_at is null and a.launcher = any(v_launchers) and forebay._is_external(a.launcher)
            and a.lease_expires_at <= v_now and a.deadline_at > v_now
        order by a.lease_expires_at, t.task_id
        limit p_limit
        for no key update of t skip locked
    ) as locked;
    select array_agg(locked.attempt_id) into v_attempts from (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.attempt_id in (select t.attempt_id from forebay.tasks as t where t.task_id = any(v_tasks))
            and a.finished_at is null and a.lease_expires_at <= v_now and a.deadline_at > v_now
        order by a.attempt_id
        for no key update skip locked
    ) as locked;

    return query
    with adopted as (
        update forebay.task_attempts as a
        set worker = p_worker, lease_expires_at = least(v_now + g.lease, a.deadline_at)
        from forebay.agents as g
        where a.attempt_id = any(v_attempts) and g.agent = a.agent
        returning a.*, g.job_id, g.entry_point
    ), marked as (
        update forebay.tasks as t set locked_by = p_worker
        from adopted as a
        where t.task_id = a.task_id
        returning t.*
    )
    select
        a.task_id, a.attempt_id, a.attempt_no, a.agent, a.launcher, a.job_id, a.entry_point, t.payload,
        t.priority::integer, t.batch_id, t.customer, a.estimated_tokens, a.launch_token, a.lease_expires_at, a.deadline_at,
        a.run_id
    from adopted as a
    inner join marked as t on t.attempt_id = a.attempt_id
    order by a.attempt_id;
end;
$function$;

comment on function forebay.adopt is 'Take over attempts whose driver let the lease run out while their run may live on outside of it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/adopt.sql', 'repeatable', '4020a054c4bb3024fe404786a7b45c30072cec8cbc0bddde3ee663a371912409', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/dequeue.sql
create or replace function forebay.dequeue(
    p_worker     text,
    p_agents     text[] default null,
    p_batch_size integer default 1,
    p_launchers  text[] default null
)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
    set lock_timeout = 5000
as $function$
-- Claim up to p_batch_size tasks for p_worker: each becomes an attempt with a lease.
--
-- Agents that have room are served in the order of the best priority that could start; equals share the batch, the first
-- of them is random. An agent that another call is admitting for, or a quota or customer of it, is skipped, and waited for
-- only when this call holds nothing, for 5 seconds at most. A lock that led to nothing is given back at once, by rolling
-- its subtransaction back. The parameters are copied: a copy compares by the default collation, a parameter by whatever
-- the caller's argument had, past the indexes.
-- Call it in a transaction of its own: the agents it claimed for stay locked until commit. Without p_agents and
-- p_launchers it serves the agents of launcher pull.
--
-- Returns    one row an attempt; none when nothing could start at this moment
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_budgets, forebay.agent_settlements, forebay.dispatchers,
--            forebay.customer_turns, and the quotas' levels
-- Locks      one agent after the other without waiting, each with its quotas and customers; then tasks and attempts
-- Errors     22023  p_worker, p_agents, p_batch_size or p_launchers is wrong
--            25001  the transaction is not READ COMMITTED
--            QF301  no such agent
--            QF401  this database is a copy
-- Called by  forebay_worker
declare
    v_worker    text := p_worker;
    v_agents    text[] := p_agents;
    v_launchers text[] := p_launchers;
    v_left      integer := p_batch_size;
    v_busy      text[] := array[]::text[];
    v_idle      text[] := array[]::text[];
    v_round     forebay.serving_round;
    v_waits     boolean;
    v_holds     boolean := false;
    v_agent     text;
    v_line      forebay.opened_line;
    v_got       integer;
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_batch_size, 'p_batch_size', 1, 10000);
    perform forebay._require_read_committed('dequeue');
    perform forebay._require_agents(v_agents);
    perform forebay._require_launchers(v_launchers);
    perform forebay._require_open();
    perform forebay._seen(v_worker, 'claim');

    while v_left > 0 loop
        v_round := forebay._next_round(v_agents, v_launchers, v_busy || v_idle);
        v_waits := v_left = p_batch_size and v_busy = '{}' and v_round.is_only and not v_holds;
        if v_round.agents is null then
            exit when v_left < p_batch_size or v_busy = '{}' or v_holds;
            v_round.agents := v_busy[1:1];
            v_waits := true;
            v_busy := '{}';
        end if;
        for v_at in 1 .. cardinality(v_round.agents) loop
            v_agent := v_round.agents[v_at];
            v_got := 0;
            begin
                v_line := forebay._open_line(v_agent, v_waits);
                return query select * from forebay._claim(
                    v_worker, v_line.agent,
                    least(v_line.room, ceil(v_left::numeric / (cardinality(v_round.agents) - v_at + 1))::integer), v_round.floor,
                    v_waits
                );
                get diagnostics v_got = row_count;
                if v_got = 0 then
                    v_idle := v_idle || v_agent;
                    if v_line.moved = 0 then
                        raise exception 'nothing to claim for %', v_agent using errcode = 'QF902';
                    end if;
                    v_holds := true;
                end if;
            exception
                when lock_not_available then
                    if v_waits then
                        return;
                    end if;
                    v_busy := v_busy || v_agent;
                when sqlstate 'QF902' then null;
            end;
            v_left := v_left - v_got;
            exit when v_left = 0;
        end loop;
    end loop;
end;
$function$;

comment on function forebay.dequeue is 'Claim up to p_batch_size tasks for p_worker: each becomes an attempt with a lease.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/dequeue.sql', 'repeatable', '20bc1effd78446190a5c1b26fd5a58cfc0c5bbf47143a65aa3231e1eb46b5008', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/observe_launcher.sql
create or replace function forebay.observe_launcher(p_worker text, p_launcher text, p_fault text default null)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Note why p_worker cannot start runs with a launcher at this moment, for explain_task and health; null: it can.
--
-- A fault is to be told again within two minutes, else it counts no more.
--
-- Writes     forebay.launcher_faults
-- Errors     22023  p_worker is no name, p_launcher is none, or p_fault is empty
-- Called by  forebay_worker
declare
    v_now timestamptz := forebay._now();
begin
    perform forebay._require_worker(p_worker);
    if p_launcher is null or p_fault = '' then
        raise exception 'p_launcher must not be null, and p_fault not empty' using errcode = '22023';
    end if;
    perform forebay._require_launchers(array[p_launcher]);
    if p_fault is null then
        delete from forebay.launcher_faults as f where f.worker = p_worker and f.launcher = p_launcher;
        return;
    end if;

    insert into forebay.launcher_faults as f (worker, launcher, reason, began_at, seen_at)
    values (p_worker, p_launcher, left(p_fault, 2000), v_now, v_now)
    on conflict (worker, launcher) do update set
        reason = excluded.reason,
        began_at = case when forebay._is_current(f, v_now) then f.began_at else excluded.began_at end,
        seen_at = excluded.seen_at;
end;
$function$;

comment on function forebay.observe_launcher is 'Note why p_worker cannot start runs with a launcher at this moment, for explain_task and health; null: it can.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/observe_launcher.sql', 'repeatable', '5011a7d0a9b967acabfe59b8e02c178ccc09afd3137afa7cb0b6813b108dcd34', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/observe_run.sql
create or replace function forebay.observe_run(p_attempt_id bigint, p_run jsonb)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take in what the launcher saw of an attempt's run, and let the table run_outcomes say what follows.
--
-- p_run is an object with life_cycle_state (required), result_state, termination_code and message. An unknown state
-- renews, until the attempt's deadline. A run that ended waits the report grace for its report, counted from when it was
-- first seen ended. A launch that failed is told in the same way (LAUNCH_FAILED), and a look at a run that did (POLL_FAILED):
-- result_state is then the HTTP status or UNREACHABLE, termination_code the error's code. While nothing can begin the
-- deadline of an attempt without a run is put off. An agent may be paused while the run goes on: its lease is renewed.
--
-- Returns    renew, requeue, retry, fail or pause_agent: what was done; none when the attempt had ended before
-- Writes     forebay.task_attempts, forebay.tasks, forebay.agents
-- Locks      the agent's budget row if it may be paused, the task, then the attempt
-- Errors     22023  p_run is no object, or a key is of a wrong type
--            QF304  there is no such attempt
--            QF402  p_run is too large
-- Called by  forebay_worker
declare
    v_attempt forebay.task_attempts;
    v_outcome forebay.run_outcomes;
    v_held    forebay.held_attempt;
    v_agent   forebay.agents;
    v_limits  forebay.installation := forebay._limits();
    v_now     timestamptz;
begin
    if p_run is null or jsonb_typeof(p_run) <> 'object' then
        raise exception 'p_run must be a JSON object' using errcode = '22023';
    end if;
    perform forebay._require_document(p_run, 'p_run', v_limits.max_result_bytes);
    if forebay._json_text(p_run, 'life_cycle_state') is null then
        raise exception '"life_cycle_state" is required' using errcode = '22023';
    end if;
    v_attempt := forebay._get_attempt(p_attempt_id);
    v_outcome := forebay._run_outcome(v_attempt.launcher, p_run);
    v_agent := forebay._get_agent(v_attempt.agent);
    if v_outcome.outcome = 'pause_agent' and v_agent.paused_until is distinct from 'infinity' then
        perform forebay._pause(
            v_attempt.agent, 'infinity', v_outcome.note || ' (' || forebay._run_words(p_run) || ')', 'observe_run'
        );
    end if;

    v_held := forebay._lock_attempt(p_attempt_id);
    v_attempt := v_held.attempt;
    v_now := forebay._now();
    update forebay.task_attempts as a
    set run_state = p_run,
        run_ended_at = case when v_outcome.is_ended then coalesce(a.run_ended_at, v_now) end,
        is_stop_pending = a.is_stop_pending and not v_outcome.is_ended,
        deadline_at = case
            when v_outcome.is_held_up and a.run_id is null and a.finished_at is null and a.deadline_at > v_now
                then greatest(a.deadline_at, v_now + v_agent.timeout)
            else a.deadline_at
        end
    where a.attempt_id = p_attempt_id
    returning a.* into v_attempt;
    if v_attempt.finished_at is not null then
        return 'none';
    end if;

    if v_now < v_attempt.deadline_at and (
        v_outcome.outcome = 'renew' or v_outcome.outcome = 'pause_agent' and not v_outcome.is_ended
        or v_outcome.may_report_yet and v_now < v_attempt.run_ended_at + v_limits.report_grace
    ) then
        update forebay.task_attempts as a
        set lease_expires_at = least(v_now + v_agent.lease, a.deadline_at)
        where a.attempt_id = p_attempt_id;
        return 'renew';
    end if;

    return forebay._end_observed(v_attempt, v_held.task, v_agent, v_outcome, v_now);
end;
$function$;

comment on function forebay.observe_run is 'Take in what the launcher saw of an attempt''s run, and let the table run_outcomes say what follows.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/observe_run.sql', 'repeatable', '41255d02b3e7646142cbd6ce74fd850e707eff1136d5e3b8b12e24ae6bbe472e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/record_run.sql
create or replace function forebay.record_run(p_attempt_id bigint, p_run_id text)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Record which run the launcher started for an attempt; an attempt that was ended meanwhile keeps it too, to be cancelled.
--
-- Writes     forebay.task_attempts.run_id, status
-- Locks      the attempt
-- Errors     22023  p_attempt_id is null, or p_run_id is null, empty or too long
--            QF202  another run is recorded: a launch token names one run
--            QF304  there is no such attempt
-- Called by  forebay_worker
declare
    v_run_id text;
begin
    if p_run_id is null or char_length(p_run_id) not between 1 and 500 then
        raise exception 'p_run_id must have 1 to 500 characters' using errcode = '22023';
    end if;
    perform forebay._get_attempt(p_attempt_id);
    select a.run_id into v_run_id from forebay.task_attempts as a where a.attempt_id = p_attempt_id for no key update;
    if v_run_id <> p_run_id then
        raise exception 'attempt % already runs as %, not as %', p_attempt_id, v_run_id, p_run_id using errcode = 'QF202';
    end if;

    update forebay.task_attempts as a
    set run_id = p_run_id, status = case a.status when 'claimed' then 'running' else a.status end
    where a.attempt_id = p_attempt_id and v_run_id is null;
end;
$function$;

comment on function forebay.record_run is 'Record which run the launcher started for an attempt; an attempt that was ended meanwhile keeps it too, to be cancelled.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/record_run.sql', 'repeatable', '6b8cdb5df837051fe0e597319d43c027339b895d0c5b039ce722237aac8754f0', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/recover_claims.sql
create or replace function forebay.recover_claims(
    p_worker    text,
    p_known_ids bigint[],
    p_within    interval,
    p_launchers text[] default null
)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Answer once more what dequeue gave p_worker within p_within and it does not know of: the answer was lost with its line.
--
-- Ask before the next claim, with every attempt that the worker has in hand, and again for as long as the lost call may have
-- gone on in the server. Without it these attempts would be lost with their leases. A process whose threads claim for one
-- launcher each names it: what another thread has just claimed is not lost.
--
-- Returns    one row an attempt whose lease is held and that has no run, by id
-- Errors     22023  p_worker is no name, p_known_ids is null, p_within is null or negative, or p_launchers is wrong
--            QF401  this database is a copy
-- Called by  forebay_worker
declare
    v_launchers text[] := p_launchers;
    v_known     bigint[] := forebay._require_ids(p_known_ids, 'p_known_ids');
    v_now       timestamptz := forebay._now();
begin
    perform forebay._require_worker(p_worker);
    if p_within is null then
        raise exception 'p_within must not be null' using errcode = '22023';
    end if;
    perform forebay._require_delay(p_within, 'p_within');
    perform forebay._require_launchers(v_launchers);
    perform forebay._require_open();

    return query
    select
        t.task_id, a.attempt_id, a.attempt_no, a.agent, a.launcher, g.job_id, g.entry_point, t.payload,
        t.priority::integer, t.batch_id, t.customer, a.estimated_tokens, a.launch_token, a.lease_expires_at, a.deadline_at
    from forebay.task_attempts as a
    inner join forebay.tasks as t on t.task_id = a.task_id and t.attempt_id = a.attempt_id
    inner join forebay.agents as g on g.agent = a.agent
    where a.finished_at is null and a.worker = p_worker and a.run_id is null and a.attempt_id <> all(v_known)
        and a.started_at >= v_now - p_within and a.lease_expires_at > v_now
        and (v_launchers is null or a.launcher = any(v_launchers))
    order by a.attempt_id;
end;
$function$;

comment on function forebay.recover_claims is 'Answer once more what dequeue gave p_worker within p_within and it does not know of: the answer was lost with its line.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/recover_claims.sql', 'repeatable', 'd571c2f097180c55a06992a81144ac80ff34e595594320e39c282c491d52ffd7', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/release.sql
create or replace function forebay.release(p_attempt_id bigint, p_reason text, p_retry_in interval default '0')
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Hand a task back without spending the attempt: the launch was refused, or the worker shuts down.
--
-- Without reported usage the whole charge of tokens is refunded; max_rpm counts the claim all the same. After the agent's max_releases a release spends an attempt. An
-- attempt that no longer holds the task changes nothing, but is known to have stopped; a cancelled one is refunded too.
--
-- Returns    the task's status after it
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks      the task, then the attempt
-- Errors     22023  an argument is null, or p_retry_in is negative
--            QF304  there is no such attempt
-- Called by  forebay_worker
declare
    v_held     forebay.held_attempt;
    v_agent    forebay.agents;
    v_is_spent boolean;
    v_now      timestamptz;
begin
    perform forebay._require_delay(p_retry_in, 'p_retry_in');
    if p_retry_in is null or p_reason is null then
        raise exception 'p_reason and p_retry_in must not be null' using errcode = '22023';
    end if;
    v_held := forebay._lock_attempt(p_attempt_id);
    v_now := forebay._now();
    if (v_held.attempt).finished_at is not null then
        update forebay.task_attempts as a set is_stop_pending = false where a.attempt_id = p_attempt_id;
        perform forebay._settle(
            p_attempt_id, (v_held.attempt).status = 'cancelled' and (v_held.attempt).is_stop_pending
        );
        return (v_held.task).status;
    end if;

    v_agent := forebay._get_agent((v_held.attempt).agent);
    v_is_spent := (v_held.task).release_count >= v_agent.max_releases;
    update forebay.task_attempts as a
    set status = 'released', finished_at = greatest(v_now, a.started_at), expected_usd = 0,
        error = jsonb_build_object('kind', 'released', 'message', left(p_reason, 2000))
    where a.attempt_id = p_attempt_id;
    perform forebay._settle(p_attempt_id, true);
    return forebay._give_back(
        v_held.task, v_agent,
        jsonb_build_object('kind', 'infrastructure', 'message', format('handed back too often: %s', left(p_reason, 2000))),
        true, p_retry_in, not v_is_spent
    );
end;
$function$;

comment on function forebay.release is 'Hand a task back without spending the attempt: the launch was refused, or the worker shuts down.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/release.sql', 'repeatable', 'bd298d744d00c8f11279f86e3338e905f5d27f686dc090c2a1cdbd1402fca4b3', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/renew_leases.sql
create or replace function forebay.renew_leases(p_worker text, p_attempt_ids bigint[])
    returns setof forebay.renewed_lease
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Extend the leases that p_worker still holds, and say what became of the others.
--
-- renewed: go on. cancel_requested: stop, then report or release. lost: the lease ran out, the deadline passed, or it was
-- never p_worker's; stop, though a success reported late still counts. finished: nothing is left to do.
--
-- Returns    one row a distinct id, in no set order
-- Writes     forebay.task_attempts.lease_expires_at, up to the deadline
-- Locks      the attempts, by id
-- Errors     22023  p_worker is no name, or p_attempt_ids is null
-- Called by  forebay_worker
declare
    v_worker text := p_worker;
    v_ids    bigint[] := forebay._require_ids(p_attempt_ids, 'p_attempt_ids');
    v_now    timestamptz;
begin
    perform forebay._require_worker(p_worker);
    perform 1 from forebay.task_attempts as a where a.attempt_id = any(v_ids) order by a.attempt_id for no key update;
    v_now := forebay._now();

    update forebay.task_attempts as a
    set lease_expires_at = least(v_now + g.lease, a.deadline_at)
    from forebay.agents as g
    where a.attempt_id = any(v_ids) and g.agent = a.agent
        and a.worker = v_worker and a.finished_at is null and a.lease_expires_at > v_now and a.deadline_at > v_now;

    return query
    select
        ids.attempt_id,
        case
            when a.attempt_id is null or a.worker <> v_worker then 'lost'
            when a.finished_at is null then case when a.lease_expires_at > v_now then 'renewed' else 'lost' end
            when a.status in ('cancelled', 'superseded') and a.is_stop_pending then 'cancel_requested'
            when a.status = 'lost' or a.status = 'failed' and a.reported_at is null then 'lost'
            else 'finished'
        end,
        a.lease_expires_at
    from unnest(v_ids) as ids (attempt_id)
    left join forebay.task_attempts as a on a.attempt_id = ids.attempt_id;
end;
$function$;

comment on function forebay.renew_leases is 'Extend the leases that p_worker still holds, and say what became of the others.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/renew_leases.sql', 'repeatable', 'c0886187a0d032b3d2ba28d10b703ead09d84ef2c89c631ba7efdc36c8fb7bcc', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/runs_to_cancel.sql
create or replace function forebay.runs_to_cancel(p_worker text, p_limit integer default 100)
    returns setof forebay.run_to_cancel
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List runs outside the driver whose attempt was ended from outside, and that were not seen to end yet.
--
-- A run is handed out at most once in ten seconds, to whoever asks first, until observe_run or a report shows its end.
-- In a copy that nobody has opened it names none: they are the original's.
--
-- Returns    one row a run
-- Writes     forebay.task_attempts.stop_asked_at
-- Locks      the attempts, skipping what somebody else holds
-- Errors     22023  p_worker or p_limit is wrong
-- Called by  forebay_worker
declare
    v_now timestamptz := forebay._now();
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if not forebay._may_dispatch() then
        return;
    end if;
    return query
    with due as (
        select a.attempt_id
        from forebay.task_attempts as a
        where a.is_stop_pending and forebay._is_external(a.launcher) and a.run_id is not null
            and (a.stop_asked_at is null or a.stop_asked_at <= v_now - interval '10 seconds')
        order by a.attempt_id
        limit p_limit
        for no key update skip locked
    )
    update forebay.task_attempts as a
    set stop_asked_at = v_now
    from due, forebay.agents as g
    where a.attempt_id = due.attempt_id and g.agent = a.agent
    returning a.attempt_id, a.task_id, a.agent, a.launcher, g.job_id, a.run_id, a.launch_token;
end;
$function$;

comment on function forebay.runs_to_cancel is 'List runs outside the driver whose attempt was ended from outside, and that were not seen to end yet.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/runs_to_cancel.sql', 'repeatable', 'e301d7c1759db2fd1e224f9db834d47d00758f8aa355d37e2e2341f8421b9a61', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/worker/sweep.sql
create or replace function forebay.sweep(p_limit integer default 1000, p_worker text default null)
    returns forebay.sweep_result
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Put the tasks of expired leases and passed deadlines back in line, or fail them; wake what is due.
--
-- It also adds up what waits for quotas, spending and rollups, and removes calls and refusals that count no more.
-- Safe from any number of callers at once. p_worker is only noted for health().
--
-- Returns    how many tasks went back in line, failed, and became due
-- Writes     forebay.tasks, forebay.task_attempts, forebay.dispatchers, and the ledgers of quotas, refusals, spending and
--            rollups
-- Locks      the tasks, by id, then their attempts, then quotas, skipping what somebody else holds
-- Errors     22023  p_limit is not from 1 to 100,000
-- Called by  forebay_worker, forebay_upkeep
declare
    v_swept forebay.sweep_result;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 100000);
    if p_worker is not null then
        perform forebay._require_worker(p_worker);
        perform forebay._seen(p_worker, 'sweep');
    end if;

    v_swept := forebay._end_expired(null, p_limit);
    select coalesce(sum(forebay._wake_due(a.agent, forebay._now(), p_limit)), 0)::integer into v_swept.woken
    from forebay.agents as a;

    delete from forebay.dispatchers as d
    where d.worker in (
        select old.worker from forebay.dispatchers as old
        where greatest(old.last_claim_at, old.last_sweep_at) < forebay._now() - interval '1 day'
        for update skip locked
    );
    delete from forebay.launcher_faults as f
    where (f.worker, f.launcher) in (
        select old.worker, old.launcher from forebay.launcher_faults as old
        where old.seen_at < forebay._now() - interval '1 day'
        for update skip locked
    );
    perform forebay._forget_calls(forebay._now());
    perform forebay._forget_refusals(forebay._now());
    perform forebay._fold_spend();
    perform forebay._fold_changes(5000);
    return v_swept;
end;
$function$;

comment on function forebay.sweep is 'Put the tasks of expired leases and passed deadlines back in line, or fail them; wake what is due.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/worker/sweep.sql', 'repeatable', '9d34618aa4653a094517fabbbeb4979c57e431bb551d5488a0be721eb457fc02', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/begin_attempt.sql
create or replace function forebay.begin_attempt(p_attempt_id bigint, p_launch_token text, p_run_id text default null)
    returns forebay.claimed_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Fetch the work of an attempt, as the run that was launched for it: dequeue's row, for who knows the launch token.
--
-- p_run_id is the run's own id: it is recorded if the daemon did not come to it, and another run is refused. The same run
-- may ask again.
--
-- Returns    one row
-- Writes     forebay.task_attempts.run_id, status
-- Locks      the attempt
-- Errors     22023  p_attempt_id or p_launch_token is null, or p_run_id is empty or too long
--            QF202  another run is recorded for the attempt
--            QF205  the attempt has ended: there is nothing to do
--            QF304  there is no such attempt, or it has another launch token
--            QF401  this database is a copy
-- Called by  forebay_agent
declare
    v_attempt forebay.task_attempts;
    v_begun   forebay.claimed_attempt;
begin
    if p_launch_token is null then
        raise exception 'p_launch_token must not be null' using errcode = '22023';
    end if;
    perform forebay._require_open();
    perform forebay._get_attempt(p_attempt_id);
    select a.* into v_attempt
    from forebay.task_attempts as a
    where a.attempt_id = p_attempt_id and a.launch_token = p_launch_token
    for no key update;
    if not found then
        raise exception 'attempt % has another launch token', p_attempt_id using errcode = 'QF304';
    end if;
    if v_attempt.finished_at is not null or v_attempt.deadline_at <= forebay._now() then
        raise exception 'attempt % has ended: it is %', p_attempt_id,
            case when v_attempt.finished_at is null then 'past its deadline' else v_attempt.status end
            using errcode = 'QF205', hint = 'End the run: nobody waits for it.';
    end if;
    if p_run_id is not null then
        perform forebay.record_run(p_attempt_id, p_run_id);
    end if;

    select
        t.task_id, v_attempt.attempt_id, v_attempt.attempt_no, v_attempt.agent, v_attempt.launcher, g.job_id, g.entry_point,
        t.payload, t.priority::integer, t.batch_id, t.customer, v_attempt.estimated_tokens, v_attempt.launch_token,
        v_attempt.lease_expires_at, v_attempt.deadline_at
    into v_begun
    from forebay.tasks as t
    inner join forebay.agents as g on g.agent = v_attempt.agent
    where t.task_id = v_attempt.task_id;
    return v_begun;
end;
$function$;

comment on function forebay.begin_attempt is 'Fetch the work of an attempt, as the run that was launched for it: dequeue''s row, for who knows the launch token.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/begin_attempt.sql', 'repeatable', '18dd6cc62f05b54820dc93ae01ce039802681e9132d6abdad05372ed3ecc9903', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/callback.sql
create or replace function forebay.callback(p_event jsonb)
    returns jsonb
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Take in a webhook event: the same effect as complete, fail or report_usage, any number of times, in any order.
--
-- p_event is {"type": "task.completed" | "task.failed" | "task.usage", "timestamp": ..., "data": {"task_id", "attempt_id",
-- "result", "confidence", "error", "retryable", "retry_after_seconds", "usage"}}. Usage is recorded first, whatever the type.
--
-- Returns    {"task_id", "status", "effect"}: effect is completed, retrying, failed, kept, recorded or none
-- Writes     forebay.tasks, forebay.task_attempts, forebay.attempt_usage, forebay.agent_settlements, forebay.refusals
-- Locks      the task, then its attempts, by id
-- Errors     22023  a key is missing or of a wrong type
--            QF304  there is no such attempt, or it is not the task's
--            QF401  this database is a copy
--            QF402  the result or the error is too large
-- Called by  forebay_agent
declare
    v_type       text;
    v_data       jsonb;
    v_task_id    bigint;
    v_attempt_id bigint;
    v_report     forebay.reported_attempt;
    v_recorded   integer := 0;
begin
    if coalesce(jsonb_typeof(p_event), 'null') <> 'object' or coalesce(jsonb_typeof(p_event -> 'data'), 'null') <> 'object' then
        raise exception 'p_event must be a JSON object with an object under "data"' using errcode = '22023';
    end if;
    v_type := coalesce(forebay._json_text(p_event, 'type'), '');
    if v_type not in ('task.completed', 'task.failed', 'task.usage') then
        raise exception '"type" must be task.completed, task.failed or task.usage, not "%"', left(v_type, 60)
            using errcode = '22023';
    end if;
    if coalesce(jsonb_typeof(p_event -> 'timestamp'), 'null') not in ('null', 'string', 'number') then
        raise exception '"timestamp" must be a time, not %', jsonb_typeof(p_event -> 'timestamp') using errcode = '22023';
    end if;
    v_data := p_event -> 'data';
    v_task_id := forebay._json_integer(v_data, 'task_id');
    v_attempt_id := forebay._json_integer(v_data, 'attempt_id');
    if v_task_id is null or v_attempt_id is null then
        raise exception '"task_id" and "attempt_id" are required' using errcode = '22023';
    end if;
    perform forebay._require_open();
    perform 1 from forebay.task_attempts as a where a.attempt_id = v_attempt_id and a.task_id = v_task_id;
    if not found then
        raise exception 'task % has no attempt %', v_task_id, v_attempt_id using errcode = 'QF304';
    end if;

    perform forebay._lock_attempt(v_attempt_id);
    if coalesce(jsonb_typeof(v_data -> 'usage'), 'null') <> 'null' then
        v_recorded := forebay.report_usage(v_attempt_id, v_data -> 'usage');
    elsif v_type = 'task.usage' then
        raise exception '"usage" is required' using errcode = '22023';
    end if;
    v_report := forebay._report_event(v_type, v_attempt_id, v_data);
    return jsonb_build_object(
        'task_id', v_task_id,
        'status', coalesce(v_report.status, (select t.status from forebay.tasks as t where t.task_id = v_task_id)),
        'effect', coalesce(v_report.effect, case when v_recorded > 0 then 'recorded' else 'none' end)
    );
end;
$function$;

comment on function forebay.callback is 'Take in a webhook event: the same effect as complete, fail or report_usage, any number of times, in any order.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/callback.sql', 'repeatable', '3976b3b19df5538d0c61c0ce411a4405bae5ceee05766c6bb9f71132034b5f66', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/complete.sql
create or replace function forebay.complete(p_attempt_id bigint, p_result jsonb, p_confidence numeric default null)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Report that an attempt succeeded, with its result; any number of times, also after the lease was lost.
--
-- Unlike complete_many it raises on a bad result, and changes nothing then.
--
-- Returns    the task's status after it
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks      the task, then its attempts, by id
-- Errors     22023  p_attempt_id is null, p_confidence is not from 0 to 1, or the result has a number beyond 1.79e308
--            QF304  there is no such attempt
--            QF402  the result is too large
-- Called by  forebay_agent
begin
    perform forebay._get_attempt(p_attempt_id);
    perform forebay._require_document(p_result, 'the result', (forebay._limits()).max_result_bytes);
    if p_confidence not between 0 and 1 then
        raise exception 'p_confidence must be from 0 to 1, not %', p_confidence using errcode = '22023';
    end if;
    return (
        select c.status
        from forebay.complete_many(array[p_attempt_id], array[p_result], array[p_confidence]) as c
    );
end;
$function$;

comment on function forebay.complete is 'Report that an attempt succeeded, with its result; any number of times, also after the lease was lost.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/complete.sql', 'repeatable', '0ab8514fc796b59d6793bd842b00135abe0667d2e7dd4d7c52b12ae3bae32a02', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/complete_many.sql
create or replace function forebay.complete_many(
    p_attempt_ids bigint[],
    p_results     jsonb[],
    p_confidences numeric[] default null
)
    returns setof forebay.reported_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Report that attempts succeeded, each with its result; a bad one fails its own attempt for good and spoils no other.
--
-- Returns    one row a distinct id, by id; of an id given twice the first result counts; an unknown id has status null
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements
-- Locks      the tasks, by id, then their attempts, by id
-- Errors     22023  an array is null, or their lengths differ
-- Called by  forebay_agent
declare
    v_report record;
begin
    if p_attempt_ids is null or p_results is null
        or cardinality(p_attempt_ids) <> cardinality(p_results)
        or cardinality(p_attempt_ids) <> cardinality(p_confidences) then
        raise exception 'p_attempt_ids, p_results and p_confidences must have the same length' using errcode = '22023';
    end if;
    perform forebay._lock_tasks(
        array(select a.task_id from forebay.task_attempts as a where a.attempt_id = any(p_attempt_ids)), p_attempt_ids
    );

    for v_report in
        select distinct on (given.attempt_id)
            given.attempt_id, given.result, given.confidence,
            a.attempt_id is not null as is_known,
            forebay._result_fault(given.result, given.confidence) as fault
        from unnest(p_attempt_ids, p_results, p_confidences) with ordinality as given (attempt_id, result, confidence, ordinal)
        left join forebay.task_attempts as a on a.attempt_id = given.attempt_id
        where given.attempt_id is not null
        order by given.attempt_id, given.ordinal
    loop
        if not v_report.is_known then
            return next (v_report.attempt_id, null, 'none')::forebay.reported_attempt;
        else
            return next forebay._report(
                v_report.attempt_id, v_report.fault is null, v_report.result, v_report.confidence,
                jsonb_build_object('kind', 'bad_input', 'message', v_report.fault), false, null
            );
        end if;
    end loop;
end;
$function$;

comment on function forebay.complete_many is 'Report that attempts succeeded, each with its result; a bad one fails its own attempt for good and spoils no other.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/complete_many.sql', 'repeatable', '11ff8fa50e76346648f74a98638451988b3b1e2841831e93fa0afeece2159f79', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/fail.sql
create or replace function forebay.fail(
    p_attempt_id  bigint,
    p_error       jsonb,
    p_retryable   boolean default true,
    p_retry_after interval default null
)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Report that an attempt failed: the task goes back in line after p_retry_after (null: the agent's backoff), or fails.
--
-- p_error is an object with kind and message and anything else; an unknown kind counts as agent_bug. The table
-- error_policies says what follows from the kind: whether it is final whatever p_retryable says, whether an attempt is
-- spent, how long the task waits when p_retry_after is null, and whether the agent pauses so long. The pause is for all
-- who share the quota, if the error has one under "quota" that the agent draws on, or the agent draws on just one.
--
-- Returns    the task's status after it
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_settlements, forebay.refusals
-- Locks      the task, then its attempts, by id
-- Errors     22023  p_error is no object or has a number beyond 1.79e308, p_retryable is null, or p_retry_after is negative or above a year
--            QF304  there is no such attempt
--            QF402  p_error is too large
-- Called by  forebay_agent
begin
    if p_retryable is null then
        raise exception 'p_retryable must not be null' using errcode = '22023';
    end if;
    perform forebay._require_delay(p_retry_after, 'p_retry_after');
    perform forebay._require_document(p_error, 'the error', (forebay._limits()).max_result_bytes);
    return (forebay._report(p_attempt_id, false, null, null, forebay._error(p_error), p_retryable, p_retry_after)).status;
end;
$function$;

comment on function forebay.fail is 'Report that an attempt failed: the task goes back in line after p_retry_after (null: the agent''s backoff), or fails.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/fail.sql', 'repeatable', '9f06769671ddb610a8900c0b691664edcdd1f86dc585c8888f969e08acc5adbb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/may_call.sql
create or replace function forebay.may_call(
    p_attempt_id    bigint,
    p_tokens        bigint,
    p_output_tokens bigint default null,
    p_call_id       text default null
)
    returns forebay.call_permit
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Ask, before a model call of p_tokens in all, whether the agent's quotas have room for it: go, wait, or stop.
--
-- p_output_tokens: how many of them are output at most; null: the agent's learned share. A call that may go is charged to
-- every limit at once and counts from now, before the provider sees it; report_usage with the same call_id replaces the
-- charge by what was used, also when the call failed (zero tokens). A call that has to wait is charged nothing, and keeps
-- its place in line if it asks again within 5 s of its time. An attempt waits with one call at a time. While the provider
-- pauses the agent, every call waits. A call that is open under its p_call_id may go, and is charged once; after its report
-- the next try needs another id.
-- Call it in a transaction of its own: the quotas stay locked until commit.
--
-- Returns    decision go; wait, with the moment to ask again and what hinders it; or stop, when the attempt has ended
-- Writes     forebay.attempt_calls, forebay.quota_slots, forebay.quota_limits, forebay.quota_settlements, forebay.task_attempts
-- Locks      the attempt, then the agent's quotas by name
-- Errors     22023  p_attempt_id is null, p_tokens or p_output_tokens is out of range, or p_call_id is empty, too long, or was
--                   reported already
--            25001  the transaction is not READ COMMITTED
--            QF304  there is no such attempt
-- Called by  forebay_agent
declare
    v_agent   forebay.agents;
    v_attempt forebay.task_attempts;
    v_output  bigint;
    v_now     timestamptz;
    v_permit  forebay.call_permit;
    v_verdict forebay.call_verdict;
begin
    perform forebay._require_call(p_tokens, p_output_tokens, p_call_id);
    v_agent := forebay._get_agent((forebay._get_attempt(p_attempt_id)).agent);
    v_output := coalesce(p_output_tokens, forebay._output_share(v_agent.agent, p_tokens));
    perform 1 from forebay.task_attempts as a where a.attempt_id = p_attempt_id for no key update;
    perform forebay._lock_quotas(v_agent, true);
    v_attempt := forebay._get_attempt(p_attempt_id);
    v_now := forebay._now();

    if v_attempt.finished_at is not null then
        v_permit.decision := 'stop';
        v_permit.reason := 'the attempt has ended: ' || v_attempt.status;
        return v_permit;
    end if;
    perform forebay._require_unreported(p_attempt_id, p_call_id);
    if not forebay._still_asks(v_attempt.call_wait_until, v_now) then
        v_attempt.call_asked_at := null;
    end if;
    v_verdict := forebay._judge_call(v_attempt, v_agent, p_call_id, p_tokens - v_output, v_output, v_now);
    if (v_verdict.permit).decision = 'go' then
        perform forebay._grant_call(v_attempt, v_agent.quotas, p_call_id, p_tokens - v_output, v_output, v_now);
    else
        perform forebay._hold_call(v_attempt, v_verdict, p_tokens - v_output, v_output, v_now);
    end if;
    return v_verdict.permit;
end;
$function$;

comment on function forebay.may_call is 'Ask, before a model call of p_tokens in all, whether the agent''s quotas have room for it: go, wait, or stop.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/may_call.sql', 'repeatable', '3eb2ac8e40cb88eb3413a7920e574445c6e113ac20d6a6d0e6d9de33fd9e539e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/report_progress.sql
create or replace function forebay.report_progress(p_attempt_id bigint, p_done integer, p_total integer)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Note how far an open attempt has come: p_done of p_total (null: not known). Shown, never notified, no lease renewal.
--
-- Writes     forebay.task_attempts.progress_done, progress_total
-- Errors     22023  a number is null, negative, or p_done is above p_total
--            QF304  there is no such attempt
-- Called by  forebay_agent
begin
    if p_done is null or p_done < 0 or p_total < p_done then
        raise exception 'progress must be 0 or more of a total that is not below it, not % of %', p_done, p_total
            using errcode = '22023';
    end if;
    update forebay.task_attempts as a
    set progress_done = p_done, progress_total = p_total
    where a.attempt_id = p_attempt_id and a.finished_at is null;
    if not found then
        perform forebay._get_attempt(p_attempt_id);
    end if;
end;
$function$;

comment on function forebay.report_progress is 'Note how far an open attempt has come: p_done of p_total (null: not known). Shown, never notified, no lease renewal.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/report_progress.sql', 'repeatable', '6b091bc6f7b2068b9c76076b1236572391f20522bdccb5dc7c0e65018cc2997b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/agent/report_usage.sql
create or replace function forebay.report_usage(p_attempt_id bigint, p_usage jsonb)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Record what an attempt's model calls used, at any time, once per source and call id.
--
-- p_usage is an object or an array of them: call_id (required), source (agent or trace), model, input_tokens,
-- output_tokens, cached_tokens (part of the input), pages, cost_usd, list_usd (counts where no price is registered),
-- started_at, latency_ms, trace_id. A missing number is unknown, not zero. The same call again: the first numbers win,
-- unknown ones are filled. A call that may_call let go is closed, and its charge replaced by what it used.
--
-- Returns    how many calls were new or filled
-- Writes     forebay.attempt_usage, forebay.task_attempts, forebay.tasks, forebay.attempt_calls, forebay.quota_settlements,
--            forebay.agent_settlements, forebay.spend_entries
-- Locks      the task, then its attempts, by id
-- Errors     22023  p_attempt_id is null, p_usage is neither, or a key is missing, of a wrong type, or negative; nothing is recorded then
--            QF304  there is no such attempt
-- Called by  forebay_agent
declare
    v_attempt forebay.task_attempts;
    v_usage   jsonb;
    v_changed integer := 0;
begin
    if coalesce(jsonb_typeof(p_usage), 'null') not in ('object', 'array') then
        raise exception 'p_usage must be a JSON object, or an array of them' using errcode = '22023';
    end if;
    v_attempt := (forebay._lock_attempt(p_attempt_id)).attempt;

    for v_usage in
        select elements.value
        from jsonb_array_elements(case jsonb_typeof(p_usage) when 'array' then p_usage else jsonb_build_array(p_usage) end)
            as elements
    loop
        v_changed := v_changed + forebay._take_usage(v_attempt, forebay._parse_usage(v_usage))::integer;
    end loop;
    if v_changed = 0 then
        return 0;
    end if;
    -- Written even when nothing changes in it: a report in an older snapshot, which cannot see the usage, then gets 40001.
    update forebay.task_attempts as a
    set trace_id = coalesce(a.trace_id, (
        select min(u.trace_id) from forebay.attempt_usage as u where u.attempt_id = p_attempt_id
    ))
    where a.attempt_id = p_attempt_id;
    perform forebay._spend(p_attempt_id);
    perform forebay._measure(p_attempt_id);
    perform forebay._settle(p_attempt_id);
    return v_changed;
end;
$function$;

comment on function forebay.report_usage is 'Record what an attempt''s model calls used, at any time, once per source and call id.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/agent/report_usage.sql', 'repeatable', 'b17631a8546377b47889e99cf7ac4111b4bce8edea7c6a745146efb596d2487c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/act_on_matching.sql
create or replace function forebay.act_on_matching(
    p_act            text,
    p_expected       bigint,
    p_from           timestamptz default null,
    p_to             timestamptz default null,
    p_statuses       text[] default null,
    p_agents         text[] default null,
    p_customers      text[] default null,
    p_batch_id       bigint default null,
    p_search         text default null,
    p_max_confidence numeric default null,
    p_priority       integer default null,
    p_note           text default null,
    p_reason         text default null,
    p_actor          text default null
)
    returns setof forebay.effect_count
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- Do one act (cancel, retry, reprocess, reprioritize or annotate) to all tasks that the filters let through, if they are p_expected many.
--
-- The filters are those of list_tasks, and count_matching says how many they let through. They are asked again of the tasks
-- once these are locked: a task that was claimed or that ended meanwhile makes another count. All of it happens, or nothing.
--
-- Returns    one row an effect, by its word
-- Writes     what the act writes
-- Locks      for retry and reprocess the lines of the tasks' agents; the tasks, by id, then their attempts, by id
-- Errors     22023  p_act is no act, p_expected is null or negative, or what the act or a filter takes is wrong
--            QF204  another number of tasks matches
--            QF301, QF302  no such agent or batch
--            QF404  more tasks match than forebay.installation allows at once
-- Called by  forebay_operator
declare
    v_filter forebay.task_filter := forebay._task_filter(
        p_from, p_to, p_statuses, p_agents, p_customers, p_batch_id, p_search, p_max_confidence
    );
    v_most   integer := (select i.max_batch_size from forebay.installation as i);
    v_ids    bigint[];
begin
    perform forebay._require_between(p_expected, 'p_expected', 0, 9223372036854775807);
    v_ids := array(select t.task_id from forebay.tasks as t where forebay._passes(t, v_filter) limit v_most + 1);
    if cardinality(v_ids) > v_most then
        raise exception 'more than % tasks match, which is too many for one act', v_most
            using errcode = 'QF404', hint = 'Narrow the filter.';
    end if;
    perform forebay._require_count(cardinality(v_ids), p_expected);

    if p_act in ('retry', 'reprocess') then
        perform forebay._join_line(array(select t.agent from forebay.tasks as t where t.task_id = any(v_ids)));
    end if;
    perform forebay._lock_tasks(v_ids);
    perform forebay._require_count(
        (select count(*) from forebay.tasks as t where t.task_id = any(v_ids) and forebay._passes(t, v_filter)), p_expected
    );
    return query select * from forebay._act(p_act, v_ids, p_priority, p_note, p_reason, p_actor);
end;
$function$;

comment on function forebay.act_on_matching is
'Do one act (cancel, retry, reprocess, reprioritize or annotate) to all tasks that the filters let through, if they are p_expected many.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/act_on_matching.sql', 'repeatable', 'eed315d8bf2761e7c29fe62822d4d50e36f34a6d9e27f8611a5a20d61eb249da', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/annotate.sql
create or replace function forebay.annotate(
    p_task_ids bigint[],
    p_note     text,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Write a note on tasks, whatever they are doing; task_detail shows it among what people did.
--
-- Returns    one row a distinct id, by id; effect is annotated or unknown
-- Writes     forebay.audit_log
-- Errors     22023  p_task_ids is null, or p_note has not 1 to 2,000 characters beside blanks
-- Called by  forebay_operator
declare
    v_ids   bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_note  text := btrim(p_note);
    v_known bigint[];
begin
    if v_note is null or char_length(v_note) not between 1 and 2000 then
        raise exception 'p_note must have 1 to 2,000 characters' using errcode = '22023';
    end if;
    v_known := array(select t.task_id from forebay.tasks as t where t.task_id = any(v_ids) order by t.task_id);
    perform forebay._audit('annotate', v_known, null, p_reason, p_actor, jsonb_build_object('note', v_note));
    if v_known <> '{}' then
        perform forebay._ask_wakeup(false);
    end if;
    return query select * from forebay._effects(v_ids, v_known, 'annotated');
end;
$function$;

comment on function forebay.annotate is 'Write a note on tasks, whatever they are doing; task_detail shows it among what people did.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/annotate.sql', 'repeatable', 'f98f907e2d202c3005a97184d5633cd31b565fd978045c87bdfeb97f72a8ed7d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/cancel.sql
create or replace function forebay.cancel(p_task_ids bigint[], p_reason text default null, p_actor text default null)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Cancel tasks that wait or run; their workers are told at the next renewal, their runs are cancelled.
--
-- Returns    one row a distinct id, by id; effect is cancelled, none (it had ended) or unknown
-- Writes     forebay.tasks, forebay.task_attempts, forebay.audit_log
-- Locks      the tasks, by id, then their attempts, by id
-- Errors     22023  p_task_ids is null
-- Called by  forebay_operator
begin
    return query
    select * from forebay._cancel(p_task_ids, p_reason, p_actor);
end;
$function$;

comment on function forebay.cancel is 'Cancel tasks that wait or run; their workers are told at the next renewal, their runs are cancelled.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/cancel.sql', 'repeatable', 'b19ea52fc8de6ef90dceeffed54f89665cadb96b18894ae9d5196b679f27b373', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/lift_spend_cap.sql
create or replace function forebay.lift_spend_cap(
    p_agent     text default null,
    p_customer  text default null,
    p_extra_usd numeric default null,
    p_reason    text default null,
    p_actor     text default null
)
    returns numeric
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Let an agent or a customer spend so much more than its cap, today (UTC) alone; null means without end.
--
-- Lifts of one day add up; an amount after a lift without end replaces it, so that 0 takes it back.
--
-- Returns    the cap of today with all lifts, Infinity when it has no end
-- Writes     forebay.spend_lifts, forebay.audit_log
-- Errors     22023  neither or both of p_agent and p_customer are given, it has no cap, or p_extra_usd is out of its range
--            QF301  no such agent
-- Called by  forebay_operator
declare
    v_now      timestamptz := forebay._now();
    v_agent    text := coalesce(p_agent, '');
    v_customer text := coalesce(p_customer, '');
    v_cap      numeric;
begin
    if num_nulls(p_agent, p_customer) <> 1 then
        raise exception 'p_agent or p_customer must be given, not both' using errcode = '22023';
    end if;
    if p_extra_usd not between 0 and 1000000000 then
        raise exception 'p_extra_usd must be from 0 to 10^9 US dollars; null means without end' using errcode = '22023';
    end if;
    if p_agent is not null then
        v_cap := (forebay._get_agent(p_agent)).max_usd_per_day;
    else
        select c.max_usd_per_day into v_cap from forebay.customers as c where c.customer = v_customer;
    end if;
    if v_cap is null then
        raise exception '"%" has no cap to lift', left(coalesce(p_agent, p_customer), 200) using errcode = '22023';
    end if;

    insert into forebay.spend_lifts as l (day, agent, customer, extra_usd, lifted_at)
    values (forebay._utc_day(v_now), v_agent, v_customer, coalesce(p_extra_usd, 'Infinity'), v_now)
    on conflict (day, agent, customer) do update set
        extra_usd = case when l.extra_usd = 'Infinity' then 0 else l.extra_usd end + excluded.extra_usd, lifted_at = excluded.lifted_at;
    perform forebay._audit(
        'lift_spend_cap', null, p_agent, p_reason, p_actor,
        jsonb_build_object('customer', p_customer, 'extra_usd', p_extra_usd)
    );
    return forebay._cap_today(v_agent, v_customer, v_cap, v_now);
end;
$function$;

comment on function forebay.lift_spend_cap is 'Let an agent or a customer spend so much more than its cap, today (UTC) alone; null means without end.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/lift_spend_cap.sql', 'repeatable', '451f8c159489d1df59c58e7f2f9efef2008ebc7cd55e8341496d81a302be9fa8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/open_installation.sql
create or replace function forebay.open_installation(p_reason text default null, p_actor text default null)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Let a branch or a restored copy dispatch in this place. It stays marked as a branch; its tasks run here as well as where they came from.
--
-- Writes     forebay.installation, forebay.audit_log
-- Errors     QF406  the branch is not finished: not everything in it is masked
-- Called by  forebay_operator
declare
    v_installation forebay.installation;
begin
    select i.* into v_installation from forebay.installation as i for no key update;
    if v_installation.branch_name is not null and v_installation.masked_at is null then
        raise exception 'the branch "%" is not finished: not everything in it is masked', v_installation.branch_name
            using errcode = 'QF406', hint = 'Delete it and create it anew, or call forebay.mask_data() until it is complete.';
    end if;
    update forebay.installation as i set opened_in = forebay._cluster(), opened_home = forebay._here()
    where forebay._is_copy(i);
    perform forebay._audit('open_installation', null, null, p_reason, p_actor);
end;
$function$;

comment on function forebay.open_installation is 'Let a branch or a restored copy dispatch in this place. It stays marked as a branch; its tasks run here as well as where they came from.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/open_installation.sql', 'repeatable', 'db05bd0ed12e1a00c5ad88863af3b22fd72a465fa7559b97d7cb488524d4cb2f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/pause_agent.sql
create or replace function forebay.pause_agent(
    p_agent  text,
    p_until  timestamptz default null,
    p_reason text default null,
    p_actor  text default null
)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Let an agent start nothing until p_until (null: until it is resumed); what runs goes on. p_agent null means every agent.
--
-- With p_agent null, agents that are paused as long or longer already stay as they are, time and reason: they are not counted.
--
-- Returns    how many agents were paused
-- Writes     forebay.agents, forebay.audit_log
-- Locks      the agents, by name: it waits for admissions that are under way
-- Errors     22023  p_until is not in the future
--            QF301  no such agent
-- Called by  forebay_operator
begin
    if p_agent is not null then
        perform forebay._get_agent(p_agent);
    end if;
    if p_until <= forebay._now() then
        raise exception 'p_until must be in the future, not %', p_until
            using errcode = '22023', hint = 'forebay.resume_agent ends a pause.';
    end if;
    return forebay._pause(p_agent, coalesce(p_until, 'infinity'), p_reason, p_actor);
end;
$function$;

comment on function forebay.pause_agent is 'Let an agent start nothing until p_until (null: until it is resumed); what runs goes on. p_agent null means every agent.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/pause_agent.sql', 'repeatable', '4ef9ad12b955f19587e0cd1109da411742ba981674e8c0ec36910cb2ca9763d8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/register_agent.sql
create or replace function forebay.register_agent(
    p_agent                    text,
    p_launcher                 text default 'pull',
    p_job_id                   bigint default null,
    p_entry_point              text default null,
    p_max_concurrent_tasks     integer default null,
    p_max_tpm                  bigint default null,
    p_max_rpm                  integer default null,
    p_tpm_burst                numeric default 0.8,
    p_lease                    interval default '60 seconds',
    p_timeout                  interval default '1 hour',
    p_max_attempts             integer default 3,
    p_max_releases             integer default 20,
    p_backoff_base             interval default '5 seconds',
    p_backoff_max              interval default '1 hour',
    p_on_lost_lease            text default 'retry',
    p_late_results             text default 'accept',
    p_default_estimated_tokens bigint default 2000,
    p_retention                interval default '90 days',
    p_max_waiting              integer default null,
    p_aging                    interval default null,
    p_reserve_after            interval default '60 seconds',
    p_fair_by_customer         boolean default false,
    p_max_usd_per_day          numeric default null,
    p_max_deferrals            integer default 100,
    p_max_deferral_time        interval default '1 day',
    p_quotas                   text[] default '{}',
    p_reason                   text default null,
    p_actor                    text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Define an agent, or define it anew: a parameter that is left out takes its default. A pause stays.
--
-- A limit that is null does not limit; 0 admits nothing. A bucket keeps its level, cut to the new burst; a new one is full.
-- Limits below what is in flight end nothing: the next task starts once there is room again.
--
-- Writes     forebay.agents, forebay.agent_budgets, forebay.agent_settlements, forebay.tasks.is_shared, forebay.audit_log
-- Locks      the agent's lock and budget row: it waits for admissions that are under way; with max_waiting or fair share
--            first the agent's line: it waits for transactions that enqueue; its tasks, by id, when fair share begins
-- Errors     22023  an argument is out of its range
--            25001  p_max_waiting or p_fair_by_customer is given, and the transaction is not READ COMMITTED
--            QF305  there is no such quota
-- Called by  forebay_operator
declare
    v_old    forebay.agents;
    v_new    forebay.agents := (
        p_agent, p_launcher, p_job_id, p_entry_point, p_max_concurrent_tasks, p_max_tpm, p_max_rpm, p_tpm_burst,
        forebay._exact(p_lease), forebay._exact(p_timeout), p_max_attempts, p_max_releases, forebay._exact(p_backoff_base),
        forebay._exact(p_backoff_max), p_on_lost_lease, p_late_results, p_default_estimated_tokens, p_retention,
        null, null, null, null, p_max_waiting, forebay._exact(p_aging), forebay._exact(p_reserve_after), p_fair_by_customer,
        p_max_usd_per_day, p_max_deferrals, forebay._exact(p_max_deferral_time), forebay._names(p_quotas, 'p_quotas')
    )::forebay.agents;
    v_now    timestamptz;
begin
    perform forebay._require_agent_definition(v_new);
    perform forebay._require_quotas(v_new.quotas);
    if p_fair_by_customer or p_max_waiting is not null then
        perform forebay._require_read_committed('defining a line that is shared or bounded');
        perform pg_advisory_xact_lock(forebay._line_key(v_new.agent));
    end if;
    perform forebay._lock_definition(v_new.agent);
    v_now := forebay._now();
    select a.* into v_old from forebay.agents as a where a.agent = v_new.agent;
    v_new.paused_until := v_old.paused_until;
    v_new.pause_reason := v_old.pause_reason;
    v_new.created_at := coalesce(v_old.created_at, v_now);
    v_new.updated_at := v_now;

    insert into forebay.agents values (v_new.*)
    on conflict (agent) do update set
        launcher = excluded.launcher, job_id = excluded.job_id, entry_point = excluded.entry_point,
        max_concurrent_tasks = excluded.max_concurrent_tasks, max_tpm = excluded.max_tpm, max_rpm = excluded.max_rpm,
        tpm_burst = excluded.tpm_burst, lease = excluded.lease, timeout = excluded.timeout,
        max_attempts = excluded.max_attempts, max_releases = excluded.max_releases,
        backoff_base = excluded.backoff_base, backoff_max = excluded.backoff_max,
        on_lost_lease = excluded.on_lost_lease, late_results = excluded.late_results,
        default_estimated_tokens = excluded.default_estimated_tokens, retention = excluded.retention,
        updated_at = excluded.updated_at,
        max_waiting = excluded.max_waiting, aging = excluded.aging, reserve_after = excluded.reserve_after,
        is_fair_by_customer = excluded.is_fair_by_customer, max_usd_per_day = excluded.max_usd_per_day,
        max_deferrals = excluded.max_deferrals, max_deferral_time = excluded.max_deferral_time, quotas = excluded.quotas;

    perform forebay._set_budget(v_old, v_new, v_now);
    perform forebay._set_shared(v_new);
    perform forebay._audit('register_agent', null, p_agent, p_reason, p_actor, to_jsonb(v_new));
end;
$function$;

comment on function forebay.register_agent is 'Define an agent, or define it anew: a parameter that is left out takes its default. A pause stays.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/register_agent.sql', 'repeatable', 'f054bb5b1db44a021fd9e73da95f49b253e0f1601447c56c0b023de6622e6640', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/register_customer.sql
create or replace function forebay.register_customer(
    p_customer        text,
    p_priority_boost  integer default 0,
    p_max_usd_per_day numeric default null,
    p_reason          text default null,
    p_actor           text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Give a customer terms of its own, or others: what its new tasks gain in priority, and its cap a day (UTC).
--
-- A cap that is null does not limit; 0 lets nothing start. Tasks that wait keep their priority.
--
-- Writes     forebay.customers, forebay.audit_log
-- Locks      the customer: it waits for admissions that are under way
-- Errors     22023  an argument is out of its range
-- Called by  forebay_operator
declare
    v_now      timestamptz := forebay._now();
    v_customer forebay.customers := (p_customer, p_priority_boost, p_max_usd_per_day, v_now, v_now)::forebay.customers;
begin
    if p_customer is null or char_length(p_customer) not between 1 and 200 then
        raise exception 'p_customer must have 1 to 200 characters' using errcode = '22023';
    end if;
    perform forebay._require_between(p_priority_boost, 'p_priority_boost', -10000, 10000);
    if p_max_usd_per_day not between 0 and 1000000000 then
        raise exception 'p_max_usd_per_day must be from 0 to 10^9 US dollars; null means no cap' using errcode = '22023';
    end if;

    insert into forebay.customers values (v_customer.*)
    on conflict (customer) do update set
        priority_boost = excluded.priority_boost, max_usd_per_day = excluded.max_usd_per_day, updated_at = excluded.updated_at;
    perform forebay._audit('register_customer', null, null, p_reason, p_actor, to_jsonb(v_customer));
end;
$function$;

comment on function forebay.register_customer is 'Give a customer terms of its own, or others: what its new tasks gain in priority, and its cap a day (UTC).';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/register_customer.sql', 'repeatable', '5d56cc0a8648496b06fbd5cae91fb936d2fd0644a3d1d34b4a23bffcb7f84d28', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/register_price.sql
create or replace function forebay.register_price(
    p_model            text,
    p_valid_from       timestamptz default null,
    p_valid_until      timestamptz default null,
    p_usd_per_m_input  numeric default null,
    p_usd_per_m_output numeric default null,
    p_usd_per_m_cached numeric default null,
    p_usd_per_page     numeric default null,
    p_usd_per_call     numeric default null,
    p_reason           text default null,
    p_actor            text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say what a model costs from p_valid_from (null: now) to p_valid_until (null: without end), in US dollars.
--
-- Tokens are priced by the million. What is null is not paid for, but p_usd_per_m_cached: cached tokens then cost what input
-- costs. Where ranges overlap, the later p_valid_from holds; the same one again replaces the price. A call is priced when it
-- is reported, or filled: those of before keep what they have.
--
-- Writes     forebay.prices, forebay.audit_log
-- Errors     22023  p_model is no name, a price is out of its range, all are null, or the range of time is none
-- Called by  forebay_operator
declare
    v_now   timestamptz := forebay._now();
    v_price forebay.prices := (
        p_model, coalesce(p_valid_from, v_now), coalesce(p_valid_until, 'infinity'), p_usd_per_m_input, p_usd_per_m_output,
        p_usd_per_m_cached, p_usd_per_page, p_usd_per_call, v_now
    )::forebay.prices;
    v_usd   numeric[] := array[
        p_usd_per_m_input, p_usd_per_m_output, p_usd_per_m_cached, p_usd_per_page, p_usd_per_call
    ];
begin
    if p_model is null or char_length(p_model) not between 1 and 500 then
        raise exception 'p_model must have 1 to 500 characters' using errcode = '22023';
    end if;
    if not isfinite(v_price.valid_from) or v_price.valid_from >= v_price.valid_until then
        raise exception 'p_valid_until must be after p_valid_from, which must be a time' using errcode = '22023';
    end if;
    if not 0 <= all(array_remove(v_usd, null)) or not 1000000000 >= all(array_remove(v_usd, null)) then
        raise exception 'a price must be from 0 to 10^9 US dollars' using errcode = '22023';
    end if;
    if array_remove(v_usd, null) = '{}' then
        raise exception 'one of the prices must be given' using errcode = '22023', hint = 'What costs nothing has a price of 0.';
    end if;

    insert into forebay.prices values (v_price.*)
    on conflict (model, valid_from) do update set
        valid_until = excluded.valid_until, usd_per_m_input = excluded.usd_per_m_input,
        usd_per_m_output = excluded.usd_per_m_output, usd_per_m_cached = excluded.usd_per_m_cached,
        usd_per_page = excluded.usd_per_page, usd_per_call = excluded.usd_per_call, registered_at = excluded.registered_at;
    perform forebay._audit('register_price', null, null, p_reason, p_actor, to_jsonb(v_price));
end;
$function$;

comment on function forebay.register_price is 'Say what a model costs from p_valid_from (null: now) to p_valid_until (null: without end), in US dollars.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/register_price.sql', 'repeatable', '58489196b26dc6aaddbdf1e33e279b9fe5b5a0406e1cc1948df43cbf5a842452', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/register_quota.sql
create or replace function forebay.register_quota(
    p_quota    text,
    p_limits   jsonb,
    p_headroom numeric default 0.01,
    p_reason   text default null,
    p_actor    text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Define a provider's quota, or define it anew, with all its limits; agents draw on it by its name.
--
-- p_limits is an array of objects: unit (requests, tokens, input_tokens, output_tokens or concurrent_calls), amount (a
-- whole number; 0 lets nothing through), per (second, minute, hour, day, or an interval from 1 second to 1 day; not for
-- concurrent_calls), kind (window, the default: strictly so much within any period; or bucket: refills continuously) and
-- burst (what a full bucket holds, as a factor of the amount; default 0.8). An empty array limits nothing. Keys that are
-- not known are ignored. p_headroom is the share of each window that is left unused. A limit that stays, by unit, period
-- and kind, keeps its ledger, a level cut to the new burst; a new one starts unused. Calls that were granted go on.
--
-- Writes     forebay.quotas, forebay.quota_limits, forebay.quota_slots, forebay.audit_log
-- Locks      the quota: it waits for calls and claims under way
-- Errors     22023  an argument is out of its range, a key is missing or of a wrong type, or two limits have the same unit and period
-- Called by  forebay_operator
declare
    v_limits forebay.quota_limits[];
    v_now    timestamptz;
begin
    if p_quota is null or char_length(p_quota) not between 1 and 200 then
        raise exception 'p_quota must have 1 to 200 characters' using errcode = '22023';
    end if;
    if p_headroom is null or not (p_headroom >= 0 and p_headroom < 1) then
        raise exception 'p_headroom must be at least 0 and below 1' using errcode = '22023';
    end if;
    v_limits := forebay._parse_limits(p_quota, p_limits);

    perform 1 from forebay.quotas as q where q.quota = p_quota for no key update;
    v_now := forebay._now();
    perform forebay._fold_quota(p_quota, v_now);
    update forebay.quota_limits as l
    set level = now.room, refilled_at = v_now
    from forebay._quota_limits(array[p_quota], v_now) as now
    where l.quota = p_quota and l.unit = now.unit and l.period = now.period and l.kind = 'bucket';
    insert into forebay.quotas as q (quota, headroom, created_at, updated_at)
    values (p_quota, p_headroom, v_now, v_now)
    on conflict (quota) do update set headroom = excluded.headroom, updated_at = excluded.updated_at;

    delete from forebay.quota_limits as l
    where l.quota = p_quota and not exists (
        select from unnest(v_limits) as n where (n.unit, n.period, n.kind) = (l.unit, l.period, l.kind)
    );
    insert into forebay.quota_limits as l (quota, unit, period, kind, amount, burst, level, refilled_at, since)
    select n.quota, n.unit, n.period, n.kind, n.amount, n.burst, n.burst, v_now, v_now from unnest(v_limits) as n
    on conflict (quota, unit, period) do update
    set amount = excluded.amount, burst = excluded.burst, level = least(l.level, excluded.burst);
    perform forebay._audit(
        'register_quota', null, null, p_reason, p_actor,
        jsonb_build_object('quota', p_quota, 'limits', p_limits, 'headroom', p_headroom)
    );
end;
$function$;

comment on function forebay.register_quota is 'Define a provider''s quota, or define it anew, with all its limits; agents draw on it by its name.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/register_quota.sql', 'repeatable', 'e5391965f32661d06b27ec46b148888a7da7e671918dd3a0c1fc7c8edae78948', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/reprioritize.sql
create or replace function forebay.reprioritize(
    p_task_ids bigint[],
    p_priority integer,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Give tasks that have not ended another priority; one that is processing takes it when it comes back in line.
--
-- Returns    one row a distinct id, by id; effect is reprioritized, none (ended, or had it) or unknown
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the tasks, by id
-- Errors     22023  p_task_ids is null, or p_priority is no smallint
-- Called by  forebay_operator
declare
    v_ids     bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_changed bigint[];
begin
    perform forebay._require_between(p_priority, 'p_priority', -32768, 32767);
    perform forebay._lock_tasks(v_ids);
    with changed as (
        update forebay.tasks as t
        set priority = p_priority
        where t.task_id = any(v_ids) and t.status in ('enqueued', 'processing') and t.priority <> p_priority
        returning t.task_id
    )
    select coalesce(array_agg(c.task_id), '{}') into v_changed from changed as c;
    perform forebay._audit(
        'reprioritize', v_changed, null, p_reason, p_actor, jsonb_build_object('priority', p_priority)
    );
    return query select * from forebay._effects(v_ids, v_changed, 'reprioritized');
end;
$function$;

comment on function forebay.reprioritize is 'Give tasks that have not ended another priority; one that is processing takes it when it comes back in line.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/reprioritize.sql', 'repeatable', 'c9172a0708c1d16a4b7b526a3d53a42b05f5384f30587e21ed7de392902b7921', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/reprocess.sql
create or replace function forebay.reprocess(
    p_task_ids bigint[],
    p_agent    text default null,
    p_priority integer default 10,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.reprocessed_task
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Enqueue finished tasks anew, as new tasks linked by reprocess_of; the old ones and their results stay.
--
-- p_agent null means the same agent. Payload, batch, customer and estimate are taken over.
--
-- Returns    one row a distinct id, by id; effect is reprocessed, none (it has not finished) or unknown
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the agents' lines, shared; the tasks, by id
-- Errors     22023  p_task_ids is null, or p_priority is no smallint
--            QF301  no such agent
-- Called by  forebay_operator
declare
    v_ids bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_old bigint[];
    v_new bigint[];
    v_now timestamptz;
begin
    perform forebay._require_between(p_priority, 'p_priority', -32768, 32767);
    if p_agent is not null then
        perform forebay._get_agent(p_agent);
    end if;
    perform forebay._join_line(
        array(select coalesce(p_agent, t.agent) from forebay.tasks as t where t.task_id = any(v_ids))
    );
    perform forebay._lock_tasks(v_ids);
    v_now := forebay._now();

    with renewed as (
        insert into forebay.tasks (
            agent, priority, batch_id, customer, payload, estimated_tokens, max_attempts, available_at, created_at,
            reprocess_of, is_shared
        )
        select
            a.agent, p_priority, t.batch_id, t.customer, t.payload, t.estimated_tokens, t.max_attempts,
            v_now, v_now, t.task_id, a.is_fair_by_customer
        from forebay.tasks as t
        inner join forebay.agents as a on a.agent = coalesce(p_agent, t.agent)
        where t.task_id = any(v_ids) and t.status in ('completed', 'failed', 'cancelled')
        order by t.task_id
        returning task_id, reprocess_of
    )
    select coalesce(array_agg(r.reprocess_of), '{}'), coalesce(array_agg(r.task_id), '{}') into v_old, v_new from renewed as r;
    perform forebay._audit('reprocess', v_old, p_agent, p_reason, p_actor);

    return query
    select e.task_id, e.status, e.effect, renewed.new_id
    from forebay._effects(v_ids, v_old, 'reprocessed') as e
    left join unnest(v_old, v_new) as renewed (old_id, new_id) on renewed.old_id = e.task_id
    order by e.task_id;
end;
$function$;

comment on function forebay.reprocess is 'Enqueue finished tasks anew, as new tasks linked by reprocess_of; the old ones and their results stay.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/reprocess.sql', 'repeatable', '9d5d25c6083ddcbb47f811e3b806571e53857a3b9b868ac072aa2badffcd8212', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/resume_agent.sql
create or replace function forebay.resume_agent(p_agent text, p_reason text default null, p_actor text default null)
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- End an agent's pause. p_agent null means every agent.
--
-- It may be an operator's or one that a provider asked for; that of a quota ends for all who draw on it. Limits that were
-- lowered by a refusal stay so, and grow from now.
--
-- Returns    how many agents were paused before
-- Writes     forebay.agents, forebay.audit_log, forebay.refusals
-- Locks      the agents, by name, then the refusals, by id
-- Errors     QF301  no such agent
-- Called by  forebay_operator
begin
    if p_agent is not null then
        perform forebay._get_agent(p_agent);
    end if;
    return forebay._pause(p_agent, null, p_reason, p_actor);
end;
$function$;

comment on function forebay.resume_agent is 'End an agent''s pause. p_agent null means every agent.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/resume_agent.sql', 'repeatable', 'db459936d8d9245af2fdb4f80e9f583e04b829c447ed19b3d0faef77e94a9b39', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/operator/retry.sql
create or replace function forebay.retry(
    p_task_ids bigint[],
    p_priority integer default null,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Put failed and cancelled tasks back in line, with fresh attempts; p_priority null keeps theirs.
--
-- Releases and deferrals are counted afresh too.
--
-- Returns    one row a distinct id, by id; effect is retried, none (nothing to retry) or unknown
-- Writes     forebay.tasks, forebay.audit_log
-- Locks      the lines of the tasks' agents against a change of their definition, then the tasks, by id
-- Errors     22023  p_task_ids is null, or p_priority is no smallint
-- Called by  forebay_operator
begin
    return query
    select * from forebay._retry(p_task_ids, p_priority, p_reason, p_actor);
end;
$function$;

comment on function forebay.retry is 'Put failed and cancelled tasks back in line, with fresh attempts; p_priority null keeps theirs.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/operator/retry.sql', 'repeatable', 'eebedeaffb36fc9ca4386539eb4b58e5a08f81e20ac860b58f118a8a2adaaf8f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/agent_names.sql
create or replace function forebay.agent_names()
    returns setof text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The names of all agents: what a list offers to choose from, where agent_status would add up more than is shown.
--
-- Returns    one row an agent, by name
-- Called by  forebay_viewer
begin
    return query select a.agent from forebay.agents as a order by a.agent;
end;
$function$;

comment on function forebay.agent_names is
'The names of all agents: what a list offers to choose from, where agent_status would add up more than is shown.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/agent_names.sql', 'repeatable', 'a41a9ba4ae60dd6bbc2c1869746f78bae9a3f6e709da8242086ab9978c88a9a7', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/agent_status.sql
create or replace function forebay.agent_status(p_agents text[] default null)
    returns setof forebay.agent_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Each agent as it stands now: what waits and runs, its limits and how much of them is left, what it has learned and spent.
--
-- The numbers are those that dequeue decides by. Levels and bursts are those of the effective limits. quotas holds what
-- quota_status says of each, the period in seconds.
--
-- Returns    one row an agent, by name; state is closed (a limit is 0), paused, full, out_of_requests, out_of_tokens, quota,
--            spend_cap (by which the first that waits and does not fit is held up: hindrance says it in words) or open
-- Errors     QF301  no such agent
-- Called by  forebay_viewer
declare
    v_agents text[] := p_agents;
    v_now    timestamptz := forebay._now();
begin
    perform forebay._require_agents(p_agents);
    return query
    select
        a.agent, a.launcher, held.reason, line.waiting, line.delayed, flight.tasks, a.max_concurrent_tasks,
        a.max_tpm, levels.tokens, forebay._token_burst(effective), flight.tokens,
        a.max_rpm, levels.requests, forebay._request_burst(effective),
        case when effective.paused_until > v_now then effective.paused_until end,
        case when effective.paused_until > v_now then effective.pause_reason end,
        forebay._waits_since(a.agent, v_now), a.job_id, a.entry_point, a.lease, a.timeout, a.max_attempts,
        throttle.share, effective.max_concurrent_tasks, effective.max_tpm, effective.max_rpm,
        flight.projected_tpm, minute.starts, minute.tokens,
        learned.samples, (learned.input_permille + learned.output_permille) * 0.001, learned.input_permille * 0.001,
        learned.output_permille * 0.001, learned.typical_input + learned.typical_output,
        case when learned.typical_input is not null then learned.calls end, learned.tokens_per_second,
        spent.recorded, spent.projected, a.max_usd_per_day,
        a.max_waiting, a.aging, a.reserve_after, a.is_fair_by_customer,
        (
            select coalesce(
                jsonb_agg(to_jsonb(q) || jsonb_build_object('period', extract(epoch from q.period)) order by q.quota, q.unit, q.period),
                '[]'
            )
            from unnest(a.quotas) as names (quota)
            cross join lateral forebay._quota_state(names.quota, v_now) as q
        ),
        a.tpm_burst, a.max_releases, a.backoff_base, a.backoff_max, a.on_lost_lease, a.late_results, a.default_estimated_tokens,
        a.retention, a.max_deferrals, a.max_deferral_time, a.quotas, forebay._hindrance_words(held)
    from forebay.agents as a
    cross join lateral forebay._get_effective(a.agent, v_now) as effective
    cross join lateral forebay._agent_state(effective, v_now) as held
    cross join lateral forebay._throttle(a, v_now) as throttle
    cross join lateral forebay._levels(effective, v_now) as levels
    cross join lateral forebay._learned(a.agent) as learned
    cross join lateral forebay._spent_today(a.agent, null, v_now) as spent
    cross join lateral forebay._line_state(a.agent, v_now) as line
    cross join lateral forebay._flight_state(a.agent, learned.tokens_per_second) as flight
    cross join lateral forebay._last_minute(a.agent, v_now) as minute
    where v_agents is null or a.agent = any(v_agents)
    order by a.agent;
end;
$function$;

comment on function forebay.agent_status is
'Each agent as it stands now: what waits and runs, its limits and how much of them is left, what it has learned and spent.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/agent_status.sql', 'repeatable', '4b37851aff4056bdcf07032ba217837b185096f1e337ac7661c88c4d7797813f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/batch_progress.sql
create or replace function forebay.batch_progress(p_batch_id bigint)
    returns forebay.batch_progress
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- How far a batch has come: its tasks by status.
--
-- Returns    one row; finished_at is when the last task ended, null while one waits or runs or there is none
-- Errors     22023  p_batch_id is null
--            QF302  no such batch
-- Called by  forebay_viewer
declare
    v_batch    forebay.batches := forebay._get_batch(p_batch_id);
    v_progress forebay.batch_progress;
begin
    select
        v_batch.batch_id, v_batch.name, v_batch.customer, v_batch.owner, v_batch.created_at, sums.tasks, sums.enqueued,
        sums.processing, sums.completed, sums.failed, sums.cancelled, sums.finished_at
    into v_progress
    from forebay._batch_sums(p_batch_id) as sums;
    return v_progress;
end;
$function$;

comment on function forebay.batch_progress is 'How far a batch has come: its tasks by status.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/batch_progress.sql', 'repeatable', 'def9e80dc70c6f8987f56be9afadfac0731a9d85738744c0f0b29d879912bbf7', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/cost_by.sql
create or replace function forebay.cost_by(
    p_dimension text,
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null,
    p_limit     integer default 100
)
    returns setof forebay.cost_line
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set jit = off
as $function$
-- Say what tasks cost by task, agent, customer, batch, model, day or try; p_from and p_to are half-open, on created_at.
--
-- Agents, customers and days (UTC, of creation) come from the rollups, and are quick over any range. For tasks and batches
-- each task of the range is read, for models its calls as well: that takes as long as there are many, so give a range. By
-- model, the calls of the source that counts are added up, and the attempts are those that called it; compute_usd is null
-- there. By try, a line says what first tries cost (first), and what those cost that came after an attempt that failed, was
-- lost, or ended otherwise (after_failed, after_lost, ...). Ask for one row more than are to be shown, to know whether there
-- are others.
--
-- Returns    at most p_limit rows, the dearest first; days from the latest on, tries from the first on. key null: no customer, batch or model
-- Errors     22023  p_dimension is none of the seven, p_limit is not from 1 to 10,000, or a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_from timestamptz := coalesce(p_from, '-infinity');
    v_to   timestamptz := coalesce(p_to, 'infinity');
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    case p_dimension
        when 'agent', 'customer', 'day' then
            return query select * from forebay._cost_in_rollups(p_dimension, v_from, v_to, p_statuses, p_agents, p_customers) as line
            order by
                case p_dimension when 'day' then line.key end desc nulls last,
                line.llm_usd + line.compute_usd desc, line.key
            limit p_limit;
        when 'task' then
            return query
            select
                t.task_id::text, 1::bigint, t.ended_attempts::bigint, t.measured_attempts::bigint, t.priced_attempts::bigint,
                t.costed_attempts::bigint, t.provisional_attempts::bigint, t.used_input_tokens, t.used_output_tokens,
                t.used_cached_tokens, t.cost_usd, t.compute_usd
            from forebay._matching_tasks(v_from, v_to, p_statuses, p_agents, p_customers) as t
            order by t.cost_usd + t.compute_usd desc, t.task_id
            limit p_limit;
        when 'batch' then
            return query
            select
                t.batch_id::text, count(*), sum(t.ended_attempts), sum(t.measured_attempts), sum(t.priced_attempts),
                sum(t.costed_attempts), sum(t.provisional_attempts), sum(t.used_input_tokens)::bigint,
                sum(t.used_output_tokens)::bigint, sum(t.used_cached_tokens)::bigint, sum(t.cost_usd), sum(t.compute_usd)
            from forebay._matching_tasks(v_from, v_to, p_statuses, p_agents, p_customers) as t
            group by t.batch_id
            order by sum(t.cost_usd + t.compute_usd) desc, t.batch_id
            limit p_limit;
        when 'model' then
            return query
            select * from forebay._cost_of_models(v_from, v_to, p_statuses, p_agents, p_customers) as line
            order by line.llm_usd desc, line.key
            limit p_limit;
        when 'try' then
            return query
            select * from forebay._cost_of_tries(v_from, v_to, p_statuses, p_agents, p_customers) as line
            order by line.key <> 'first', line.llm_usd + line.compute_usd desc, line.key
            limit p_limit;
        else
            raise exception 'nothing is added up by "%"', left(p_dimension, 60)
                using errcode = '22023', hint = 'Dimensions: task, agent, customer, batch, model, day, try.';
    end case;
end;
$function$;

comment on function forebay.cost_by is 'Say what tasks cost by task, agent, customer, batch, model, day or try; p_from and p_to are half-open, on created_at.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/cost_by.sql', 'repeatable', 'f6ee4280ed377dd8245b9b9dc76f9b67c4dae393f9c1e7fc0a1e66081e3e457d', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/cost_sources.sql
create or replace function forebay.cost_sources(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null
)
    returns setof forebay.cost_source
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set jit = off
as $function$
-- Say where the figures of cost_summary come from: by source, and by how it knows; p_from and p_to as there.
--
-- llm: source is agent or trace, whichever counts for an attempt; the basis of a call is reported (its cost was told with
-- it), price (the registered price of its model), list_price (what MLflow makes of it, of a model without a registered
-- price), or unknown. trace: the basis of an attempt is how far the search for its traces is: found, partial, awaited or
-- missing. compute: source is that of the records, such as billing or
-- local; the basis of an attempt is final or provisional. Attempts without a cost have source null: running, awaited (its
-- bill may still come), or unknown; one whose run a bill should have told of by now, and has not, is not_attributable.
--
-- Returns    one row a part, source and basis, in that order; an attempt may be in several rows of llm
-- Errors     22023  a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_billed_until timestamptz;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    select max(s.as_of) - (forebay._limits()).billing_latency into v_billed_until
    from forebay.compute_sources as s
    where s.source <> 'local';
    return query
    with attempts as (
        select a.* from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
        inner join forebay.task_attempts as a on a.task_id = t.task_id
    ), calls as (
        select
            u.attempt_id, u.source, u.usd,
            case
                when u.cost_usd is not null then 'reported'
                when u.usd = u.list_usd then 'list_price'
                when u.usd is not null then 'price'
                else 'unknown'
            end as basis
        from forebay._counted_calls(p_from, p_to, p_statuses, p_agents, p_customers) as u
        union all
        select a.attempt_id, null, null, case when a.finished_at is null then 'running' else 'unknown' end
        from attempts as a
        where not a.is_usage_known and not (a.status = 'released' and a.used_calls = 0)
            and not exists (select from forebay.attempt_usage as u where u.attempt_id = a.attempt_id)
    ), machines as (
        select
            a.compute_usd as usd,
            case
                when told.first_source = told.last_source then told.first_source
                else forebay._compute_source(a.attempt_id)
            end as source,
            case
                when a.compute_usd is not null then case when a.is_compute_final then 'final' else 'provisional' end
                when a.finished_at is null then 'running'
                when not forebay._is_external(a.launcher) or a.run_id is null then 'unknown'
                when a.finished_at <= v_billed_until then 'not_attributable'
                else 'awaited'
            end as basis
        from attempts as a
        cross join lateral (
            select min(u.source) as first_source, max(u.source) as last_source
            from forebay.compute_usage as u
            where u.attempt_id = a.attempt_id
        ) as told
    ), parts as (
        select 'llm' as part, c.source, c.basis, count(distinct c.attempt_id) as attempts, sum(c.usd) as usd
        from calls as c
        group by c.source, c.basis
        union all
        select 'trace', 'mlflow', forebay._trace_state(t), count(*), null
        from attempts as a
        inner join forebay.attempt_traces as t on t.attempt_id = a.attempt_id
        group by forebay._trace_state(t)
        union all
        select 'compute', m.source, m.basis, count(*), sum(m.usd)
        from machines as m
        group by m.source, m.basis
    )
    select p.part, p.source, p.basis, p.attempts, p.usd
    from parts as p
    order by array_position(array['llm', 'trace', 'compute'], p.part), p.source, p.basis;
end;
$function$;

comment on function forebay.cost_sources is 'Say where the figures of cost_summary come from: by source, and by how it knows; p_from and p_to as there.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/cost_sources.sql', 'repeatable', 'bf99ac6ecc0e18a1270f111398f8f22206ce882241e133067877f28a7e8366f5', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/cost_summary.sql
create or replace function forebay.cost_summary(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null
)
    returns forebay.cost_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set jit = off
as $function$
-- Say what tasks cost together and what a task costs, first tries and retries apart; p_from and p_to are half-open, on created_at.
--
-- Calls (llm) and machines (compute) are told apart. A median is that of one task, of an even count the lower of the two in
-- the middle, and at least 95 % are not above p95: over tasks that are over, and of which the cost of all attempts is known
-- (llm_tasks, compute_tasks; whole_tasks: of both). Everything is added up from the tasks of the range, so give a range.
--
-- Returns    one row; is_final is true when every attempt has ended, and has a known cost that no source will change
-- Errors     22023  a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_summary forebay.cost_summary;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    v_summary := forebay._cost_of_tasks(p_from, p_to, p_statuses, p_agents, p_customers);
    select
        count(*) filter (where a.attempt_no = 1),
        coalesce(sum(a.cost_usd) filter (where a.attempt_no = 1), 0),
        coalesce(sum(a.compute_usd) filter (where a.attempt_no = 1), 0),
        count(*) filter (where a.attempt_no > 1),
        coalesce(sum(a.cost_usd) filter (where a.attempt_no > 1), 0),
        coalesce(sum(a.compute_usd) filter (where a.attempt_no > 1), 0),
        coalesce(sum(a.compute_usd) filter (where not a.is_compute_final), 0),
        coalesce(bool_and(
            a.finished_at is not null and (a.is_cost_known or a.status = 'released' and a.used_calls = 0)
            and a.compute_usd is not null and a.is_compute_final
        ), true)
    into
        v_summary.first_tries, v_summary.first_llm_usd, v_summary.first_compute_usd, v_summary.retries,
        v_summary.retry_llm_usd, v_summary.retry_compute_usd, v_summary.provisional_usd, v_summary.is_final
    from forebay._matching_tasks(p_from, p_to, p_statuses, p_agents, p_customers) as t
    inner join forebay.task_attempts as a on a.task_id = t.task_id;
    select coalesce(sum(u.pages), 0) into v_summary.pages
    from forebay._counted_calls(p_from, p_to, p_statuses, p_agents, p_customers) as u
    where u.pages > 0;
    v_summary.as_of := forebay._now();
    return v_summary;
end;
$function$;

comment on function forebay.cost_summary is
'Say what tasks cost together and what a task costs, first tries and retries apart; p_from and p_to are half-open, on created_at.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/cost_summary.sql', 'repeatable', 'ccff8ee270ccfefb83c74141de69096f9d2c12a7b5c9eb356165454ee2095472', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/count_matching.sql
create or replace function forebay.count_matching(
    p_from           timestamptz default null,
    p_to             timestamptz default null,
    p_statuses       text[] default null,
    p_agents         text[] default null,
    p_customers      text[] default null,
    p_batch_id       bigint default null,
    p_search         text default null,
    p_max_confidence numeric default null
)
    returns bigint
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- Count the tasks that list_tasks would list under the same filters, up to 100,001, which means more than 100,000.
--
-- It is the count that act_on_matching wants to be told. A range of time without another filter is read row by row.
--
-- Returns    0 to 100,001
-- Errors     22023  a status does not exist, p_max_confidence is not from 0 to 1, p_search is too long
--            QF301, QF302  no such agent or batch
-- Called by  forebay_viewer
declare
    v_filter forebay.task_filter := forebay._task_filter(
        p_from, p_to, p_statuses, p_agents, p_customers, p_batch_id, p_search, p_max_confidence
    );
begin
    return (
        select count(*) from (
            select t.task_id from forebay.tasks as t
            where forebay._passes(t, v_filter)
            limit 100001
        ) as matching
    );
end;
$function$;

comment on function forebay.count_matching is
'Count the tasks that list_tasks would list under the same filters, up to 100,001, which means more than 100,000.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/count_matching.sql', 'repeatable', '20292184c360fa2094a35f44db03e44bcef40844bd3fd3d4c3365e39edac26ed', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/customer_costs.sql
create or replace function forebay.customer_costs(
    p_from      timestamptz,
    p_to        timestamptz,
    p_customers text[] default null
)
    returns setof forebay.customer_cost
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set jit = off
as $function$
-- Say what the tasks created from p_from until before p_to cost, by customer and agent: what is put on a bill.
--
-- A task counts in the month that it was created in, whenever it ran: no cost is in two months. Retries are attempts after
-- a task's first. The amounts are exact, and hold nothing twice; whoever rounds them says how.
--
-- Returns    one row a customer and agent, by customer (null, for none, is the last) and agent
-- Errors     22023  p_from or p_to is null
-- Called by  forebay_viewer
begin
    if p_from is null or p_to is null then
        raise exception 'p_from and p_to must be given' using errcode = '22023';
    end if;
    return query
    with matching as materialized (
        select t.* from forebay._matching_tasks(p_from, p_to, null, null, p_customers) as t
    ), tasks as (
        select
            t.customer, t.agent, count(*) as tasks, sum(t.ended_attempts) as ended, sum(t.measured_attempts) as measured,
            sum(t.priced_attempts) as priced, sum(t.costed_attempts) as costed, sum(t.provisional_attempts) as provisional,
            sum(t.used_input_tokens)::bigint as input_tokens, sum(t.used_output_tokens)::bigint as output_tokens,
            sum(t.used_cached_tokens)::bigint as cached_tokens
        from matching as t
        group by t.customer, t.agent
    ), amounts as (
        select
            t.customer, t.agent,
            sum(a.cost_usd) filter (where a.attempt_no = 1) as llm,
            sum(a.cost_usd) filter (where a.attempt_no > 1) as retry_llm,
            sum(a.compute_usd) filter (where a.attempt_no = 1 and a.is_compute_final) as compute,
            sum(a.compute_usd) filter (where a.attempt_no > 1 and a.is_compute_final) as retry_compute,
            sum(a.compute_usd) filter (where a.attempt_no = 1 and not a.is_compute_final) as provisional,
            sum(a.compute_usd) filter (where a.attempt_no > 1 and not a.is_compute_final) as retry_provisional
        from matching as t
        inner join forebay.task_attempts as a on a.task_id = t.task_id
        group by t.customer, t.agent
    ), scans as (
        select t.customer, t.agent, sum(u.pages) as pages
        from forebay._counted_calls(p_from, p_to, null, null, p_customers) as u
        inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
        inner join matching as t on t.task_id = a.task_id
        where u.pages > 0
        group by t.customer, t.agent
    )
    select
        t.customer, t.agent, t.tasks, t.ended, t.measured, t.priced, t.costed, t.provisional, t.input_tokens,
        t.output_tokens, t.cached_tokens, coalesce(s.pages, 0), coalesce(m.llm, 0), coalesce(m.retry_llm, 0),
        coalesce(m.compute, 0), coalesce(m.retry_compute, 0), coalesce(m.provisional, 0), coalesce(m.retry_provisional, 0)
    from tasks as t
    left join amounts as m on m.agent = t.agent and m.customer is not distinct from t.customer
    left join scans as s on s.agent = t.agent and s.customer is not distinct from t.customer
    order by t.customer collate "C" nulls last, t.agent;
end;
$function$;

comment on function forebay.customer_costs is 'Say what the tasks created from p_from until before p_to cost, by customer and agent: what is put on a bill.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/customer_costs.sql', 'repeatable', '135792f208c7ac9a99aab785622ea3c1589e4229910431dd9e81546f39051b17', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/customer_status.sql
create or replace function forebay.customer_status(p_customers text[] default null)
    returns setof forebay.customer_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Each customer with terms of its own as it stands now: terms, money of today (UTC), tasks; p_customers null means all.
--
-- Returns    one row a customer, by name
-- Called by  forebay_viewer
declare
    v_customers text[] := p_customers;
    v_now       timestamptz := forebay._now();
begin
    return query
    with waiting as (
        select t.customer, count(*) as tasks
        from forebay.tasks as t
        where t.status = 'enqueued' and t.customer is not null
        group by t.customer
    ), running as (
        select a.customer, count(*) as tasks
        from forebay.task_attempts as a
        where a.finished_at is null and a.customer is not null
        group by a.customer
    )
    select
        c.customer, c.priority_boost, c.max_usd_per_day, forebay._cap_today('', c.customer, 0, v_now),
        spent.recorded, spent.projected, coalesce(waiting.tasks, 0), coalesce(running.tasks, 0)
    from forebay.customers as c
    left join waiting on waiting.customer = c.customer
    left join running on running.customer = c.customer
    cross join lateral forebay._spent_today(null, c.customer, v_now) as spent
    where v_customers is null or c.customer = any(v_customers)
    order by c.customer;
end;
$function$;

comment on function forebay.customer_status is 'Each customer with terms of its own as it stands now: terms, money of today (UTC), tasks; p_customers null means all.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/customer_status.sql', 'repeatable', '6dfaa03c337fa646b974d4bdf834f4a8d94d3555668260b622abd3f289369bd6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/explain_task.sql
create or replace function forebay.explain_task(p_task_id bigint)
    returns forebay.task_explanation
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say why a task waits and until when, or what became of it.
--
-- waiting_until is the first moment at which a dequeue takes the task if nothing else changes, to the microsecond: what
-- dequeue asks is asked for later moments. Null: others have to start or end before, or nothing is known to end the wait.
--
-- Returns    one row; reason is not_open, closed, paused, delayed, deferred (refused by a provider), full, out_of_requests,
--            out_of_tokens, quota, spend_cap, reserved (for a task that nobody passes), unreachable (what runs it), behind_others
--            or ready while it waits, lease_expired, unlaunched or running while it is processing, else its status
-- Errors     22023  p_task_id is null
--            QF303  no such task
-- Called by  forebay_viewer
declare
    v_task   forebay.tasks := forebay._get_task(p_task_id);
    v_answer forebay.task_explanation;
begin
    if v_task.status = 'enqueued' then
        v_answer := forebay._explain_waiting(v_task);
    elsif v_task.status = 'processing' then
        v_answer := forebay._explain_running(v_task);
    else
        v_answer.reason := v_task.status;
        v_answer.explanation := format(
            'It ended as %s at %s after %s%s.', v_task.status, forebay._moment_words(v_task.finished_at, forebay._now()),
            case v_task.attempt_no when 1 then '1 attempt' else v_task.attempt_no || ' attempts' end,
            coalesce(': ' || nullif(rtrim(v_task.error ->> 'message', '. '), ''), '')
        );
    end if;
    v_answer.task_id := v_task.task_id;
    v_answer.status := v_task.status;
    return v_answer;
end;
$function$;

comment on function forebay.explain_task is 'Say why a task waits and until when, or what became of it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/explain_task.sql', 'repeatable', '38262c46d8d3b55823c709cf408e7be9a7a4c85e443f20c6756dc028cb3bd5d4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/health.sql
create or replace function forebay.health()
    returns forebay.health_report
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether the machinery turns: who claims and sweeps, who listens, what waits longest, what holds the database back.
--
-- The oldest transaction is one of the sessions of roles that forebay_owner may see; grant it pg_read_all_stats to see all.
--
-- Returns    one row; oldest_waiting_at is since when the oldest task could start; dispatchers are those that claimed or swept, the latest first, with the faults of their launchers; a sweep forgets those of yesterday
-- Called by  forebay_viewer
declare
    v_now    timestamptz := forebay._now();
    v_health forebay.health_report;
begin
    select
        forebay.schema_version(), i.installation_id, forebay._is_copy(i),
        forebay._may_dispatch(),
        (
            select coalesce(
                jsonb_agg(
                    to_jsonb(d) || jsonb_build_object('faults', forebay._launcher_faults(d.worker, v_now))
                    order by greatest(d.last_claim_at, d.last_sweep_at) desc
                ), '[]'
            )
            from forebay.dispatchers as d
        ),
        (
            select count(*)::integer from pg_stat_activity as s
            where s.datname = current_database() and s.application_name = 'forebay listener'
        ),
        (select max(d.last_claim_at) from forebay.dispatchers as d),
        (select max(d.last_sweep_at) from forebay.dispatchers as d),
        (select min(forebay._waits_since(a.agent, v_now)) from forebay.agents as a),
        (select count(*) from forebay.agents as a, forebay.task_attempts as o
            where o.agent = a.agent and o.finished_at is null
                and forebay._is_expired(o, v_now, i.adoption_grace, i.report_grace)),
        oldest.xact_start, pg_notification_queue_usage(), oldest.application_name,
        (select s.numbackends from pg_stat_database as s where s.datname = current_database()),
        current_setting('max_connections')::integer, pg_database_size(current_database()),
        current_setting('server_version'), v_now
    into v_health
    from forebay.installation as i
    left join (
        select s.xact_start, s.application_name from pg_stat_activity as s
        where s.datname = current_database() and s.pid <> pg_backend_pid() and s.xact_start is not null
        order by s.xact_start
        limit 1
    ) as oldest on true;
    return v_health;
end;
$function$;

comment on function forebay.health is 'Whether the machinery turns: who claims and sweeps, who listens, what waits longest, what holds the database back.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/health.sql', 'repeatable', '6cd0641280c0342b88064b6eb15d0dd7b2429a6710422fb9c3f2c4e2f35ed9b7', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/list_attempts.sql
create or replace function forebay.list_attempts(
    p_statuses          text[] default '{lost,superseded}',
    p_agents            text[] default null,
    p_from              timestamptz default null,
    p_to                timestamptz default null,
    p_before_attempt_id bigint default null,
    p_limit             integer default 100
)
    returns setof forebay.attempt_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List attempts that did not end well, newest first, a page at a time: the next page is that before the last id of this one.
--
-- p_from and p_to are half-open, on started_at.
--
-- Returns    one row an attempt, by started_at and id downwards
-- Errors     22023  p_limit is not from 1 to 10,000, or p_statuses is null or holds another word than failed, released, lost,
--                   superseded and cancelled
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_before    bigint := coalesce(p_before_attempt_id, 9223372036854775807);
    v_before_at timestamptz := timestamptz 'infinity';
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    perform forebay._require_agents(p_agents);
    if p_statuses is null or not p_statuses <@ '{failed,released,lost,superseded,cancelled}'::text[] then
        raise exception 'p_statuses must hold failed, released, lost, superseded or cancelled' using errcode = '22023';
    end if;
    if p_before_attempt_id is not null then
        select a.started_at into v_before_at from forebay.task_attempts as a
        where a.attempt_id <= p_before_attempt_id
        order by a.attempt_id desc
        limit 1;
    end if;
    return query
    select
        a.attempt_id, a.task_id, a.attempt_no, a.agent, a.launcher, a.status, a.worker, a.run_id, a.trace_id, a.started_at,
        a.finished_at, a.lease_expires_at, a.error ->> 'kind', a.error ->> 'message',
        case when a.is_usage_known or a.used_calls > 0 then a.used_input_tokens end,
        case when a.is_usage_known or a.used_calls > 0 then a.used_output_tokens end,
        case when a.is_usage_known or a.used_calls > 0 then a.used_cached_tokens end,
        a.is_usage_known, a.cost_usd, a.is_cost_known, t.status, t.batch_id, t.customer
    from forebay._page_of_attempts(p_statuses, p_agents, p_from, p_to, v_before_at, v_before, p_limit) as a
    inner join forebay.tasks as t on t.task_id = a.task_id
    order by a.started_at desc, a.attempt_id desc;
end;
$function$;

comment on function forebay.list_attempts is
'List attempts that did not end well, newest first, a page at a time: the next page is that before the last id of this one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/list_attempts.sql', 'repeatable', '85d089c0b1f99d60b74ea4e729152c4f3399dbcc80a35200a152e9fcaf91e9a8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/list_audit.sql
create or replace function forebay.list_audit(
    p_task_id         bigint default null,
    p_agent           text default null,
    p_actor           text default null,
    p_before_audit_id bigint default null,
    p_limit           integer default 100
)
    returns setof forebay.audit_entry
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- List what people did, latest first, a page at a time: the next page is that before the last id of this one.
--
-- Returns    one row a task or agent that an act changed, by id downwards
-- Errors     22023  p_limit is not from 1 to 10,000
-- Called by  forebay_viewer
declare
    v_task_id bigint := p_task_id;
    v_agent   text := p_agent;
    v_actor   text := p_actor;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    return query
    select l.audit_id, l.acted_at, l.action, l.task_id, l.agent, l.session_role, l.actor, l.reason, l.details
    from forebay.audit_log as l
    where (v_task_id is null or l.task_id = v_task_id)
        and (v_agent is null or l.agent = v_agent)
        and (v_actor is null or l.actor = v_actor)
        and (p_before_audit_id is null or l.audit_id < p_before_audit_id)
    order by l.audit_id desc
    limit p_limit;
end;
$function$;

comment on function forebay.list_audit is
'List what people did, latest first, a page at a time: the next page is that before the last id of this one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/list_audit.sql', 'repeatable', 'c956681e6785f324c4d9e9a962abdbf5a073d689c3883ab81cbc67e1a3f2b1e6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/list_batches.sql
create or replace function forebay.list_batches(
    p_from            timestamptz default null,
    p_to              timestamptz default null,
    p_customers       text[] default null,
    p_search          text default null,
    p_before_batch_id bigint default null,
    p_limit           integer default 50
)
    returns setof forebay.batch_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- List batches with their tasks by status, newest first, a page at a time: the next page is that before the last id of this one.
--
-- p_search is a batch's number, or else part of its name, customer or owner; that walks over batches. The tasks of a page's
-- batches are counted one by one.
--
-- Returns    one row a batch, by id downwards; finished_at as in batch_progress
-- Errors     22023  p_limit is not from 1 to 1,000
-- Called by  forebay_viewer
declare
    v_customers text[] := p_customers;
    v_search    text := lower(nullif(btrim(p_search), ''));
    v_number    bigint := case when v_search ~ '^[0-9]{1,18}$' then v_search::bigint end;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 1000);
    return query
    select
        b.batch_id, b.name, b.customer, b.owner, b.created_at, sums.tasks, sums.enqueued, sums.processing, sums.completed,
        sums.failed, sums.cancelled, sums.finished_at, sums.llm_usd, sums.ended_attempts, sums.priced_attempts
    from (
        select page.* from forebay.batches as page
        where (p_from is null or page.created_at >= p_from)
            and (p_to is null or page.created_at < p_to)
            and (v_customers is null or page.customer = any(v_customers))
            and (v_number is null or page.batch_id = v_number)
            and (
                v_search is null or v_number is not null or strpos(lower(page.name), v_search) > 0
                or strpos(lower(page.customer), v_search) > 0 or strpos(lower(page.owner), v_search) > 0
            )
            and page.batch_id < coalesce(p_before_batch_id, 9223372036854775807)
        order by page.batch_id desc
        limit p_limit
    ) as b
    cross join lateral forebay._batch_sums(b.batch_id) as sums
    order by b.batch_id desc;
end;
$function$;

comment on function forebay.list_batches is
'List batches with their tasks by status, newest first, a page at a time: the next page is that before the last id of this one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/list_batches.sql', 'repeatable', '8b989c1dcc6eb18543900b81ed1e8c050c34fab208c29753d360540d1de9d03b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/list_compute_sources.sql
create or replace function forebay.list_compute_sources()
    returns setof text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The sources that told what machines cost, such as a bill; 'local' is the estimate of Forebay itself.
--
-- Returns    their names, by name; those too that told of nothing
-- Called by  forebay_viewer
begin
    return query
    select s.source
    from forebay.compute_sources as s
    order by s.source collate "C";
end;
$function$;

comment on function forebay.list_compute_sources is 'The sources that told what machines cost, such as a bill; ''local'' is the estimate of Forebay itself.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/list_compute_sources.sql', 'repeatable', '16dd1a6dd9e9ed5ea22ae49481168fe66f11e8d0e90eac2611e964d67726668b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/list_prices.sql
create or replace function forebay.list_prices(p_models text[] default null)
    returns setof forebay.price
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The prices that were registered, those of the past and the future too; p_models null means all models.
--
-- Returns    one row a model and range of time, by model and start; valid_until is null where it has no end
-- Called by  forebay_viewer
declare
    v_models text[] := p_models;
begin
    return query
    select
        p.model, p.valid_from, nullif(p.valid_until, 'infinity'), p.usd_per_m_input, p.usd_per_m_output,
        p.usd_per_m_cached, p.usd_per_page, p.usd_per_call
    from forebay.prices as p
    where v_models is null or p.model = any(v_models)
    order by p.model, p.valid_from;
end;
$function$;

comment on function forebay.list_prices is 'The prices that were registered, those of the past and the future too; p_models null means all models.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/list_prices.sql', 'repeatable', '61ab1d0f1fd679944412a47db70259067df003be318644ddfdab6a9f16e755ec', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/list_tasks.sql
create or replace function forebay.list_tasks(
    p_from           timestamptz default null,
    p_to             timestamptz default null,
    p_statuses       text[] default null,
    p_agents         text[] default null,
    p_customers      text[] default null,
    p_batch_id       bigint default null,
    p_before_task_id bigint default null,
    p_limit          integer default 100,
    p_search         text default null,
    p_max_confidence numeric default null
)
    returns setof forebay.task_summary
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- List tasks, newest first, a page at a time: the next page is that before the last id of this one.
--
-- p_search is the number of a task, batch or attempt; a run, launch token or idempotency key, exactly; or part of a customer
-- or of a batch's name (of the latest 1,000 batches that have it). Statuses, agents, customers, batches, times and searches
-- are read by indexes, p_max_confidence below 0.8 if few are so unsure. Read one after the other, newest first, until the page
-- is full, are: tasks of no customer, a search that more than 100 batches and customers have, and what remains of filters
-- that hold together.
--
-- Returns    one row a task, by created_at and id downwards
-- Errors     22023  p_limit is not from 1 to 10,000, a status does not exist, p_max_confidence is not from 0 to 1, or
--                   p_search is too long
--            QF301, QF302  no such agent or batch
-- Called by  forebay_viewer
declare
    v_filter    forebay.task_filter;
    v_before_at timestamptz := timestamptz 'infinity';
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    v_filter := forebay._task_filter(
        p_from, p_to, p_statuses, p_agents, p_customers, p_batch_id, p_search, p_max_confidence
    );
    if p_before_task_id is not null then
        select t.created_at into v_before_at from forebay.tasks as t
        where t.task_id <= p_before_task_id
        order by t.task_id desc
        limit 1;
    end if;
    return query
    select
        t.task_id, t.agent, t.status, t.priority::integer, t.batch_id, t.customer, t.locked_by, t.available_at,
        t.attempt_count, t.attempt_id, a.progress_done, a.progress_total, t.confidence, t.error ->> 'kind', t.created_at,
        t.finished_at, t.reprocess_of, b.name, used.*
    from forebay._page_of_tasks(v_filter, v_before_at, coalesce(p_before_task_id, 9223372036854775807), p_limit) as ids (id)
    inner join forebay.tasks as t on t.task_id = ids.id
    cross join lateral forebay._task_use(t) as used
    left join forebay.task_attempts as a on a.attempt_id = t.attempt_id
    left join forebay.batches as b on b.batch_id = t.batch_id
    order by t.created_at desc, t.task_id desc;
end;
$function$;

comment on function forebay.list_tasks is 'List tasks, newest first, a page at a time: the next page is that before the last id of this one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/list_tasks.sql', 'repeatable', 'c037ac5471324135d6fb379fbab37103e83f51418546fd38de696197c5fbdda3', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/metric_series.sql
create or replace function forebay.metric_series(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null,
    p_step      interval default null
)
    returns setof forebay.metric_point
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Count tasks, and what they used and cost, step by step of when they were created; p_from and p_to are half-open.
--
-- A step is 1, 5 or 15 minutes, 1 or 6 hours, 1 or 7 days (from Monday), in UTC; null is the shortest that gives at most 120
-- points, and from 10 hours on with p_customers at least an hour. An open range begins with the first task and ends
-- with the step of now. The first and the last step end where the range does. Medians and 95th percentiles are those of
-- metrics, at most 2.5 % off or a millisecond.
--
-- Returns    one row a step, in order, those without a task too; none when the range is empty
-- Errors     22023  a status does not exist, p_step is none of these, or there were more than 1,000 points
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_origin constant timestamptz := timestamptz '2000-01-03 00:00:00+00';
    v_from   timestamptz := coalesce(nullif(p_from, '-infinity'), (select min(t.created_at) from forebay.tasks as t));
    v_to     timestamptz := coalesce(nullif(p_to, 'infinity'), forebay._now());
    v_step   interval;
    v_slots  forebay.time_slots[];
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    v_step := forebay._step(v_from, v_to, p_step, p_customers is not null);
    if p_to is null or p_to = 'infinity' then
        v_to := date_bin(v_step, v_to, v_origin) + v_step;
    end if;
    if v_from is null or v_from >= v_to then
        return;
    end if;
    v_slots := forebay._slots(v_from, v_to, array(
        select width.minutes
        from unnest(array[40320, 1440, 60, 15]) as width (minutes)
        where make_interval(mins => width.minutes) <= v_step and (p_customers is null or width.minutes > 15)
        order by width.minutes desc
    ));

    return query select * from forebay._points_of_slots(v_slots, v_from, v_to, v_step, p_statuses, p_agents, p_customers);
end;
$function$;

comment on function forebay.metric_series is 'Count tasks, and what they used and cost, step by step of when they were created; p_from and p_to are half-open.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/metric_series.sql', 'repeatable', '360b9c3ada7574394016cf4b454a4831fa74178fe78b84f1df872bdcedbdcd65', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/metrics.sql
create or replace function forebay.metrics(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null
)
    returns forebay.metrics_report
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Count tasks, and add up what they used, cost and took; p_from and p_to are half-open, on created_at.
--
-- Counts and sums are exact, whatever the range. Times and confidences are of completed tasks: response is from created to
-- finished, run what its attempts ran, queue the rest. Each is that of one task: the median of an even count is the lower of
-- the two in the middle, and at least 95 % are not above p95. They are exact where at most 10,000 tasks were created in the
-- range, else at most 2.5 % off, or a millisecond (confidence: 0.005); is_exact says which. A customer '' is none.
--
-- Returns    one row
-- Errors     22023  a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_from   timestamptz := coalesce(p_from, '-infinity');
    v_to     timestamptz := coalesce(p_to, 'infinity');
    v_slots  forebay.time_slots[];
    v_report forebay.metrics_report;
begin
    perform forebay._require_statuses(p_statuses);
    perform forebay._require_agents(p_agents);
    v_slots := forebay._slots(
        v_from, v_to, case when p_customers is null then array[40320, 1440, 60, 15] else array[40320, 1440, 60] end
    );

    v_report := forebay._report_of_slots(v_slots, p_statuses, p_agents, p_customers);
    v_report.is_exact := forebay._is_small(v_from, v_to);
    if v_report.is_exact then
        v_report := forebay._exact_times(v_report, v_from, v_to, p_statuses, p_agents, p_customers);
    end if;
    v_report.as_of := forebay._now();
    return v_report;
end;
$function$;

comment on function forebay.metrics is 'Count tasks, and add up what they used, cost and took; p_from and p_to are half-open, on created_at.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/metrics.sql', 'repeatable', '6afc9c24fccb74e6a8f76604590f6e163402a7ccfffe49d09d942a6bcab62912', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/monitoring.sql
create or replace function forebay.monitoring()
    returns setof forebay.gauge
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Gauges for a monitoring system: what waits and runs, what limits it, what it costs, and whether the machinery turns.
--
-- It reads what is open or recent, never the history. A metric without a value now has no row.
--
-- Returns    one row a metric and set of labels, rows of a metric together; labels have text values
-- Called by  forebay_viewer
declare
    v_now    timestamptz := forebay._now();
    v_health forebay.health_report := forebay.health();
begin
    return query
    select told.metric, words.help, jsonb_strip_nulls(told.labels), told.value
    from (
        select g.metric, jsonb_build_object('agent', a.agent, 'state', g.state) as labels, g.value
        from forebay.agents as a
        cross join lateral forebay._agent_gauges(a.agent, v_now) as g
        union all
        select limits.metric, jsonb_build_object('quota', l.quota, 'unit', l.unit, 'period', l.period::text), limits.value
        from forebay._quota_limits(array(select q.quota from forebay.quotas as q), v_now) as l
        cross join lateral (
            values
            ('forebay_quota_used', (l.capacity - l.room)::double precision),
            ('forebay_quota_limit', l.effective::double precision)
        ) as limits (metric, value)
        union all
        select
            whole.metric, jsonb_build_object('version', case whole.metric when 'forebay_schema_info' then v_health.schema_version end),
            whole.value::double precision
        from (
            values
            (
                'forebay_dispatchers',
                (select count(*) from forebay.dispatchers as d where d.last_claim_at > v_now - interval '1 minute')::numeric
            ),
            ('forebay_listeners', v_health.listeners),
            ('forebay_claim_age_seconds', extract(epoch from v_now - v_health.last_claim_at)),
            ('forebay_sweep_age_seconds', extract(epoch from v_now - v_health.last_sweep_at)),
            ('forebay_expired_leases', v_health.expired_leases),
            ('forebay_oldest_transaction_seconds', coalesce(extract(epoch from clock_timestamp() - v_health.oldest_transaction_at), 0)),
            ('forebay_notify_queue_ratio', v_health.notify_queue_usage::numeric),
            ('forebay_may_dispatch', v_health.may_dispatch::integer),
            ('forebay_schema_info', 1)
        ) as whole (metric, value)
    ) as told
    inner join forebay._gauge_words() as words on words.metric = told.metric
    where told.value is not null
    order by told.metric, told.labels;
end;
$function$;

comment on function forebay.monitoring is
'Gauges for a monitoring system: what waits and runs, what limits it, what it costs, and whether the machinery turns.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/monitoring.sql', 'repeatable', '3abbed09d8974a74c5494717d6c12608601569fc8facd4debee1c18572ac6af1', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/quota_status.sql
create or replace function forebay.quota_status(p_quotas text[] default null)
    returns setof forebay.quota_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Each limit of the quotas as it stands now: what counts against it, what a call could take, what tasks in flight will use.
--
-- Returns    one row a limit, by quota, unit and period; a quota without limits has one row without a unit
-- Errors     22023  p_quotas holds null
--            QF305  no such quota
-- Called by  forebay_viewer
declare
    v_quotas text[] := p_quotas;
    v_now    timestamptz := forebay._now();
begin
    perform forebay._require_quotas(v_quotas);
    return query
    select s.*
    from forebay.quotas as q
    cross join lateral forebay._quota_state(q.quota, v_now) as s
    where v_quotas is null or q.quota = any(v_quotas)
    order by q.quota, s.unit, s.period;
end;
$function$;

comment on function forebay.quota_status is 'Each limit of the quotas as it stands now: what counts against it, what a call could take, what tasks in flight will use.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/quota_status.sql', 'repeatable', 'e205f16df9581da44fd0004ba2996c4c4b54ad2c056520636a9708592e8acdfb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/schema_version.sql
create or replace function forebay.schema_version()
    returns text
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The release of the schema that is installed, such as 0.1.0; drivers ask it before they start.
--
-- Called by  every role that calls any function
select h.name
from forebay.schema_history as h
where h.kind = 'release'
order by string_to_array(h.name, '.')::integer[] desc
limit 1;
$function$;

comment on function forebay.schema_version is 'The release of the schema that is installed, such as 0.1.0; drivers ask it before they start.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/schema_version.sql', 'repeatable', 'f451f0971e84e14822f60ff1b0e39b4ea6641d73f1114d518675eaec53ede4c4', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/server_time.sql
create or replace function forebay.server_time()
    returns timestamptz
    language sql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The time by the one clock that decides about leases; a driver compares its own with it, to know when to stop by itself.
--
-- Called by  every role that calls any function
select forebay._now();
$function$;

comment on function forebay.server_time is 'The time by the one clock that decides about leases; a driver compares its own with it, to know when to stop by itself.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/server_time.sql', 'repeatable', '0f5e4990a8b04d9c7f4865c6c6617474d0f70ae3750d91abb4cbfdbc808c21bf', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/shared_costs.sql
create or replace function forebay.shared_costs(p_from timestamptz default null, p_to timestamptz default null)
    returns setof forebay.shared_cost
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
as $function$
-- Say what was paid for that no run has to itself, such as warehouses, apps and the database; p_from and p_to are half-open.
--
-- It is in no figure of a task, agent or customer. What models cost may be in it once more, where a bill tells of that:
-- never add it to the cost of calls.
--
-- Returns    one row a source and product, the dearest first
-- Called by  forebay_viewer
begin
    return query
    select u.source, u.product, sum(u.usd), bool_and(u.is_final), min(u.started_at), max(u.ended_at)
    from forebay.compute_usage as u
    where u.product is not null
        and (p_from is null or u.started_at >= p_from)
        and (p_to is null or u.started_at < p_to)
    group by u.source, u.product
    order by sum(u.usd) desc, u.product, u.source;
end;
$function$;

comment on function forebay.shared_costs is
'Say what was paid for that no run has to itself, such as warehouses, apps and the database; p_from and p_to are half-open.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/shared_costs.sql', 'repeatable', '23a7a66880430e204a5d66ba11a76cd6a8470ed01c316d8568ef2a9af0d0ab76', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/table_sizes.sql
create or replace function forebay.table_sizes()
    returns setof forebay.table_size
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- How large each table of the schema is, what of it is dead, and when it was vacuumed by itself.
--
-- Returns    one row a table, largest first; row_estimate is null before the first vacuum or analyze
-- Called by  forebay_viewer
begin
    return query
    select
        c.relname::text, nullif(c.reltuples, -1)::bigint, pg_total_relation_size(c.oid), pg_stat_get_dead_tuples(c.oid),
        pg_stat_get_last_autovacuum_time(c.oid)
    from pg_class as c
    where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'r'
    order by pg_total_relation_size(c.oid) desc, c.relname;
end;
$function$;

comment on function forebay.table_sizes is 'How large each table of the schema is, what of it is dead, and when it was vacuumed by itself.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/table_sizes.sql', 'repeatable', 'b11b9097032ecfd0f7db5e172a32d1788dea555bb95889427a8e69d04f41458b', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/task_counts.sql
create or replace function forebay.task_counts(
    p_from      timestamptz default null,
    p_to        timestamptz default null,
    p_statuses  text[] default null,
    p_agents    text[] default null,
    p_customers text[] default null
)
    returns setof forebay.task_count
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Count tasks by status; p_from and p_to are half-open, on created_at.
--
-- Returns    one row a status that p_statuses lets through, in the order of a task's life, 0 included
-- Errors     22023  a status does not exist
--            QF301  no such agent
-- Called by  forebay_viewer
declare
    v_statuses  text[] := p_statuses;
    v_agents    text[] := p_agents;
    v_customers text[] := p_customers;
begin
    perform forebay._require_statuses(v_statuses);
    perform forebay._require_agents(v_agents);
    return query
    select words.status, count(t.task_id)
    from unnest(array['enqueued', 'processing', 'completed', 'failed', 'cancelled']) with ordinality as words (status, place)
    left join forebay._matching_tasks(p_from, p_to, v_statuses, v_agents, v_customers) as t on t.status = words.status
    where v_statuses is null or words.status = any(v_statuses)
    group by words.status, words.place
    order by words.place;
end;
$function$;

comment on function forebay.task_counts is 'Count tasks by status; p_from and p_to are half-open, on created_at.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/task_counts.sql', 'repeatable', 'f260bbd3778ec11d21ea5d7d38bbdc324d9a5f66d8c35912797cd08b4d2a901c', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/viewer/task_detail.sql
create or replace function forebay.task_detail(p_task_id bigint)
    returns forebay.task_detail
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Everything about a task but its payload and result: its attempts, their usage, and what people did to it.
--
-- Returns    one row; attempts, usage and audit are arrays of objects, oldest first; as_of is when it was read, by the clock
--            of leases; an attempt's usage_source (agent, trace) is that whose calls count, null without a call
-- Errors     22023  p_task_id is null
--            QF303  no such task
-- Called by  forebay_viewer
declare
    v_now    timestamptz := forebay._now();
    v_task   forebay.tasks := forebay._get_task(p_task_id);
    v_detail forebay.task_detail;
begin
    select
        v_task.task_id, v_task.agent, v_task.status, v_task.priority::integer, v_task.batch_id, v_task.customer,
        (select b.owner from forebay.batches as b where b.batch_id = v_task.batch_id),
        v_task.idempotency_key, v_task.estimated_tokens, v_task.max_attempts, v_task.available_at, v_task.locked_by,
        v_task.attempt_id, v_task.attempt_no, v_task.attempt_count, v_task.release_count, v_task.deferral_count,
        v_task.deferred_since, v_task.confidence, v_task.error,
        v_task.reprocess_of,
        array(select t.task_id from forebay.tasks as t where t.reprocess_of = p_task_id order by t.task_id),
        v_task.created_at, v_task.finished_at,
        (
            select coalesce(jsonb_agg(forebay._attempt_document(a) order by a.attempt_no), '[]')
            from forebay.task_attempts as a where a.task_id = p_task_id
        ),
        (
            select coalesce(jsonb_agg(to_jsonb(u) order by a.attempt_no, u.recorded_at, u.call_id), '[]')
            from forebay.task_attempts as a
            inner join forebay.attempt_usage as u on u.attempt_id = a.attempt_id
            where a.task_id = p_task_id
        ),
        (
            select coalesce(jsonb_agg(to_jsonb(l) - '{task_id}'::text[] order by l.audit_id), '[]')
            from forebay.audit_log as l where l.task_id = p_task_id
        ),
        (select b.name from forebay.batches as b where b.batch_id = v_task.batch_id),
        used.input_tokens, used.output_tokens, used.cached_tokens, used.is_known, used.usd, used.is_cost_known,
        case when v_task.costed_attempts > 0 then v_task.compute_usd end, used.run_time, v_now
    into v_detail
    from forebay._task_use(v_task) as used;
    return v_detail;
end;
$function$;

comment on function forebay.task_detail is 'Everything about a task but its payload and result: its attempts, their usage, and what people did to it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/viewer/task_detail.sql', 'repeatable', 'b9efa1460c24917dec4fdcd6609ea0b616cf75b8d07edb55571a7cfb92bc61db', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/reader/read_batch_explanations.sql
create or replace function forebay.read_batch_explanations(p_batch_id bigint, p_task_ids bigint[])
    returns setof forebay.task_explanation
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say why tasks of anybody's batch wait, as batch_explanations does for its owner.
--
-- Returns    one row for each of p_task_ids that is in the batch and waits, by id
-- Errors     22023  an argument is null, or p_task_ids has more than 200 ids
--            QF302  no such batch
-- Called by  forebay_reader
begin
    perform forebay._get_batch(p_batch_id);
    return query select * from forebay._batch_explanations(p_batch_id, p_task_ids);
end;
$function$;

comment on function forebay.read_batch_explanations is 'Say why tasks of anybody''s batch wait, as batch_explanations does for its owner.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/reader/read_batch_explanations.sql', 'repeatable', '7b9d0d8156fe6cf4af032930bd1f0b84bfa5ceaaf40875f0bc8da8e9b527c715', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/reader/read_batch_outlook.sql
create or replace function forebay.read_batch_outlook(p_batch_id bigint)
    returns forebay.batch_outlook
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- How far anybody's batch has come, as batch_outlook says to its owner.
--
-- Returns    one row
-- Errors     22023  p_batch_id is null
--            QF302  no such batch
-- Called by  forebay_reader
begin
    return forebay._batch_outlook(forebay._get_batch(p_batch_id));
end;
$function$;

comment on function forebay.read_batch_outlook is 'How far anybody''s batch has come, as batch_outlook says to its owner.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/reader/read_batch_outlook.sql', 'repeatable', '5f68442f9ef6a04cdb6f6c2abb94089dabd3779d996013d82ba4e07b11ac0690', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/reader/read_batch_results.sql
create or replace function forebay.read_batch_results(
    p_batch_id      bigint,
    p_task_ids      bigint[] default null,
    p_after_task_id bigint default null,
    p_limit         integer default 1000
)
    returns setof forebay.batch_result
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List what went into the tasks of anybody's batch and what came out, as batch_results does for its owner.
--
-- Returns    one row a task, by id
-- Errors     22023  p_batch_id is null, or p_limit is not from 1 to 1,000
--            QF302  no such batch
-- Called by  forebay_reader
begin
    perform forebay._get_batch(p_batch_id);
    return query select * from forebay._batch_results(p_batch_id, p_task_ids, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.read_batch_results is 'List what went into the tasks of anybody''s batch and what came out, as batch_results does for its owner.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/reader/read_batch_results.sql', 'repeatable', 'e472ff910e95ddbaca28ea2b6dc55a425d3988b7961e35715813e28c3a88f053', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/reader/read_batch_tasks.sql
create or replace function forebay.read_batch_tasks(
    p_batch_id      bigint,
    p_statuses      text[] default null,
    p_after_task_id bigint default null,
    p_limit         integer default 10000
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List the tasks of anybody's batch, as batch_tasks does for its owner.
--
-- Returns    one row a task, by id
-- Errors     22023  p_batch_id is null, a status does not exist, or p_limit is not from 1 to 10,000
--            QF302  no such batch
-- Called by  forebay_reader
begin
    perform forebay._get_batch(p_batch_id);
    return query select * from forebay._batch_tasks(p_batch_id, p_statuses, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.read_batch_tasks is 'List the tasks of anybody''s batch, as batch_tasks does for its owner.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/reader/read_batch_tasks.sql', 'repeatable', 'ccda7d8e9dbb55b2cb0a68f83dbc3f7bf9aed0baf11c70b82ee3257e9d3d7121', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/reader/read_batch_tasks_by_confidence.sql
create or replace function forebay.read_batch_tasks_by_confidence(
    p_batch_id      bigint,
    p_after_task_id bigint default null,
    p_limit         integer default 10000
)
    returns setof forebay.batch_task
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- List the completed tasks of anybody's batch, the least sure first, as batch_tasks_by_confidence does for its owner.
--
-- Returns    one row a completed task, by confidence (null comes last), then by id
-- Errors     22023  p_batch_id is null, or p_limit is not from 1 to 10,000
--            QF302  no such batch
--            QF303  p_after_task_id is no completed task of the batch
-- Called by  forebay_reader
begin
    perform forebay._get_batch(p_batch_id);
    return query select * from forebay._batch_tasks_by_confidence(p_batch_id, p_after_task_id, p_limit);
end;
$function$;

comment on function forebay.read_batch_tasks_by_confidence is
'List the completed tasks of anybody''s batch, the least sure first, as batch_tasks_by_confidence does for its owner.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/reader/read_batch_tasks_by_confidence.sql', 'repeatable', '8d277786b738d68d22593a7699ad069502a8ebcae74cc0a0ea70ec0995cd4b6e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/reader/task_result.sql
create or replace function forebay.task_result(p_task_id bigint)
    returns forebay.task_result
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- What went into a task and what came out of it, with the results of other attempts that were kept for audit.
--
-- Returns    one row; kept_results is an array of objects with attempt_id, result and confidence
-- Errors     22023  p_task_id is null
--            QF303  no such task
-- Called by  forebay_reader
declare
    v_task   forebay.tasks := forebay._get_task(p_task_id);
    v_result forebay.task_result;
begin
    select
        v_task.task_id, v_task.status, v_task.payload, v_task.result, v_task.confidence, v_task.error,
        (
            select coalesce(jsonb_agg(
                jsonb_build_object('attempt_id', a.attempt_id, 'result', a.result, 'confidence', a.confidence)
                order by a.attempt_no
            ), '[]')
            from forebay.task_attempts as a where a.task_id = p_task_id and a.result is not null
        )
    into v_result;
    return v_result;
end;
$function$;

comment on function forebay.task_result is 'What went into a task and what came out of it, with the results of other attempts that were kept for audit.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/reader/task_result.sql', 'repeatable', 'c6d7748297226f79a170d35090dbb52466db5d9abb59128fcf53ca2214c2810f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/announcement_sent.sql
create or replace function forebay.announcement_sent(p_announcement_id uuid, p_error text default null)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say that an announcement was sent, or why not (p_error): then it is handed out again, after 10 seconds at first and twice as long each time.
--
-- The wait grows to an hour. A day after it was noted it is given up. What is settled stays so.
--
-- Returns    sent, waiting (it will be handed out again), given_up, or unknown
-- Writes     forebay.announcements
-- Locks      the announcement
-- Errors     22023  p_announcement_id is null
-- Called by  forebay_upkeep
declare
    v_now    timestamptz;
    v_answer forebay.announcements;
begin
    if p_announcement_id is null then
        raise exception 'p_announcement_id must not be null' using errcode = '22023';
    end if;
    select n.* into v_answer from forebay.announcements as n
    where n.announcement_id = p_announcement_id
    for no key update;
    if not found then
        return 'unknown';
    end if;
    v_now := forebay._now();
    if v_answer.settled_at is null then
        update forebay.announcements as n
        set last_error = left(p_error, 2000),
            next_try_at = v_now + least(interval '1 hour', interval '10 seconds' * 2 ^ least(greatest(n.tries, 1) - 1, 10)),
            settled_at = case when p_error is null or n.created_at <= v_now - interval '1 day' then v_now end
        where n.announcement_id = p_announcement_id
        returning n.* into v_answer;
    end if;
    return case
        when v_answer.settled_at is null then 'waiting' when v_answer.last_error is null then 'sent' else 'given_up'
    end;
end;
$function$;

comment on function forebay.announcement_sent is
'Say that an announcement was sent, or why not (p_error): then it is handed out again, after 10 seconds at first and twice as long each time.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/announcement_sent.sql', 'repeatable', '71814fcc26c23e6d73baee4ab203d5cacc8e20d1d29e3eed22461ddec89c6e19', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/attempts_to_cost.sql
create or replace function forebay.attempts_to_cost(p_limit integer default 1000)
    returns setof forebay.attempt_to_cost
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set enable_seqscan = off
as $function$
-- List ended attempts whose machine no source has told the cost of, those that ended first before the others.
--
-- Returns    at most p_limit rows; an attempt ran from started_at to finished_at
-- Errors     22023  p_limit is not from 1 to 10,000
-- Called by  forebay_upkeep
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    return query
    select a.attempt_id, a.task_id, a.agent, a.launcher, a.run_id, a.started_at, a.finished_at
    from forebay.task_attempts as a
    where a.finished_at is not null and a.compute_usd is null
    order by a.finished_at, a.attempt_id
    limit p_limit;
end;
$function$;

comment on function forebay.attempts_to_cost is 'List ended attempts whose machine no source has told the cost of, those that ended first before the others.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/attempts_to_cost.sql', 'repeatable', '5b9c55d98cda530d2cc8ba49c07a45bb2411b81068506562111e4ac8e76a00a8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/attempts_to_trace.sql
create or replace function forebay.attempts_to_trace(p_limit integer default 100)
    returns setof forebay.attempt_to_trace
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
    set jit = off
as $function$
-- Hand out ended attempts whose traces are to be looked for now: commit, look, and call record_traces for each.
--
-- One that is not recorded within two minutes is handed out again, to whoever asks. The first time that anybody asks, those
-- are meant that ended within seven days. One that was given back before any call has no traces. In a copy that nobody has
-- opened there is nothing to look for.
--
-- Returns    at most p_limit rows, in the order that they are due; an attempt ran from started_at to finished_at
-- Writes     forebay.attempt_traces
-- Locks      those of the rows that it hands out, skipping what somebody else holds
-- Errors     22023  p_limit is not from 1 to 10,000
-- Called by  forebay_upkeep
declare
    v_now   timestamptz := forebay._now();
    v_since timestamptz;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if not forebay._may_dispatch() then
        return;
    end if;
    -- Whoever ended an attempt may have committed after others that ended a little later.
    select coalesce(max(t.ended_at) - interval '15 minutes', v_now - interval '7 days') into v_since
    from forebay.attempt_traces as t;
    insert into forebay.attempt_traces (attempt_id, ended_at, next_look_at)
    select a.attempt_id, a.finished_at, v_now
    from forebay.task_attempts as a
    where a.finished_at >= v_since and not (a.status = 'released' and a.used_calls = 0)
        and not exists (select from forebay.attempt_traces as t where t.attempt_id = a.attempt_id)
    order by a.finished_at, a.attempt_id
    limit p_limit
    on conflict do nothing;

    return query
    with due as (
        select t.attempt_id, t.next_look_at from forebay.attempt_traces as t
        where t.next_look_at <= v_now
        order by t.next_look_at, t.attempt_id
        limit p_limit
        for no key update skip locked
    ), leased as (
        update forebay.attempt_traces as t
        set next_look_at = v_now + interval '2 minutes'
        from due as d
        where t.attempt_id = d.attempt_id
        returning t.attempt_id, d.next_look_at as due_at
    )
    select
        a.attempt_id, a.task_id, encode(sha256(convert_to(a.launch_token, 'UTF8')), 'hex'), a.trace_id, a.started_at,
        a.finished_at
    from leased as l
    inner join forebay.task_attempts as a on a.attempt_id = l.attempt_id
    order by l.due_at, a.attempt_id;
end;
$function$;

comment on function forebay.attempts_to_trace is
'Hand out ended attempts whose traces are to be looked for now: commit, look, and call record_traces for each.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/attempts_to_trace.sql', 'repeatable', '529dc463713f78fb1b09f540a4287137f6975400bd5ed7d3c516072f048fb9a6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/begin_bill.sql
create or replace function forebay.begin_bill(p_source text default 'billing', p_overlap interval default '3 days')
    returns forebay.bill_reading
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say which rows of a bill are to be read: those that came since it was read last, and for p_overlap before.
--
-- When it was never read, those since the first run that a launcher outside the driver started. Having recorded all of
-- them, call record_compute_usage with began_at as p_as_of; until then pass a time of before.
--
-- Returns    one row; day, in UTC, is null when there is no run that a bill may tell of
-- Errors     22023  p_source has not 1 to 200 characters, or p_overlap is null or negative
-- Called by  forebay_upkeep
declare
    v_now     timestamptz := forebay._now();
    v_reading forebay.bill_reading;
begin
    if p_source is null or char_length(p_source) not between 1 and 200 then
        raise exception 'p_source must have 1 to 200 characters' using errcode = '22023';
    end if;
    if p_overlap is null or p_overlap < interval '0' then
        raise exception 'p_overlap must not be negative' using errcode = '22023';
    end if;
    select forebay._utc_day(min(a.started_at) - p_overlap) into v_reading.day
    from forebay.task_attempts as a
    where a.run_id is not null and forebay._is_external(a.launcher);
    v_reading.day := greatest(v_reading.day, (
        select forebay._utc_day(least(s.as_of, v_now) - p_overlap)
        from forebay.compute_sources as s
        where s.source = p_source and v_reading.day is not null
    ));
    v_reading.began_at := v_now;
    v_reading.settled_until := v_now - (forebay._limits()).billing_latency;
    return v_reading;
end;
$function$;

comment on function forebay.begin_bill is 'Say which rows of a bill are to be read: those that came since it was read last, and for p_overlap before.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/begin_bill.sql', 'repeatable', 'fa4c50b41034179b2da3f571970b18303ff39534b8babfd1e6bb2b59d897ffe9', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/begin_branch.sql
create or replace function forebay.begin_branch(p_name text, p_actor text default null)
    returns forebay.branch_state
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Make a copy a branch of its own: with a new installation_id, every agent paused, and no claim on what runs elsewhere.
--
-- Call it in a copy of what prepare_branch was called in, then mask_data until it is complete. Tasks that were running are
-- back in line; their runs go on where they came from, and nothing here will ever stop them. Dispatchers and announcements are forgotten. What is
-- enqueued here gets ids that are far from those of the original, so that traces and bills never mix. Again in a branch that was begun it changes nothing.
--
-- Returns    one row
-- Writes     forebay.installation, forebay.agents, forebay.tasks, forebay.task_attempts, forebay.audit_log, and the
--            sequences of ids; deletes from forebay.dispatchers, launcher_faults, announcements, announcement_marks
-- Locks      the installation, the agents, by name, then the tasks that run, by id, and their attempts
-- Errors     22023  p_name is null, empty or longer than 200 characters
--            42501  the login may not act as forebay_owner
--            QF405  this database is no copy of what prepare_branch was called in
-- Called by  forebay_upkeep
declare
    v_installation forebay.installation;
    v_state        text;
begin
    perform forebay._require_owner();
    if p_name is null or char_length(p_name) not between 1 and 200 then
        raise exception 'p_name must have 1 to 200 characters' using errcode = '22023';
    end if;
    select i.* into v_installation from forebay.installation as i for no key update;
    v_state := forebay._branch_state(v_installation);
    if v_state = 'original' then
        raise exception 'this database is no copy' using errcode = 'QF405',
            hint = 'Call forebay.prepare_branch in the original, make the copy, and call this in the copy.';
    end if;
    if v_state <> 'copy' then
        return forebay.branch_state();
    end if;

    update forebay.installation as i
    set installation_id = gen_random_uuid(), system_identifier = forebay._cluster(), home = forebay._here(),
        is_branch = true, opened_in = null, opened_home = null, branch_name = p_name,
        branch_of = v_installation.installation_id, branched_at = forebay._now(),
        mask_step = null, mask_after = null, masked_at = null;
    perform forebay._pause(null, 'infinity', 'this is a branch', p_actor);
    perform forebay._disown_attempts();
    perform forebay._move_ids();
    delete from forebay.dispatchers;
    delete from forebay.launcher_faults;
    delete from forebay.announcements;
    delete from forebay.announcement_marks;
    return forebay.branch_state();
end;
$function$;

comment on function forebay.begin_branch is
'Make a copy a branch of its own: with a new installation_id, every agent paused, and no claim on what runs elsewhere.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/begin_branch.sql', 'repeatable', '11b5913bc05b7e010fdd10097f793114c0d3e16c83c2682d667e13f0d34148d6', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/branch_state.sql
create or replace function forebay.branch_state()
    returns forebay.branch_state
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say whether this database is a branch, of what, and whether it is finished.
--
-- Returns    one row
-- Called by  forebay_upkeep
declare
    v_installation forebay.installation := forebay._limits();
begin
    return (
        v_installation.installation_id, forebay._branch_state(v_installation), v_installation.branch_name,
        v_installation.branch_of, v_installation.branched_at, v_installation.masked_at
    )::forebay.branch_state;
end;
$function$;

comment on function forebay.branch_state is 'Say whether this database is a branch, of what, and whether it is finished.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/branch_state.sql', 'repeatable', 'c563303ff0716d601ea51bb7ccd7a9501dd08d99653022c68498ee11e5c465e8', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/collect_announcements.sql
create or replace function forebay.collect_announcements(
    p_oldest_waiting interval default '15 minutes',
    p_limit          integer default 100
)
    returns setof forebay.announcement
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Hand out what has to be told and nobody is telling: commit, send each, and call announcement_sent.
--
-- Told once each, when it begins: agent.paused, waiting.too_long (the oldest task of an agent waits for longer than
-- p_oldest_waiting), spend_cap.reached (of an agent or a customer, on a day) and batch.done (each time a batch gets done).
-- Pauses that a provider asks for within 5 minutes of one another are told as one. What is not called sent within a minute is
-- handed out again, to whoever asks; so the receiver has to know it by its id. In a copy that nobody has opened there is nothing
-- to tell.
--
-- Returns    one row an announcement, oldest first
-- Writes     forebay.announcements, forebay.announcement_marks
-- Locks      the announcements, skipping what somebody else holds
-- Errors     22023  p_oldest_waiting is null or not above 0, or p_limit is not from 1 to 1,000
--            25001  the transaction is not READ COMMITTED
-- Called by  forebay_upkeep
declare
    v_now timestamptz;
begin
    if p_oldest_waiting is null or p_oldest_waiting <= interval '0' then
        raise exception 'p_oldest_waiting must be above 0' using errcode = '22023';
    end if;
    perform forebay._require_between(p_limit, 'p_limit', 1, 1000);
    perform forebay._require_read_committed('collect_announcements');
    if not forebay._may_dispatch() then
        return;
    end if;
    perform forebay._note_announcements(forebay._exact(p_oldest_waiting));
    v_now := forebay._now();
    return query
    with leased as (
        update forebay.announcements as n
        set tries = n.tries + 1, next_try_at = v_now + interval '1 minute'
        where n.announcement_id in (
            select d.announcement_id from forebay.announcements as d
            where d.settled_at is null and d.next_try_at <= v_now
            order by d.next_try_at, d.announcement_id
            limit p_limit
            for no key update skip locked
        )
        returning n.*
    )
    select l.announcement_id, l.kind, l.subject, l.details, l.occurred_at, l.tries
    from leased as l
    order by l.occurred_at, l.announcement_id;
end;
$function$;

comment on function forebay.collect_announcements is
'Hand out what has to be told and nobody is telling: commit, send each, and call announcement_sent.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/collect_announcements.sql', 'repeatable', '87b2de5bd6dda0ada9d159285409053201a800529b03ab170f1bfa40e621ddca', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/list_clones.sql
create or replace function forebay.list_clones(p_mark text)
    returns setof forebay.clone
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Name the databases beside this one whose name begins with p_mark: those that forebay branch may have made of it.
--
-- Returns    one row a database, by name
-- Errors     22023  p_mark is null or empty
-- Called by  forebay_upkeep
begin
    if p_mark is null or p_mark = '' then
        raise exception 'p_mark must not be empty' using errcode = '22023';
    end if;
    return query
    select d.datname::text from pg_database as d
    where starts_with(d.datname::text, p_mark) and d.datname <> current_database()
    order by d.datname;
end;
$function$;

comment on function forebay.list_clones is
'Name the databases beside this one whose name begins with p_mark: those that forebay branch may have made of it.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/list_clones.sql', 'repeatable', '233451e9f4b009c8074cc87fd3dbb4cc30ed355e157dd6a6bd076bbd56ea0ce1', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/mask_data.sql
create or replace function forebay.mask_data(p_limit integer default 5000, p_force boolean default false)
    returns forebay.mask_state
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Blank for good the next rows of what tasks are about and whom they are for, in a branch; call it until it is complete.
--
-- Payloads, results, texts of errors, notes and reasons, idempotency keys, and names of documents, batches and people go;
-- a customer, a person and a worker each get one made-up name everywhere. What stays: docs/operating.md. Each call is a
-- transaction of at most p_limit rows a table, and goes on where the last one ended, whoever made it. After the last one the
-- next call begins anew, and blanks what was written since. p_force: also in what is no branch, and in one that is open, where
-- claims that are held keep what they need. Vacuum afterwards: until then the old rows lie in the tables' files.
--
-- Returns    one row: the part that it got to, null when everything is masked
-- Writes     every table with such data
-- Locks      the installation, then the rows of each part, by id
-- Errors     22023  p_limit is not from 1 to 100,000, or p_force is null
--            42501  p_force, and the login may not act as forebay_owner
--            QF405  this database is no branch, or an open one, and p_force is false
-- Called by  forebay_upkeep
declare
    v_parts        constant text[] := array['batches', 'tasks', 'attempts', 'uploads', 'audit', 'spending', 'rest'];
    v_installation forebay.installation;
    v_step         integer;
    v_after        text;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 100000);
    if p_force is null then
        raise exception 'p_force must not be null' using errcode = '22023';
    end if;
    select i.* into v_installation from forebay.installation as i for no key update;
    if p_force then
        perform forebay._require_owner();
    elsif forebay._branch_state(v_installation) not in ('unfinished', 'closed') then
        raise exception 'this database is %', case forebay._branch_state(v_installation)
            when 'open' then 'a branch that somebody has opened' else 'no branch' end
            using errcode = 'QF405', hint = 'Masking cannot be undone. forebay.mask_data(p_force => true) does it all the same.';
    end if;

    v_step := coalesce(v_installation.mask_step, 1);
    v_after := v_installation.mask_after;
    while v_step <= cardinality(v_parts) loop
        v_after := case v_parts[v_step]
            when 'batches' then forebay._mask_batches(v_after, p_limit)
            when 'tasks' then forebay._mask_tasks(v_after, p_limit)
            when 'attempts' then forebay._mask_attempts(v_after, p_limit)
            when 'uploads' then forebay._mask_uploads(v_after, p_limit)
            when 'audit' then forebay._mask_audit(v_after, p_limit)
            when 'spending' then forebay._mask_spending(v_after, p_limit)
            when 'rest' then forebay._mask_rest()
        end;
        exit when v_after is not null;
        v_step := v_step + 1;
    end loop;

    if v_step <= cardinality(v_parts) then
        update forebay.installation as i set mask_step = v_step, mask_after = v_after;
        return (v_parts[v_step], false)::forebay.mask_state;
    end if;
    update forebay.installation as i set mask_step = null, mask_after = null, masked_at = forebay._now();
    return (null, true)::forebay.mask_state;
end;
$function$;

comment on function forebay.mask_data is 'Blank for good the next rows of what tasks are about and whom they are for, in a branch; call it until it is complete.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/mask_data.sql', 'repeatable', '95bc984c878c311dad19ce46b29ce88f24f096bdbe40838aabafe87882826d55', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/prepare_branch.sql
create or replace function forebay.prepare_branch(p_name text, p_actor text default null)
    returns uuid
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Note, before a branch is made of this database, where this one is at home: the copy then knows from its first moment that it is one.
--
-- Returns    the installation_id, which the copy has too until begin_branch
-- Writes     forebay.installation, forebay.audit_log
-- Errors     22023  p_name is null, empty or longer than 200 characters
--            42501  the login may not act as forebay_owner
-- Called by  forebay_upkeep
declare
    v_id uuid;
begin
    perform forebay._require_owner();
    if p_name is null or char_length(p_name) not between 1 and 200 then
        raise exception 'p_name must have 1 to 200 characters' using errcode = '22023';
    end if;
    update forebay.installation as i set home = forebay._here()
    where not forebay._is_copy(i) and (i.home is null or strpos(i.home, ' ') = 0);
    update forebay.installation as i set opened_home = forebay._here()
    where i.opened_in = forebay._cluster() and forebay._is_here(i.opened_home)
        and (i.opened_home is null or strpos(i.opened_home, ' ') = 0);
    perform forebay._audit('create_branch', null, null, null, p_actor, jsonb_build_object('name', p_name));
    select i.installation_id into v_id from forebay.installation as i;
    return v_id;
end;
$function$;

comment on function forebay.prepare_branch is
'Note, before a branch is made of this database, where this one is at home: the copy then knows from its first moment that it is one.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/prepare_branch.sql', 'repeatable', '3a2c8fe366614609d9c1eb838c31298292e4599317958ddb729c4f67e00e79b2', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/record_compute_usage.sql
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
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/record_compute_usage.sql', 'repeatable', 'ba48b538b8df078cdb33d125d354a628569c9d91d6b102c074e7cedb8e2f48a1', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/record_traces.sql
create or replace function forebay.record_traces(
    p_attempt_id bigint,
    p_calls      jsonb,
    p_traces     integer default 0,
    p_is_whole   boolean default false,
    p_rollups    text[] default null
)
    returns text
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Record what a look for an attempt's traces found, and say whether it goes on: found, partial, awaited or missing.
--
-- p_calls are calls as report_usage takes them; their source is trace. p_traces says how many traces there were, p_is_whole
-- that all of them had ended and were read to their end. p_rollups (null: none) are ids of calls that are only sums of others: what was
-- recorded of them is dropped. Traces are found when they also tell of as many calls as the attempt itself, and of one at least: a
-- trace may be stored without what is in it. Else there are more looks, with longer and longer waits, and at last none. The
-- same look again changes nothing that was used.
--
-- Returns    one word; missing: nothing came and nobody looks any more
-- Writes     forebay.attempt_traces, and what report_usage writes
-- Locks      the task, then its attempts, by id, then the row of attempt_traces
-- Errors     22023  p_attempt_id, p_calls, p_traces or p_is_whole is null, p_traces is negative, or a call is bad; nothing is recorded then
--            QF304  there is no such attempt
-- Called by  forebay_upkeep
declare
    v_attempt forebay.task_attempts;
    v_traces  forebay.attempt_traces;
    v_now     timestamptz;
begin
    if p_traces is null or p_traces < 0 or p_is_whole is null then
        raise exception 'p_traces must not be null or negative, nor p_is_whole null' using errcode = '22023';
    end if;
    if jsonb_typeof(p_calls) is distinct from 'array' then
        raise exception 'p_calls must be a JSON array' using errcode = '22023';
    end if;
    v_attempt := (forebay._lock_attempt(p_attempt_id)).attempt;
    perform forebay._drop_rollups(p_attempt_id, p_rollups);
    perform forebay.report_usage(p_attempt_id, (
        select coalesce(jsonb_agg(c.value || '{"source": "trace"}' order by c.ordinality), '[]')
        from jsonb_array_elements(p_calls) with ordinality as c
    ));
    v_attempt := forebay._get_attempt(p_attempt_id);
    v_now := forebay._now();

    insert into forebay.attempt_traces as t (attempt_id, ended_at, looks, traces, is_whole)
    values (
        p_attempt_id, coalesce(v_attempt.finished_at, v_now), 1, p_traces,
        p_is_whole and p_traces > 0
        and forebay._known_calls(p_attempt_id, 'trace') >= greatest(1, forebay._known_calls(p_attempt_id, 'agent'))
    )
    on conflict (attempt_id) do update set
        looks = t.looks + 1, traces = greatest(t.traces, excluded.traces), is_whole = t.is_whole or excluded.is_whole
    returning t.* into v_traces;
    if not v_traces.is_whole then
        v_traces.next_look_at := v_now + forebay._trace_wait(
            v_traces.looks, v_traces.traces > 0 or v_attempt.trace_id is not null or not v_attempt.is_usage_known
        );
    else
        v_traces.next_look_at := null;
    end if;
    update forebay.attempt_traces as t
    set next_look_at = v_traces.next_look_at
    where t.attempt_id = p_attempt_id;
    return forebay._trace_state(v_traces);
end;
$function$;

comment on function forebay.record_traces is
'Record what a look for an attempt''s traces found, and say whether it goes on: found, partial, awaited or missing.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/record_traces.sql', 'repeatable', '5b18e0c2a1b0ebfce493c5ab703550e4bc2ebb901d49f723bae77b2ebe21bb7f', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/runs_to_bill.sql
create or replace function forebay.runs_to_bill(
    p_run_ids          text[] default null,
    p_source           text default 'billing',
    p_after_attempt_id bigint default 0,
    p_limit            integer default 1000
)
    returns setof forebay.run_to_bill
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_custom_plan
    set enable_seqscan = off
as $function$
-- List runs that a bill may tell of: ours among p_run_ids, or (null) those of which it told before, and may still change.
--
-- Only runs that a launcher outside the driver started. One that several attempts have recorded belongs to the latest of
-- them. Who has read its rows records all of them, those of before too.
--
-- Returns    at most p_limit rows, by attempt, after p_after_attempt_id
-- Errors     22023  p_source or p_after_attempt_id is null, or p_limit is not from 1 to 10,000
-- Called by  forebay_upkeep
declare
    v_settled_until timestamptz := forebay._now() - (forebay._limits()).billing_latency;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if p_source is null or p_after_attempt_id is null then
        raise exception 'p_source and p_after_attempt_id must be given' using errcode = '22023';
    end if;
    return query
    select a.attempt_id, a.run_id, a.started_at, a.finished_at, coalesce(a.finished_at <= v_settled_until, false)
    from forebay.task_attempts as a
    where a.attempt_id > p_after_attempt_id and forebay._is_external(a.launcher)
        and (
            p_run_ids is not null and a.run_id = any(p_run_ids)
            or p_run_ids is null and a.run_id is not null and a.attempt_id in (
                select u.attempt_id from forebay.compute_usage as u
                where u.source = p_source and not u.is_final and u.attempt_id > p_after_attempt_id
            )
        )
        and not exists (
            select from forebay.task_attempts as later
            where later.run_id = a.run_id and later.attempt_id > a.attempt_id and forebay._is_external(later.launcher)
        )
    order by a.attempt_id
    limit p_limit;
end;
$function$;

comment on function forebay.runs_to_bill is
'List runs that a bill may tell of: ours among p_run_ids, or (null) those of which it told before, and may still change.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/runs_to_bill.sql', 'repeatable', 'cb6ef26b4b003701140bcd5282d0c5648492b648693eeed63fc992939c0c3f63', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/uploads_cleaned.sql
create or replace function forebay.uploads_cleaned(p_upload_ids uuid[])
    returns integer
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Take note that the storage is rid of what uploads_to_clean named, and return of how many uploads.
--
-- A task that was retried meanwhile leaves something anew: its upload comes again when it has ended.
--
-- Writes     forebay.uploads
-- Locks      the uploads, by id
-- Errors     22023  p_upload_ids is null
-- Called by  forebay_upkeep
declare
    v_cleaned integer;
begin
    if p_upload_ids is null then
        raise exception 'p_upload_ids must not be null' using errcode = '22023';
    end if;
    perform 1 from forebay.uploads as u
    where u.upload_id = any(p_upload_ids)
    order by u.upload_id
    for no key update;

    update forebay.uploads as u
    set cleaned_at = forebay._now()
    where u.upload_id = any(p_upload_ids) and u.cleaned_at is null and (
        u.dropped_at is not null
        or exists (select from forebay.tasks as t where t.task_id = u.task_id and t.finished_at is not null)
    );
    get diagnostics v_cleaned = row_count;
    return v_cleaned;
end;
$function$;

comment on function forebay.uploads_cleaned is 'Take note that the storage is rid of what uploads_to_clean named, and return of how many uploads.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/uploads_cleaned.sql', 'repeatable', '6c6bbe7042d47269d10ff8db3d85f74edb18abf747a52464ee04e842d204d048', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new functions/upkeep/uploads_to_clean.sql
create or replace function forebay.uploads_to_clean(p_older_than interval, p_limit integer default 100)
    returns setof forebay.upload_to_clean
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say what the storage still holds of uploads and is not needed any more.
--
-- A file that was not submitted within p_older_than is dropped by this call, so that nobody can submit it any more; commit,
-- remove it, and call uploads_cleaned. Until then it comes again. Of a task that ended so long ago what is left beside its
-- document may go; the document stays. In a copy that nobody has opened nothing may go: the files are the original's.
--
-- Returns    one row an upload, at most p_limit of each kind, the oldest first; what is file or leftovers
-- Writes     forebay.uploads
-- Locks      the uploads that it drops; it skips those that somebody else holds
-- Errors     22023  p_older_than is null or negative, or p_limit is not from 1 to 10,000
-- Called by  forebay_upkeep
declare
    v_now    timestamptz := forebay._now();
    v_before timestamptz := v_now - p_older_than;
begin
    if p_older_than is null or p_older_than < interval '0' then
        raise exception 'p_older_than must not be null or negative' using errcode = '22023';
    end if;
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    if not forebay._may_dispatch() then
        return;
    end if;
    return query
    with stale as (
        select u.upload_id, u.opened_at from forebay.uploads as u
        where u.task_id is null and u.cleaned_at is null and u.opened_at <= v_before
        order by u.opened_at, u.upload_id
        limit p_limit
        for no key update skip locked
    ),
    dropped as (
        update forebay.uploads as u
        set dropped_at = coalesce(u.dropped_at, v_now)
        from stale as s
        where u.upload_id = s.upload_id
        returning u.upload_id, u.document, s.opened_at
    )
    select d.upload_id, d.document, 'file' from dropped as d order by d.opened_at, d.upload_id;

    return query
    select u.upload_id, u.document, 'leftovers'
    from forebay.uploads as u
    inner join forebay.tasks as t on t.task_id = u.task_id
    where u.task_id is not null and u.cleaned_at is null and t.finished_at <= v_before
    order by u.task_id
    limit p_limit;
end;
$function$;

comment on function forebay.uploads_to_clean is 'Say what the storage still holds of uploads and is not needed any more.';
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('functions/upkeep/uploads_to_clean.sql', 'repeatable', '3d459fd42d2e41637d97ae04d8fe767f6160576b71263e9ce7ed9ce4270bd3fb', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new triggers/agents.sql
-- The trigger of forebay.agents: a new limit or the end of a pause can let something start.

create or replace function forebay._notify_of_agents()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Wake dispatchers and dashboards when an agent changed.
begin
    perform 1 from new_rows;
    if found then
        perform forebay._ask_wakeup(true);
    end if;
    return null;
end;
$function$;

comment on function forebay._notify_of_agents is 'Wake dispatchers and dashboards when an agent changed.';

create or replace trigger agents_notify_insert
after insert on forebay.agents
referencing new table as new_rows
for each statement
execute function forebay._notify_of_agents();

create or replace trigger agents_notify_update
after update on forebay.agents
referencing new table as new_rows
for each statement
execute function forebay._notify_of_agents();
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('triggers/agents.sql', 'repeatable', 'f3e88d9f6e055f86fa97342ee967bb70c2be612210f072a77ac7aa25bbb18c91', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new triggers/task_attempts.sql
-- The trigger of forebay.task_attempts: what attempts used is added up on their task.

create or replace function forebay._add_to_task()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add to the task what changed in what its attempt used, cost and ran; whoever changes that holds the task.
declare
    v_is_ended   integer := (new.finished_at is not null)::integer;
    v_was_ended  integer := (old.finished_at is not null)::integer;
    v_is_unused  boolean := new.status = 'released' and new.used_calls = 0;
    v_was_unused boolean := old.status = 'released' and old.used_calls = 0;
begin
    update forebay.tasks as t
    set used_input_tokens = t.used_input_tokens + new.used_input_tokens - old.used_input_tokens,
        used_output_tokens = t.used_output_tokens + new.used_output_tokens - old.used_output_tokens,
        used_cached_tokens = t.used_cached_tokens + new.used_cached_tokens - old.used_cached_tokens,
        cost_usd = t.cost_usd + coalesce(new.cost_usd, 0) - coalesce(old.cost_usd, 0),
        compute_usd = t.compute_usd + coalesce(new.compute_usd, 0) - coalesce(old.compute_usd, 0),
        ended_attempts = t.ended_attempts + v_is_ended - v_was_ended,
        measured_attempts = t.measured_attempts
            + v_is_ended * (new.is_usage_known or v_is_unused)::integer
            - v_was_ended * (old.is_usage_known or v_was_unused)::integer,
        priced_attempts = t.priced_attempts
            + v_is_ended * (new.is_cost_known or v_is_unused)::integer
            - v_was_ended * (old.is_cost_known or v_was_unused)::integer,
        costed_attempts = t.costed_attempts
            + v_is_ended * (new.compute_usd is not null)::integer - v_was_ended * (old.compute_usd is not null)::integer,
        provisional_attempts = t.provisional_attempts
            + v_is_ended * (new.compute_usd is not null and not new.is_compute_final)::integer
            - v_was_ended * (old.compute_usd is not null and not old.is_compute_final)::integer,
        run_time = t.run_time
            + coalesce(new.finished_at - new.started_at, interval '0')
            - coalesce(old.finished_at - old.started_at, interval '0')
    where t.task_id = new.task_id;
    return null;
end;
$function$;

comment on function forebay._add_to_task is 'Add to the task what changed in what its attempt used, cost and ran; whoever changes that holds the task.';

create or replace trigger task_attempts_add_to_task
after update on forebay.task_attempts
for each row
when (
    old.finished_at is distinct from new.finished_at
    or old.used_input_tokens <> new.used_input_tokens or old.used_output_tokens <> new.used_output_tokens
    or old.used_cached_tokens <> new.used_cached_tokens or old.is_usage_known <> new.is_usage_known
    or old.used_calls <> new.used_calls
    or old.cost_usd is distinct from new.cost_usd or old.is_cost_known <> new.is_cost_known
    or old.compute_usd is distinct from new.compute_usd or old.is_compute_final <> new.is_compute_final
    or old.status <> new.status and old.finished_at is not null
)
execute function forebay._add_to_task();
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('triggers/task_attempts.sql', 'repeatable', '95f03dee6cb2db4b253c727a65c932a744d538568741a93deab4fdd794f396ec', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new triggers/tasks.sql
-- The triggers of forebay.tasks: they guard, count and wake; they decide nothing.

create or replace function forebay._refuse_transition()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse a change of status that the state machine does not have; the triggers' conditions say which.
--
-- Errors  QF901  always
begin
    raise exception 'task % cannot go from % to %', new.task_id, case tg_op when 'UPDATE' then old.status else 'nothing' end, new.status
        using errcode = 'QF901', hint = 'Only the functions of schema forebay change tasks.';
end;
$function$;

comment on function forebay._refuse_transition is 'Refuse a change of status that the state machine does not have; the triggers'' conditions say which.';

create or replace trigger tasks_refuse_insert
before insert on forebay.tasks
for each row
when (new.status <> 'enqueued')
execute function forebay._refuse_transition();

create or replace trigger tasks_refuse_update
before update on forebay.tasks
for each row
when (
    old.status <> new.status
    and (old.status, new.status) not in (
        ('enqueued', 'processing'), ('enqueued', 'completed'), ('enqueued', 'cancelled'),
        ('processing', 'completed'), ('processing', 'failed'), ('processing', 'enqueued'), ('processing', 'cancelled'),
        ('failed', 'enqueued'), ('cancelled', 'enqueued')
    )
)
execute function forebay._refuse_transition();

create or replace function forebay._notify_of_tasks()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Wake dispatchers when something can start, dashboards when anything changed, nobody when no row did.
declare
    v_is_work boolean;
begin
    perform 1 from new_rows;
    if not found then
        return null;
    end if;
    v_is_work := exists (select from new_rows as n where n.status = 'enqueued' and n.is_ready);
    if tg_op = 'UPDATE' and not v_is_work then
        v_is_work := exists (select from old_rows as o where o.status = 'processing');
    end if;
    perform forebay._ask_wakeup(v_is_work);
    return null;
end;
$function$;

comment on function forebay._notify_of_tasks is 'Wake dispatchers when something can start, dashboards when anything changed, nobody when no row did.';

create or replace trigger tasks_notify_insert
after insert on forebay.tasks
referencing new table as new_rows
for each statement
execute function forebay._notify_of_tasks();

-- What a trigger adds up on a task wakes nobody.
create or replace trigger tasks_notify_update
after update on forebay.tasks
referencing old table as old_rows new table as new_rows
for each statement
when (pg_trigger_depth() = 0)
execute function forebay._notify_of_tasks();

create or replace function forebay._note_new_tasks()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note new tasks for the rollups, counted by agent and customer.
begin
    insert into forebay.task_changes (
        starts_at, agent, customer, status, tasks, ended_attempts, measured_attempts, priced_attempts, costed_attempts,
        provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd, compute_usd, buckets
    )
    select n.created_at, n.agent, coalesce(n.customer, ''), n.status, count(*), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '{}'
    from new_rows as n
    group by n.created_at, n.agent, coalesce(n.customer, ''), n.status;
    return null;
end;
$function$;

comment on function forebay._note_new_tasks is 'Note new tasks for the rollups, counted by agent and customer.';

create or replace trigger tasks_note_insert
after insert on forebay.tasks
referencing new table as new_rows
for each statement
execute function forebay._note_new_tasks();

create or replace function forebay._note_change()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note for the rollups what changed in a task: what it was counts negative, what it is positive.
--
-- Column by column: the whole row would drag its payload and result along.
declare
    v_old_buckets smallint[] := array[]::smallint[];
    v_new_buckets smallint[] := array[]::smallint[];
begin
    if old.status = 'completed' then
        v_old_buckets := forebay._buckets(old.finished_at - old.created_at, old.run_time, old.confidence);
    end if;
    if new.status = 'completed' then
        v_new_buckets := forebay._buckets(new.finished_at - new.created_at, new.run_time, new.confidence);
    end if;
    if old.status <> new.status or v_old_buckets <> v_new_buckets then
        insert into forebay.task_changes (
            starts_at, agent, customer, status, tasks, ended_attempts, measured_attempts, priced_attempts, costed_attempts,
            provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd, compute_usd, buckets
        )
        values
        (
            old.created_at, old.agent, coalesce(old.customer, ''), old.status, -1, -old.ended_attempts,
            -old.measured_attempts, -old.priced_attempts, -old.costed_attempts, -old.provisional_attempts,
            -old.used_input_tokens, -old.used_output_tokens, -old.used_cached_tokens, -old.cost_usd, -old.compute_usd,
            v_old_buckets
        ),
        (
            new.created_at, new.agent, coalesce(new.customer, ''), new.status, 1, new.ended_attempts,
            new.measured_attempts, new.priced_attempts, new.costed_attempts, new.provisional_attempts,
            new.used_input_tokens, new.used_output_tokens, new.used_cached_tokens, new.cost_usd, new.compute_usd,
            v_new_buckets
        );
    else
        insert into forebay.task_changes (
            starts_at, agent, customer, status, tasks, ended_attempts, measured_attempts, priced_attempts, costed_attempts,
            provisional_attempts, input_tokens, output_tokens, cached_tokens, llm_usd, compute_usd, buckets
        )
        values (
            new.created_at, new.agent, coalesce(new.customer, ''), new.status, 0, new.ended_attempts - old.ended_attempts,
            new.measured_attempts - old.measured_attempts, new.priced_attempts - old.priced_attempts,
            new.costed_attempts - old.costed_attempts, new.provisional_attempts - old.provisional_attempts,
            new.used_input_tokens - old.used_input_tokens, new.used_output_tokens - old.used_output_tokens,
            new.used_cached_tokens - old.used_cached_tokens, new.cost_usd - old.cost_usd,
            new.compute_usd - old.compute_usd, '{}'
        );
    end if;
    return null;
end;
$function$;

comment on function forebay._note_change is 'Note for the rollups what changed in a task: what it was counts negative, what it is positive.';

create or replace trigger tasks_note_update
after update on forebay.tasks
for each row
when (
    old.status <> new.status
    or old.used_input_tokens <> new.used_input_tokens or old.used_output_tokens <> new.used_output_tokens
    or old.used_cached_tokens <> new.used_cached_tokens or old.cost_usd <> new.cost_usd
    or old.ended_attempts <> new.ended_attempts or old.measured_attempts <> new.measured_attempts
    or old.priced_attempts <> new.priced_attempts or old.costed_attempts <> new.costed_attempts
    or old.provisional_attempts <> new.provisional_attempts or old.compute_usd <> new.compute_usd
    or old.run_time <> new.run_time
)
execute function forebay._note_change();

-- Tasks of before these triggers are in no rollup yet.
do $build$
begin
    if not exists (select from forebay.task_rollups) and not exists (select from forebay.task_changes) then
        perform forebay._rebuild_rollups();
    end if;
end;
$build$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('triggers/tasks.sql', 'repeatable', 'fe2e21dd716cc9585dc8ce9757205b86832427a638cf451a212f654dc300adc2', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new triggers/wakeups.sql
-- The trigger of forebay.wakeups: what a transaction asked for is decided when it commits.

create or replace function forebay._wake()
    returns trigger
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Notify at commit, as far as the budget of notifications allows.
--
-- At commit, so that a transaction that stays open or rolls back spends nothing of the budget, and is not silenced by
-- others that will be over by then. It runs as whoever commits, so it is security definer.
begin
    delete from forebay.wakeups as w where w.wakeup_id = new.wakeup_id;
    perform forebay._notify('forebay_changes', 'forebay.changes_notified_until');
    if new.is_work then
        perform forebay._notify('forebay_work', 'forebay.work_notified_until');
    end if;
    return null;
end;
$function$;

comment on function forebay._wake is 'Notify at commit, as far as the budget of notifications allows.';

drop trigger if exists wakeups_notify on forebay.wakeups;
create constraint trigger wakeups_notify
after insert on forebay.wakeups
deferrable initially deferred
for each row
execute function forebay._wake();
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('triggers/wakeups.sql', 'repeatable', 'f495c2bbeff83254abb6d26cc01c37947b57dc126579b6ed19a421e17c03bf07', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new grants.sql
-- Who may call what: one block for each folder of functions/. Nobody but forebay_owner may touch a table.

revoke all on schema forebay from public;
revoke all on all tables in schema forebay from public;
revoke all on all functions in schema forebay from public;
grant usage on schema forebay to
forebay_submitter, forebay_worker, forebay_agent, forebay_operator, forebay_viewer, forebay_reader, forebay_upkeep;

-- submitter: hands in work, and looks after its own batches
grant execute on function
forebay.open_batch, forebay.enqueue, forebay.enqueue_many,
forebay.open_upload, forebay.finish_upload, forebay.drop_upload, forebay.list_uploads, forebay.submit_uploads,
forebay.registered_agents, forebay.own_batches,
forebay.batch_tasks, forebay.batch_tasks_by_confidence, forebay.batch_results,
forebay.batch_outlook, forebay.batch_explanations,
forebay.cancel_batch, forebay.retry_batch, forebay.retry_batch_tasks
to forebay_submitter;

-- worker: claims, keeps leases, launches runs
grant execute on function
forebay.dequeue, forebay.recover_claims, forebay.record_run, forebay.renew_leases, forebay.release,
forebay.adopt, forebay.observe_run, forebay.observe_launcher, forebay.runs_to_cancel, forebay.sweep
to forebay_worker;

-- agent: fetches its work, asks before a call, and reports what became of an attempt
grant execute on function
forebay.begin_attempt, forebay.may_call, forebay.complete, forebay.complete_many, forebay.fail,
forebay.report_usage, forebay.report_progress, forebay.callback
to forebay_agent;

-- operator: defines agents, quotas, customers and prices, and acts on tasks and agents
grant execute on function
forebay.register_agent, forebay.register_quota, forebay.register_customer, forebay.register_price,
forebay.pause_agent, forebay.resume_agent, forebay.lift_spend_cap, forebay.open_installation,
forebay.cancel, forebay.retry, forebay.reprocess, forebay.reprioritize, forebay.annotate, forebay.act_on_matching
to forebay_operator;

-- viewer: sees everything but documents and results
grant execute on function
forebay.task_counts, forebay.metrics, forebay.metric_series, forebay.cost_by,
forebay.cost_summary, forebay.cost_sources, forebay.customer_costs, forebay.shared_costs,
forebay.list_tasks, forebay.task_detail, forebay.explain_task,
forebay.batch_progress, forebay.agent_names, forebay.agent_status, forebay.quota_status, forebay.customer_status,
forebay.list_prices, forebay.list_compute_sources, forebay.health,
forebay.count_matching, forebay.list_batches, forebay.list_attempts, forebay.list_audit, forebay.table_sizes,
forebay.monitoring
to forebay_viewer;

-- reader: sees documents and results
grant execute on function
forebay.task_result, forebay.read_batch_tasks, forebay.read_batch_tasks_by_confidence, forebay.read_batch_results,
forebay.read_batch_outlook, forebay.read_batch_explanations
to forebay_reader;

-- upkeep: what a timer calls
grant execute on function
forebay.sweep, forebay.attempts_to_cost, forebay.record_compute_usage,
forebay.begin_bill, forebay.runs_to_bill,
forebay.attempts_to_trace, forebay.record_traces,
forebay.uploads_to_clean, forebay.uploads_cleaned,
forebay.collect_announcements, forebay.announcement_sent,
forebay.prepare_branch, forebay.begin_branch, forebay.branch_state, forebay.mask_data,
forebay.list_clones
to forebay_upkeep;

-- everybody: which release is installed, and what time it is there
grant execute on function forebay.schema_version, forebay.server_time to
forebay_submitter, forebay_worker, forebay_agent, forebay_operator, forebay_viewer, forebay_reader, forebay_upkeep;

-- types: a table with a column of one of ours would hold up every later migration of it
do $types$
declare
    v_type name;
begin
    for v_type in
        select t.typname from pg_catalog.pg_type as t
        where t.typnamespace = 'forebay'::regnamespace and t.typelem = 0
    loop
        execute pg_catalog.format('revoke all on type forebay.%I from public', v_type);
    end loop;
end;
$types$;
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('grants.sql', 'repeatable', '2d244ff4879de7db1fef6009ef9ceee5fb7d274726e865b73184615ca617094e', '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

\echo new 0.4.0
insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
values ('0.4.0', 'release', NULL, '0.4.0', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do update
set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
    applied_by = excluded.applied_by, runs = h.runs + 1;

commit;
