-- Drop what 0010 added. The functions that use it must be gone, and those of the release before applied again after it.
--
-- What calls cost by the list prices of traces stays on their attempts, without a word about where it is from.

drop type forebay.attempt_to_trace;
drop table forebay.attempt_traces;
drop index forebay.task_attempts_trace;
drop index forebay.task_attempts_ended;
alter table forebay.attempt_usage
drop column is_cumulative,
drop column is_partial,
drop column list_usd;
