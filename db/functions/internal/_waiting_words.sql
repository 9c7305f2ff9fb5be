create or replace function forebay._waiting_words(
    p_answer forebay.task_explanation,
    p_agent  forebay.agents,
    p_task   forebay.tasks
)
    returns text
    language sql
    stable
    security invoker
as $function$
-- The sentence for a reason to wait.
select case p_answer.reason
    when 'not_open' then 'This database is a branch or a restored copy, and no operator has opened it.'
    when 'paused' then format(
        'Agent %s is paused%s%s.', p_agent.agent, coalesce(' until ' || p_answer.waiting_until, ', until it is resumed'),
        coalesce(': ' || p_agent.pause_reason, '')
    )
    when 'delayed' then format(
        'It is not due before %s%s.', p_task.available_at,
        coalesce(': its last attempt ended with "' || (
            select a.error ->> 'message' from forebay.task_attempts as a
            where a.task_id = p_task.task_id and a.attempt_no = p_task.attempt_no
        ) || '"', '')
    )
    when 'closed' then format('A limit of agent %s is 0, which admits nothing.', p_agent.agent)
    when 'full' then format(
        'Agent %s runs as many tasks as it may (%s); %s wait(s) before this one.',
        p_agent.agent, p_agent.max_concurrent_tasks, p_answer.ahead
    )
    when 'out_of_requests' then format(
        'Agent %s has started as many tasks as it may in a minute (%s); the next can start at %s, and %s wait(s) before this one.',
        p_agent.agent, p_agent.max_rpm, p_answer.waiting_until, p_answer.ahead
    )
    when 'out_of_tokens' then format(
        'Agent %s has used its tokens (%s a minute); the next task can start at %s, and %s wait(s) before this one.',
        p_agent.agent, p_agent.max_tpm, p_answer.waiting_until, p_answer.ahead
    )
    when 'behind_others' then format('%s task(s) of agent %s come(s) before it.', p_answer.ahead, p_agent.agent)
    else 'It is next in line: the next dequeue for its agent takes it'
        || coalesce('; the last one was at ' || (select max(d.last_claim_at) from forebay.dispatchers as d), '; none was seen yet')
        || '.'
end;
$function$;

comment on function forebay._waiting_words is 'The sentence for a reason to wait.';
