-- Begin an installation of :release: the locks, the settings, and who to be. Included by install.sql.

\set ON_ERROR_STOP on
\set QUIET on
\encoding UTF8
\set seen ' '
\set is_changed false

begin isolation level read committed;
set local client_min_messages = warning;
set local lock_timeout = '5s';
set local check_function_bodies = off;
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('forebay.schema')) \g /dev/null

select not exists (
    select
    from pg_catalog.pg_class as c
    inner join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    where n.nspname = 'forebay' and c.relname = 'schema_history'
) as is_new \gset

\if :is_new
\else
    set local role forebay_owner;
    select exists (
        select
        from forebay.schema_history as h
        where
            h.kind = 'release'
            and pg_catalog.string_to_array(h.name, '.')::integer[]
            > pg_catalog.string_to_array(:'release', '.')::integer[]
    ) as is_newer \gset
    \if :is_newer
        \warn 'The database has a newer release than' :release 'of Forebay: install from that one.'
        do $refuse$ begin raise exception 'refused, nothing was changed'; end $refuse$;
    \endif
\endif
