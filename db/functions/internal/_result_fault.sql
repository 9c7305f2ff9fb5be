create or replace function forebay._result_fault(p_result jsonb, p_confidence numeric)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What is wrong with a result, in words; null when nothing is.
begin
    return (
        select case
            when octet_length(p_result::text) > i.max_result_bytes
                then format('the result has %s bytes, more than the %s that are allowed', octet_length(p_result::text), i.max_result_bytes)
            when forebay._unreadable(p_result) is not null
                then 'the result ' || forebay._unreadable(p_result)
            when p_confidence not between 0 and 1
                then format('the confidence must be from 0 to 1, not %s', p_confidence)
        end
        from forebay.installation as i
    );
end;
$function$;

comment on function forebay._result_fault is 'What is wrong with a result, in words; null when nothing is.';
