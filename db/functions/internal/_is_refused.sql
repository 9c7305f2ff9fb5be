create or replace function forebay._is_refused(p_error jsonb)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether that error of an attempt was a provider's refusal, which is not paid for.
select exists (
    select from forebay.error_policies as p where p.kind = p_error ->> 'kind' and not p.spends_attempt
);
$function$;

comment on function forebay._is_refused is 'Whether that error of an attempt was a provider''s refusal, which is not paid for.';
