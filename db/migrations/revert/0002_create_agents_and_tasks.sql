-- Drop every table and sequence of 0002, with all the tasks in them.

drop table
forebay.run_outcomes, forebay.dispatchers, forebay.audit_log, forebay.attempt_usage, forebay.task_attempts,
forebay.tasks, forebay.batches, forebay.agent_settlements, forebay.agent_budgets, forebay.agents, forebay.installation,
forebay.wakeups;
drop sequence forebay.work_notified_until, forebay.changes_notified_until;
