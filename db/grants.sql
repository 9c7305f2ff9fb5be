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
forebay.adopt, forebay.observe_run, forebay.observe_launcher, forebay.runs_to_cancel,
forebay.runs_before, forebay.sweep
to forebay_worker;

-- agent: fetches its work, asks before a call, and reports what became of an attempt
grant execute on function
forebay.begin_attempt, forebay.may_call, forebay.complete, forebay.complete_many, forebay.fail,
forebay.report_usage, forebay.report_progress, forebay.callback, forebay.known_attempts
to forebay_agent;

-- operator: defines agents, quotas, customers and prices, and acts on tasks and agents
grant execute on function
forebay.register_agent, forebay.register_quota, forebay.register_customer, forebay.register_price, forebay.price_calls,
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
forebay.begin_bill, forebay.runs_to_bill, forebay.record_bill, forebay.end_bill,
forebay.attempts_to_trace, forebay.record_traces,
forebay.uploads_to_clean, forebay.uploads_cleaned, forebay.folder_to_clean,
forebay.collect_announcements, forebay.announcement_sent,
forebay.prepare_branch, forebay.branch_copied, forebay.begin_branch, forebay.branch_state, forebay.mask_data,
forebay.finish_branch,
forebay.list_clones, forebay.was_prepared
to forebay_upkeep;

-- everybody: which release is installed, what time it is there, and who may act as which role
grant execute on function forebay.schema_version, forebay.server_time, forebay.held_roles to
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
