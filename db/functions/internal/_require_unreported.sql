create or replace function forebay._require_unreported(p_attempt_id bigint, p_call_id text)
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a call was not reported under its id: what a second call used would be taken for the first one's.
--
-- Errors  22023  it was
begin
    if exists (
        select from forebay.attempt_usage as u
        where u.attempt_id = p_attempt_id and u.source = 'agent' and u.call_id = p_call_id
    ) then
        raise exception 'call "%" of attempt % was reported already', left(p_call_id, 60), p_attempt_id
            using errcode = '22023', hint = 'Each try of a call needs a p_call_id of its own.';
    end if;
end;
$function$;

comment on function forebay._require_unreported is
'Check that a call was not reported under its id: what a second call used would be taken for the first one''s.';
