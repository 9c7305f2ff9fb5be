create or replace function forebay._unpaid_usd(p_attempt forebay.task_attempts)
    returns numeric
    language sql
    stable
    security invoker
as $function$
-- What an attempt may cost beyond what is known: the rest of what was expected while it runs, all of it when it ended untold.
--
-- A release, and a provider's refusal, that told nothing cost nothing.
select case
    when p_attempt.finished_at is null then greatest(p_attempt.expected_usd - coalesce(p_attempt.cost_usd, 0), 0)
    when p_attempt.cost_usd is not null or p_attempt.status = 'released' or exists (
        select from forebay.error_policies as p where p.kind = p_attempt.error ->> 'kind' and not p.spends_attempt
    ) then 0
    else p_attempt.expected_usd
end;
$function$;

comment on function forebay._unpaid_usd is 'What an attempt may cost beyond what is known: the rest of what was expected while it runs, all of it when it ended untold.';
