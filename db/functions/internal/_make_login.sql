create or replace function forebay._make_login(p_name text, p_kind text)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Make a principal's login by the function of the extension databricks_auth, which is created if the database has it not yet.
--
-- Nothing else of that name is ever called: whoever may create a schema could have put it there, and it would run with all that the caller may do. So its
-- owner has to be one who may make roles anyway, since who owns an extension may add to it; and where it stands nothing else may have its name.
--
-- Errors  55000  that function is missing, or not the extension's alone
--         58P01  there is no such extension: this is no database of Lakebase
declare
    v_schema name;
begin
    if not exists (select from pg_extension as e where e.extname = 'databricks_auth') then
        create extension databricks_auth with schema public;
    end if;

    with named as (
        select
            n.nspname,
            (o.rolsuper or o.rolcreaterole) and exists (
                select
                from pg_depend as d inner join pg_extension as e on e.oid = d.refobjid and d.refclassid = 'pg_extension'::regclass
                where d.objid = p.oid and d.classid = 'pg_proc'::regclass and d.deptype = 'e' and e.extname = 'databricks_auth'
            ) as is_genuine
        from pg_proc as p
        inner join pg_namespace as n on n.oid = p.pronamespace
        inner join pg_roles as o on o.oid = p.proowner
        where p.proname = 'databricks_create_role'
    )

    select named.nspname into v_schema
    from named
    group by named.nspname
    having bool_and(named.is_genuine)
    limit 1;
    if not found then
        raise exception 'databricks_create_role is not a function of the extension databricks_auth alone'
            using errcode = '55000', hint = 'Drop what else has that name, and have the extension created by who may make roles.';
    end if;
    execute format('select %I.databricks_create_role($1, $2)', v_schema) using p_name, p_kind;
end;
$function$;

comment on function forebay._make_login is
'Make a principal''s login by the function of the extension databricks_auth, which is created if the database has it not yet.';
