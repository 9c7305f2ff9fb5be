create or replace function forebay._require_quotas(p_quotas text[])
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that every name in p_quotas is a quota's; null asks for nothing.
--
-- Errors  22023  a name is null
--         QF305  there is no such quota
declare
    v_name text;
begin
    foreach v_name in array coalesce(p_quotas, '{}') loop
        if v_name is null then
            raise exception 'p_quotas must not hold null' using errcode = '22023';
        end if;
        if not exists (select from forebay.quotas as q where q.quota = v_name) then
            raise exception 'quota "%" does not exist', left(v_name, 200)
                using errcode = 'QF305', hint = 'Register it with forebay.register_quota, or see forebay.quota_status().';
        end if;
    end loop;
end;
$function$;

comment on function forebay._require_quotas is 'Check that every name in p_quotas is a quota''s; null asks for nothing.';
