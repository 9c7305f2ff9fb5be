-- What a Databricks workspace says about runs, launches and itself, and what follows from it.
--
-- requires  0007_act_and_announce
-- locks     run_outcomes, task_attempts and dispatchers, for a moment each
-- rewrites  no table
-- breaks    nothing
-- revert    revert/0009_run_lakeflow.sql

alter table forebay.run_outcomes add column is_held_up boolean not null default false;
comment on column forebay.run_outcomes.is_held_up is
'Nothing can begin at this moment: the deadline of an attempt that has not begun is put off.';

alter table forebay.task_attempts add column job_id bigint, add column place text;
comment on column forebay.task_attempts.job_id is 'The job of its agent at the claim: its run is one of this job.';
comment on column forebay.task_attempts.place is
'Where the launcher of its claim starts runs, as a workspace; null: not known. Only who is there asks for its run.';

alter table forebay.dispatchers add column places jsonb not null default '{}';
comment on column forebay.dispatchers.places is 'Where each of its launchers starts runs, by launcher.';

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

update forebay.run_outcomes as o set is_held_up = true
where o.launcher = 'lakeflow' and o.life_cycle_state = 'QUEUED' and o.outcome = 'renew';

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
    if not exists (
        select from forebay.run_outcomes as o
        where o.launcher = 'lakeflow' and o.life_cycle_state = 'LAUNCH_FAILED' and o.result_state = '503' and o.is_held_up
    ) then
        raise exception 'expected a launch that a workspace cannot take to be held up';
    end if;
end;
$verify$;
