create or replace function forebay._admit_principal(p_name text, p_kind text, p_roles text[])
    returns text[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Give a principal of the workspace its login in this database of Lakebase, and make it a member of callers' roles.
--
-- p_kind is SERVICE_PRINCIPAL, USER or GROUP; p_roles are names such as forebay_agent. What is there already is left as it is, and no role is taken away.
-- Whoever installed the schema calls it: its login was made through OAuth, and it may create roles and has the admin option on ours.
--
-- Returns    what was missing until now: the principal's own name if its login was, and the roles that it became a member of
-- Errors     22023  a name is empty or too long, a kind or a role is unknown, the name is that of a role of ours, of one that cannot log in, or of a superuser
--            42501  the login may not act as forebay_owner, or may not create roles
--            55000  the function of databricks_auth is missing, or not the extension's alone
--            58P01  there is no extension databricks_auth: this is no database of Lakebase
declare
    v_callers constant text[] := array[
        'forebay_submitter', 'forebay_worker', 'forebay_agent', 'forebay_operator', 'forebay_viewer', 'forebay_reader', 'forebay_upkeep'
    ];
    v_given text[] := array[]::text[];
    v_role  text;
    -- Who made a role in PostgreSQL 16 or newer has its admin option, and may not act as it by that.
    v_kind  constant text := case when current_setting('server_version_num')::integer < 160000 then 'MEMBER' else 'SET' end;
begin
    perform forebay._require_owner();
    if coalesce(p_name, '') = '' or octet_length(p_name) > 63 then
        raise exception 'p_name must have 1 to 63 bytes' using errcode = '22023';
    end if;
    if p_name ~* '^(forebay|pg)_' or exists (select from pg_roles as r where r.rolname = p_name and (r.rolsuper or not r.rolcanlogin)) then
        raise exception '% is no principal of the workspace, but a role of the database', p_name using errcode = '22023';
    end if;
    if p_kind is null or p_kind not in ('SERVICE_PRINCIPAL', 'USER', 'GROUP') then
        raise exception 'p_kind must be SERVICE_PRINCIPAL, USER or GROUP' using errcode = '22023';
    end if;
    if p_roles is null or not p_roles <@ v_callers then
        raise exception 'p_roles must be callers'' roles such as forebay_agent' using errcode = '22023';
    end if;

    if not exists (select from pg_roles as r where r.rolname = p_name) then
        perform forebay._make_login(p_name, p_kind);
        v_given := array[p_name];
    end if;
    foreach v_role in array p_roles loop
        if not pg_has_role(p_name, v_role, v_kind) then
            execute format('grant %I to %I', v_role, p_name);
            v_given := v_given || v_role;
        end if;
    end loop;
    return v_given;
end;
$function$;

comment on function forebay._admit_principal is
'Give a principal of the workspace its login in this database of Lakebase, and make it a member of callers'' roles.';
