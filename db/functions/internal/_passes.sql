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
