-- The roles, the schema that forebay_owner owns, and the ledger of what is installed in it.
--
-- requires  PostgreSQL 15, and a superuser or a role with CREATEROLE that may create schemas in this database
-- locks     nothing
-- rewrites  nothing
-- breaks    nothing
-- revert    revert/0001_create_roles.sql
--
-- Roles belong to the cluster: those that another database's installation created stay as they are.
-- Run it in a transaction: from its second half on the transaction acts as forebay_owner.

do $roles$
declare
    v_role    text;
    v_comment text;
begin
    if pg_catalog.current_setting('server_version_num')::integer < 150000 then
        raise exception 'Forebay needs PostgreSQL 15 or newer, and this server is %',
            pg_catalog.current_setting('server_version')
            using errcode = 'feature_not_supported';
    end if;
    for v_role, v_comment in
        values
        ('forebay_owner', 'Owns schema forebay and all that is in it; nobody logs in as it.'),
        ('forebay_submitter', 'May call the functions that submit tasks and batches.'),
        ('forebay_worker', 'May call the functions that claim tasks and keep their leases.'),
        ('forebay_agent', 'May call the functions that report usage, progress and results.'),
        ('forebay_operator', 'May call the functions that define agents and change tasks.'),
        ('forebay_viewer', 'May call the functions that show tasks without payloads and results.'),
        ('forebay_reader', 'May call the functions that show payloads and results.'),
        ('forebay_upkeep', 'May call the functions that keep the database small and correct.')
    loop
        if exists (select from pg_catalog.pg_roles as r where r.rolname = v_role) then
            continue;
        end if;
        begin
            execute pg_catalog.format('create role %I nologin', v_role);
            execute pg_catalog.format('comment on role %I is %L', v_role, v_comment);
        exception
            when duplicate_object or unique_violation then
                null;  -- an installation in another database was quicker
        end;
    end loop;
exception
    when insufficient_privilege then
        raise exception 'role "%" may not create roles', current_user
            using errcode = 'insufficient_privilege',
                hint = 'Install as a superuser, or as a role with CREATEROLE.';
end;
$roles$;

do $membership$
begin
    if not pg_catalog.pg_has_role(
        current_user,
        'forebay_owner',
        case when pg_catalog.current_setting('server_version_num')::integer < 160000 then 'MEMBER' else 'SET' end
    ) then
        grant forebay_owner to current_user;
    end if;
exception
    when insufficient_privilege then
        raise exception 'role "%" may not act as forebay_owner, which another role created', current_user
            using errcode = 'insufficient_privilege',
                hint = pg_catalog.format('As a superuser run: grant forebay_owner to %I', current_user);
end;
$membership$;

create schema forebay authorization forebay_owner;

set local role forebay_owner;

alter default privileges for role forebay_owner revoke execute on functions from public;

comment on schema forebay is
'The control plane of long-running AI-agent work. Call its functions; nobody but forebay_owner reads its tables.';

create table forebay.schema_history (
    name       text        not null,
    kind       text        not null,
    sha256     text,
    release    text        not null,
    applied_at timestamptz not null,
    applied_by text        not null,
    runs       integer     not null default 1,
    constraint schema_history_pkey primary key (name),
    constraint schema_history_kind_known check (kind in ('versioned', 'repeatable', 'release')),
    constraint schema_history_sha256_of_files check ((kind = 'release') = (sha256 is null)),
    constraint schema_history_release_is_numbers check (release ~ '^[0-9]+(\.[0-9]+)*$'),
    constraint schema_history_release_names_itself check (kind <> 'release' or name = release)
);
comment on table forebay.schema_history is
'One row a file of db/ that was applied, and one row a release that was installed. Written by the installer alone.';
comment on column forebay.schema_history.name is 'The file below db/, or the release.';
comment on column forebay.schema_history.kind is
'versioned: applied once and frozen; repeatable: applied again when its text changed; release: not a file.';
comment on column forebay.schema_history.release is 'Which release of Forebay applied it last.';
comment on column forebay.schema_history.runs is 'How often it was applied.';

do $verify$
begin
    if current_user <> 'forebay_owner' then
        raise exception 'expected to act as forebay_owner, not as %', current_user;
    end if;
    if not exists (
        select
        from pg_catalog.pg_default_acl as d
        where d.defaclrole = 'forebay_owner'::regrole and d.defaclobjtype = 'f' and d.defaclnamespace = 0
    ) then
        raise exception 'functions of forebay_owner would be executable by PUBLIC';
    end if;
end;
$verify$;
