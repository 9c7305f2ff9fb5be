create or replace function forebay._error(p_error jsonb)
    returns jsonb
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The error as it is stored: with a kind that error_policies knows; one that it does not moves to reported_kind.
--
-- Errors  22023  p_error is no object, or kind or message is no string
declare
    v_kind text;
begin
    if p_error is null or jsonb_typeof(p_error) <> 'object' then
        raise exception 'the error must be a JSON object with kind and message' using errcode = '22023';
    end if;
    v_kind := forebay._json_text(p_error, 'kind');
    perform forebay._json_text(p_error, 'message');
    if exists (select from forebay.error_policies as p where p.kind = v_kind) then
        return p_error;
    end if;
    return p_error || '{"kind": "agent_bug"}'
        || case when v_kind is null then '{}'::jsonb else jsonb_build_object('reported_kind', v_kind) end;
end;
$function$;

comment on function forebay._error is 'The error as it is stored: with a kind that error_policies knows; one that it does not moves to reported_kind.';
