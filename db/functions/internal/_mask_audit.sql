create or replace function forebay._mask_audit(p_after text, p_limit integer)
    returns text
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Mask the next p_limit entries of the audit log after the id p_after, and return the last one's id; null when there are no more.
--
-- Writes  forebay.audit_log, forebay.masked_names
declare
    v_ids bigint[];
begin
    v_ids := array(
        select l.audit_id from forebay.audit_log as l
        where p_after is null or l.audit_id > p_after::bigint
        order by l.audit_id
        limit p_limit
    );
    update forebay.audit_log as l
    set session_role = forebay._alias('person', l.session_role), actor = forebay._alias('person', l.actor),
        reason = case when l.reason is not null then 'masked' end,
        details = case when l.details is not null then '{}'::jsonb end
    where l.audit_id = any(v_ids);
    return case when cardinality(v_ids) = p_limit then v_ids[p_limit]::text end;
end;
$function$;

comment on function forebay._mask_audit is
'Mask the next p_limit entries of the audit log after the id p_after, and return the last one''s id; null when there are no more.';
