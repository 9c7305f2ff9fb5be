create or replace function forebay._batch_outlook(p_batch forebay.batches)
    returns forebay.batch_outlook
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How far the batch has come, what it has cost, and how long it will still take; of several agents the slowest decides.
declare
    v_now     timestamptz := forebay._now();
    v_outlook forebay.batch_outlook;
begin
    select
        p_batch.batch_id, p_batch.name, p_batch.customer, p_batch.owner, of_tasks.agents, p_batch.created_at, sums.tasks,
        sums.enqueued, sums.processing, sums.completed, sums.failed, sums.cancelled, sums.finished_at,
        0::bigint, 0::bigint, null::numeric, null::text, null::interval, of_tasks.confidence,
        sums.llm_usd, sums.priced_attempts = sums.ended_attempts, v_now
    into v_outlook
    from forebay._batch_sums(p_batch.batch_id) as sums
    cross join (
        select
            coalesce(array_agg(distinct t.agent order by t.agent) filter (where t.agent is not null), '{}') as agents,
            percentile_disc(0.5) within group (order by t.confidence) filter (where t.status = 'completed') as confidence
        from forebay.tasks as t
        where t.batch_id = p_batch.batch_id
    ) as of_tasks;

    if v_outlook.enqueued + v_outlook.processing > 0 then
        select
            sum(o.ahead)::bigint, sum(o.tokens)::bigint, sum(o.per_minute),
            (array_agg(o.limited_by order by o.time_left desc nulls first, o.agent))[1],
            case when bool_and(o.time_left is not null) then max(o.time_left) end
        into v_outlook.ahead, v_outlook.remaining_tokens, v_outlook.per_minute, v_outlook.limited_by, v_outlook.time_left
        from (
            select names.agent, a.*
            from unnest(v_outlook.agents) as names (agent)
            cross join lateral forebay._agent_outlook(names.agent, p_batch.batch_id, v_now) as a
            where a.is_needed
        ) as o;
    end if;
    return v_outlook;
end;
$function$;

comment on function forebay._batch_outlook is 'How far the batch has come, what it has cost, and how long it will still take; of several agents the slowest decides.';
