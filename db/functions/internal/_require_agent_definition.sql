create or replace function forebay._require_agent_definition(p_agent forebay.agents)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check an agent's definition, so that a bad one is refused in a sentence before a constraint refuses it in a code.
--
-- Errors  22023  a name, word, limit, count or duration is out of its range
declare
    v_fault text;
begin
    v_fault := case
        when p_agent.agent is null or char_length(p_agent.agent) not between 1 and 200
            then 'p_agent must have 1 to 200 characters'
        when p_agent.launcher is null or p_agent.launcher not in ('pull', 'local', 'lakeflow')
            then 'p_launcher must be pull, local or lakeflow'
        when p_agent.launcher = 'local' and p_agent.entry_point is null
            then 'launcher local needs p_entry_point, such as parse_document'
        when char_length(p_agent.entry_point) not between 1 and 200 then 'p_entry_point must have 1 to 200 characters'
        when p_agent.max_concurrent_tasks < 0 or p_agent.max_tpm < 0 or p_agent.max_rpm < 0
            then 'p_max_concurrent_tasks, p_max_tpm and p_max_rpm must not be negative; null means no limit'
        when p_agent.max_waiting < 0 or p_agent.max_usd_per_day < 0
            then 'p_max_waiting and p_max_usd_per_day must not be negative; null means no limit'
        when p_agent.max_usd_per_day in ('NaN', 'Infinity') then 'p_max_usd_per_day must be a number; null means no limit'
        when p_agent.is_fair_by_customer is null then 'p_fair_by_customer must not be null'
        when p_agent.max_deferrals is null or p_agent.max_deferrals < 0 then 'p_max_deferrals must not be negative'
        when p_agent.reserve_after is null or p_agent.reserve_after not between interval '0' and interval '10 years'
            then 'p_reserve_after must be from 0 to 10 years'
        when p_agent.aging not between interval '1 microsecond' and interval '10 years'
            then 'p_aging must be above 0 and at most 10 years; null means strict priority'
        when p_agent.max_tpm > 1000000000000000 then 'p_max_tpm must not be above 10^15'
        when p_agent.tpm_burst is null or not (p_agent.tpm_burst > 0 and p_agent.tpm_burst <= 100)
            then 'p_tpm_burst must be above 0 and at most 100'
        when p_agent.max_attempts is null or p_agent.max_attempts not between 1 and 1000
            then 'p_max_attempts must be from 1 to 1000'
        when p_agent.max_releases is null or p_agent.max_releases < 0 then 'p_max_releases must not be negative'
        when p_agent.on_lost_lease is null or p_agent.on_lost_lease not in ('retry', 'fail')
            then 'p_on_lost_lease must be retry or fail'
        when p_agent.late_results is null or p_agent.late_results not in ('accept', 'reject')
            then 'p_late_results must be accept or reject'
        when p_agent.default_estimated_tokens is null or p_agent.default_estimated_tokens not between 0 and 1000000000000
            then 'p_default_estimated_tokens must be from 0 to 10^12'
        when p_agent.backoff_max < p_agent.backoff_base then 'p_backoff_max must not be below p_backoff_base'
        else (
            select format('%s must be above 0 and at most 10 years', durations.name)
            from (values
                ('p_lease', p_agent.lease), ('p_timeout', p_agent.timeout), ('p_backoff_base', p_agent.backoff_base),
                ('p_backoff_max', p_agent.backoff_max), ('p_retention', p_agent.retention),
                ('p_max_deferral_time', p_agent.max_deferral_time)
            ) as durations (name, duration)
            where durations.duration is null or durations.duration not between interval '1 microsecond' and interval '10 years'
            limit 1
        )
    end;
    if v_fault is not null then
        raise exception '%', v_fault using errcode = '22023';
    end if;
end;
$function$;

comment on function forebay._require_agent_definition is 'Check an agent''s definition, so that a bad one is refused in a sentence before a constraint refuses it in a code.';
