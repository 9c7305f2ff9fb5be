-- Finish an installation: forget files that are gone, record the release, commit. Included by install.sql.

select
    pg_catalog.count(*) filter (where h.kind = 'versioned') > 0 as is_newer,
    pg_catalog.string_agg(h.name, ' ') filter (where h.kind = 'versioned') as unknown
from forebay.schema_history as h
where h.kind <> 'release' and pg_catalog.strpos(:'seen', ' ' || h.name || ' ') = 0 \gset

\if :is_newer
    \warn 'The database has' :unknown 'which release' :release 'of Forebay does not know: install from a newer one.'
    do $refuse$ begin raise exception 'refused, nothing was changed'; end $refuse$;
\endif

delete from forebay.schema_history as h
where h.kind = 'repeatable' and pg_catalog.strpos(:'seen', ' ' || h.name || ' ') = 0;

insert into forebay.schema_history (name, kind, release, applied_at, applied_by)
values (:'release', 'release', :'release', pg_catalog.clock_timestamp(), session_user)
on conflict (name) do nothing;

commit;
\echo Forebay :release is installed.
