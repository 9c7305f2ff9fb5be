create or replace function forebay._hindrance(
    p_agent    forebay.agents,
    p_task     forebay.lined_up,
    p_is_first boolean,
    p_level    numeric,
    p_rooms    forebay.quota_room[],
    p_caps     forebay.spend_cap[],
    p_pace     double precision
)
    returns forebay.fit
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What keeps the task from starting, given what is left of the agent's bucket, of its quotas and of the caps; reason null: nothing.
--
-- A task larger than an idle quota has room for is admitted nonetheless: nothing would ever make it fit.
declare
    v_tokens bigint := (p_task.uses).input_tokens + (p_task.uses).output_tokens;
    v_fit    forebay.fit;
begin
    if not forebay._fits(p_is_first, v_tokens, p_level, forebay._token_burst(p_agent)) then
        return (null, 'out_of_tokens', p_task.task_id, p_agent.agent, 'tokens', v_tokens, p_level, p_agent.max_tpm,
            interval '1 minute')::forebay.fit;
    end if;
    if p_caps <> '{}' then
        select
            null::integer[], 'spend_cap', p_task.task_id, coalesce(c.customer, p_agent.agent), 'usd', (p_task.uses).usd, c.has, c.amount,
            interval '1 day'
        into v_fit
        from unnest(p_caps) as c
        where (c.customer is null or c.customer = p_task.customer) and forebay._is_short(c, (p_task.uses).usd)
        order by c.customer nulls last
        limit 1;
    end if;
    if v_fit.reason is null and p_rooms <> '{}' then
        select
            null::integer[], 'quota', p_task.task_id, r.quota, r.unit, needs.amount::numeric, r.room::numeric, r.amount::numeric, r.period
        into v_fit
        from unnest(p_rooms) as r
        cross join lateral forebay._need(r.unit, r.seconds, p_task.uses, p_pace) as needs (amount)
        where needs.amount > r.room and not (r.takes_any and r.amount > 0)
        order by (needs.amount - r.room) / greatest(r.amount, 1) desc, r.quota, r.unit, r.period
        limit 1;
    end if;
    return v_fit;
end;
$function$;

comment on function forebay._hindrance is 'What keeps the task from starting, given what is left of the agent''s bucket, of its quotas and of the caps; reason null: nothing.';
