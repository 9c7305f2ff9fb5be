-- Remove Forebay from this database, all tasks included: psql -v ON_ERROR_STOP=1 -f db/uninstall.sql
--
-- The roles go too, unless another database of the cluster still needs them: then a notice says so.
-- Running it again does nothing.

\set ON_ERROR_STOP on
\set QUIET on
begin;
set local lock_timeout = '5s';
select pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtext('forebay.schema')) \g /dev/null
\ir migrations/revert/0001_create_roles.sql
commit;
