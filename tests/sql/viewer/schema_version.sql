-- schema_version: the newest release, for every caller.
begin;
select plan(2);
set local role forebay_owner;
select given($$
    insert into forebay.schema_history (name, kind, release, applied_at, applied_by)
    select r.name, 'release', r.name, noon(), 'ann' from (values ('99.9.0'), ('99.10.0'), ('99.2.0')) as r (name)
$$);
select is(forebay.schema_version(), '99.10.0', 'releases are ordered by number, not by letter');
select only_callable_by(
    '{submitter, worker, agent, operator, viewer, reader, upkeep}', $$ select forebay.schema_version() $$
);
select finish();
rollback;
