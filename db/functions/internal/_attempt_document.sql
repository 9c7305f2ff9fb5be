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
        forebay._usage_source(p_attempt.attempt_id) as usage_source, forebay._known_llm(p_attempt) as cost_usd,
        p_attempt.is_cost_known, forebay._known_compute(p_attempt) as compute_usd, p_attempt.is_compute_final,
        forebay._compute_source(p_attempt.attempt_id) as compute_source,
        extract(epoch from p_attempt.held_up) as held_up_seconds,
        p_attempt.started_at, p_attempt.reported_at, p_attempt.finished_at,
        (
            select forebay._trace_state(t) from forebay.attempt_traces as t where t.attempt_id = p_attempt.attempt_id
        ) as trace_state
) as shown;
$function$;

comment on function forebay._attempt_document is
'An attempt as task_detail shows it: without its result, and without what its calls are waiting for.';
