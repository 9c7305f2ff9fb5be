-- Drop the row types of 0003. The functions that return them must be gone.

drop type
forebay.enqueued_task, forebay.claimed_attempt, forebay.adopted_attempt, forebay.renewed_lease, forebay.run_to_cancel,
forebay.sweep_result, forebay.reported_attempt, forebay.task_effect, forebay.reprocessed_task, forebay.batch_task,
forebay.batch_progress, forebay.task_count, forebay.task_summary, forebay.task_detail, forebay.task_result,
forebay.task_explanation, forebay.agent_state, forebay.health_report,
forebay.serving_round, forebay.held_attempt;
