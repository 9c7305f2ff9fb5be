-- Drop what 0009 added. The functions that use it must be gone, and those of the release before applied again after it.

drop table forebay.launcher_faults;
delete from forebay.run_outcomes as o
where o.launcher = 'lakeflow' and (
    o.termination_code <> '*' or o.life_cycle_state in ('WAITING', 'LAUNCH_FAILED', 'POLL_FAILED')
    or o.result_state in ('EXCLUDED', 'UPSTREAM_FAILED', 'UPSTREAM_CANCELED', 'DISABLED')
);
alter table forebay.run_outcomes drop column is_held_up;
alter table forebay.dispatchers drop column places;
alter table forebay.task_attempts drop column job_id, drop column place;
