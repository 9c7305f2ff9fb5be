create or replace function forebay._passing(
    p_agent   forebay.agents,
    p_use     forebay.expected_use,
    p_tasks   bigint,
    p_now     timestamptz,
    out takes interval,
    out words text
)
    returns setof record
    language sql
    stable
    security invoker
as $function$
-- How long each limit in force takes to let so many tasks start that use p_use each, and the limit in words.
--
-- Returns  one row a limit of the agent and of its quotas that refills; takes is null where the limit is 0
select
    make_interval(secs => (
        extract(epoch from l.period) * greatest(0, p_tasks * l.needs - l.room) / nullif(l.amount, 0)
    )::double precision),
    format(
        '%s %s lets %s pass.', l.kind, l.subject,
        concat_ws(' ', forebay._number_words(l.amount), replace(l.unit, '_', ' '), forebay._period_words(l.period))
    )
from (
    select
        'Agent' as kind, p_agent.agent as subject, 'tokens' as unit, interval '1 minute' as period,
        p_agent.max_tpm::numeric as amount, (p_use).input_tokens + (p_use).output_tokens as needs, levels.tokens as room
    from forebay._levels(p_agent, p_now) as levels
    union all
    select 'Agent', p_agent.agent, 'claims', interval '1 minute', p_agent.max_rpm, 1, levels.requests
    from forebay._levels(p_agent, p_now) as levels
    union all
    select
        'Quota', q.quota, q.unit, q.period, q.effective,
        forebay._in_unit(q.unit, (p_use).calls, (p_use).input_tokens, (p_use).output_tokens), q.room
    from forebay._quota_limits(p_agent.quotas, p_now) as q
    where q.kind <> 'count'
) as l
where l.amount is not null and p_use is not null;
$function$;

comment on function forebay._passing is 'How long each limit in force takes to let so many tasks start that use p_use each, and the limit in words.';
