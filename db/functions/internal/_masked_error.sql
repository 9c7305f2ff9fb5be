create or replace function forebay._masked_error(p_error jsonb)
    returns jsonb
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The error without its text: only its kind, as far as that is a word of ours. Null for none.
begin
    return case
        when p_error is null then null
        when p_error ->> 'kind' = 'released' or exists (
            select from forebay.error_policies as p where p.kind = p_error ->> 'kind'
        ) then jsonb_build_object('kind', p_error ->> 'kind', 'message', 'masked')
        else '{"kind": "agent_bug", "message": "masked"}'::jsonb
    end;
end;
$function$;

comment on function forebay._masked_error is 'The error without its text: only its kind, as far as that is a word of ours. Null for none.';
