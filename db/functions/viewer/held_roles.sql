create or replace function forebay.held_roles(p_logins text[])
    returns jsonb
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say which of our roles each of these logins may act as: agent for forebay_agent, and so on; owner may be among them.
--
-- Returns    an object with a list of names for each login; one that the database does not have is left out
-- Called by  every role that calls any function
select coalesce(jsonb_object_agg(r.rolname, (
    select coalesce(jsonb_agg(substr(g.rolname, 9) order by g.rolname), '[]')
    from pg_roles as g
    where g.rolname like 'forebay\_%' and g.oid <> r.oid
        -- Who made a role in PostgreSQL 16 or newer has its admin option, and may not act as it by that.
        and pg_has_role(r.oid, g.oid, case when current_setting('server_version_num')::integer < 160000 then 'MEMBER' else 'SET' end)
)), '{}')
from pg_roles as r
where r.rolname = any(p_logins);
$function$;

comment on function forebay.held_roles is
'Say which of our roles each of these logins may act as: agent for forebay_agent, and so on; owner may be among them.';
