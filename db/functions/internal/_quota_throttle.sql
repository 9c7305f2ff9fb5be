create or replace function forebay._quota_throttle(p_quota text, p_now timestamptz)
    returns forebay.throttle
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a provider's refusals mean for a quota at p_now, whichever agents they met.
begin
    return forebay._throttled_by(forebay._last_refusal(null, p_quota), p_now);
end;
$function$;

comment on function forebay._quota_throttle is 'What a provider''s refusals mean for a quota at p_now, whichever agents they met.';
