create or replace function forebay._learned(p_agent text)
    returns forebay.learned
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What the agent's recent finished attempts say of the next ones.
--
-- Each number is the median (of an even count the lower one) over the latest 50 that succeeded and whose usage is known,
-- so that no single one moves it far. Below 10 nothing is learned: as estimated, four fifths of it input. The ratios are in
-- thousandths, from tasks with an estimate above 0 if 10 have one; their sum is held between 100 and 10,000. A token's price
-- is learned when all of the cost is known of 10; until then it is the dearest that is registered.
declare
    v_agent   text := p_agent;
    v_learned forebay.learned;
    v_rated   bigint;
    v_sum     bigint;
    v_bounded bigint;
begin
    select
        count(*)::integer, count(l.estimate),
        percentile_disc(0.5) within group (order by div(l.input * 1000::numeric, l.estimate)::bigint),
        percentile_disc(0.5) within group (order by div(l.output * 1000::numeric, l.estimate)::bigint),
        percentile_disc(0.5) within group (order by l.input), percentile_disc(0.5) within group (order by l.output),
        percentile_disc(0.5) within group (order by l.calls),
        percentile_disc(0.5) within group (order by round((l.input + l.output) / l.seconds, 3)) filter (where l.seconds > 0),
        bool_and(l.asks_first),
        case when count(l.cost_usd) >= 10 then
            percentile_disc(0.5) within group (order by round(l.cost_usd * 1000000 / nullif(l.input + l.output, 0), 6))
        end
    into
        v_learned.samples, v_rated, v_learned.input_permille, v_learned.output_permille, v_learned.typical_input,
        v_learned.typical_output, v_learned.calls, v_learned.tokens_per_second, v_learned.asks_first,
        v_learned.usd_per_m_tokens
    from (
        select
            a.used_input_tokens as input, a.used_output_tokens as output, a.used_calls::numeric as calls, a.asks_first,
            case when a.is_cost_known then a.cost_usd end as cost_usd,
            extract(epoch from a.finished_at - a.started_at - a.held_up) as seconds,
            (select nullif(t.estimated_tokens, 0) from forebay.tasks as t where t.task_id = a.task_id) as estimate
        from forebay.task_attempts as a
        where a.agent = v_agent and a.status = 'succeeded' and a.is_usage_known
        order by a.finished_at desc, a.attempt_id desc
        limit 50
    ) as l;

    if v_learned.samples < 10 then
        v_learned := (v_learned.samples, null, null, null, null, 1, null, false, null)::forebay.learned;
    end if;
    if v_rated < 10 then
        v_learned.input_permille := 800;
        v_learned.output_permille := 200;
    end if;
    v_sum := v_learned.input_permille + v_learned.output_permille;
    v_bounded := least(10000, greatest(100, v_sum));
    if v_sum = 0 then
        v_learned.input_permille := 80;
        v_learned.output_permille := 20;
    elsif v_bounded <> v_sum then
        v_learned.input_permille := div(v_learned.input_permille * v_bounded::numeric, v_sum)::bigint;
        v_learned.output_permille := v_bounded - v_learned.input_permille;
    end if;
    v_learned.usd_per_m_tokens := coalesce(v_learned.usd_per_m_tokens, forebay._dearest_usd_per_m(forebay._now()));
    return v_learned;
end;
$function$;

comment on function forebay._learned is 'What the agent''s recent finished attempts say of the next ones.';
