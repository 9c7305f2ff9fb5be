create or replace function forebay._configured_words(p_fit forebay.fit)
    returns text
    language sql
    stable
    security invoker
as $function$
-- What a limit is configured to, for a sentence about one that is lower now, by its headroom or after refusals; else nothing.
select format(' (configured: %s)', coalesce(forebay._number_words(configured.amount), 'none'))
from (
    select case p_fit.reason
        when 'full' then a.max_concurrent_tasks
        when 'out_of_requests' then a.max_rpm
        when 'out_of_tokens' then a.max_tpm
    end as amount
    from forebay.agents as a
    where a.agent = p_fit.subject and p_fit.reason <> 'quota'
    union all
    select l.amount
    from forebay.quota_limits as l
    where l.quota = p_fit.subject and l.unit = p_fit.unit and l.period = p_fit.period and p_fit.reason = 'quota'
) as configured
where configured.amount is distinct from p_fit.amount;
$function$;

comment on function forebay._configured_words is
'What a limit is configured to, for a sentence about one that is lower now, by its headroom or after refusals; else nothing.';
