-- Drop what 0005 added. The functions that use it must be gone, and those of the release before applied again after it.

drop type
forebay.metrics_report, forebay.metric_point, forebay.cost_line, forebay.attempt_to_cost, forebay.task_cell,
forebay.time_slots;
drop table forebay.compute_sources, forebay.compute_usage, forebay.task_rollups, forebay.task_changes;
drop index forebay.task_attempts_to_cost;
alter table forebay.tasks
drop column used_input_tokens, drop column used_output_tokens, drop column used_cached_tokens, drop column cost_usd,
drop column ended_attempts, drop column measured_attempts, drop column priced_attempts, drop column costed_attempts,
drop column provisional_attempts, drop column run_time, drop column compute_usd;
alter table forebay.task_attempts
drop column used_cached_tokens, drop column compute_usd, drop column is_compute_final;
