-- Apply :file unless the ledger has it with :sha256. Included by install.sql, once a file.
--
-- On a new database everything is due, and the first file creates the ledger. The grants are due after any change.

\set seen :seen :file ' '
\set is_due true
\set is_edited false

\if :is_new
\else
    select
        coalesce(h.sha256 <> :'sha256', true) or (:'file' = 'grants.sql' and :is_changed) as is_due,
        coalesce(h.sha256 <> :'sha256' and h.kind = 'versioned', false) as is_edited
    from (values (:'file')) as step (name)
    left join forebay.schema_history as h on h.name = step.name \gset
\endif

\if :is_edited
    \warn :file 'was edited after it was applied: restore it, and put the change in a new migration.'
    do $refuse$ begin raise exception 'refused, nothing was changed'; end $refuse$;
\endif

\if :is_due
    \set is_changed true
    \echo apply :file
    \ir ../:file
    insert into forebay.schema_history as h (name, kind, sha256, release, applied_at, applied_by)
    values (
        :'file',
        case when :'file' like 'migrations/%' then 'versioned' else 'repeatable' end,
        :'sha256', :'release', pg_catalog.clock_timestamp(), session_user
    )
    on conflict (name) do update
    set sha256 = excluded.sha256, release = excluded.release, applied_at = excluded.applied_at,
        applied_by = excluded.applied_by, runs = h.runs + 1;
\endif
