create or replace function forebay._require_call(p_tokens bigint, p_output_tokens bigint, p_call_id text)
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check what may_call is asked for, and where.
--
-- Errors  22023  a number is out of its range, or the call's id is empty or too long
--         25001  the transaction is not READ COMMITTED
begin
    perform forebay._require_between(p_tokens, 'p_tokens', 0, 1000000000000);
    if p_output_tokens is not null then
        perform forebay._require_between(p_output_tokens, 'p_output_tokens', 0, p_tokens);
    end if;
    if char_length(p_call_id) not between 1 and 500 then
        raise exception 'p_call_id must have 1 to 500 characters' using errcode = '22023';
    end if;
    perform forebay._require_read_committed('may_call');
end;
$function$;

comment on function forebay._require_call is 'Check what may_call is asked for, and where.';
