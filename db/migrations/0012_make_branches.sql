-- Branches to debug with: where the installation is at home, what a branch is called, and how far its masking has come.
--
-- requires  0007_act_and_announce
-- locks     installation, for a moment
-- rewrites  no table
-- breaks    nothing
-- revert    revert/0012_make_branches.sql

alter table forebay.installation
add column home        text,
add column prepared    text[] not null default '{}',
add column opened_home text,
add column branch_name text,
add column branch_of   uuid,
add column branched_at timestamptz,
add column mask_step   integer,
add column mask_after  text,
add column masked_at   timestamptz;
comment on column forebay.installation.home is
'Which database this row was written for, as _here says it: a copy elsewhere in the same cluster, or on another branch of Lakebase, is known by it. Null: anywhere in its cluster.';
comment on column forebay.installation.prepared is
'The names that prepare_branch was told: copies of these names are made to be branches. Empty: no copy was ever made to be one.';
comment on column forebay.installation.opened_home is
'Where the operator opened it, in the cluster of opened_in; null: anywhere there.';
comment on column forebay.installation.branch_name is 'What begin_branch was told; null for what it did not make.';
comment on column forebay.installation.branch_of is 'The installation_id of what it is a branch of.';
comment on column forebay.installation.mask_step is 'Which part mask_data is at; null: at none.';
comment on column forebay.installation.mask_after is 'The last key of that part that it has masked; null: none yet.';
comment on column forebay.installation.masked_at is 'When mask_data had masked everything; a branch of before it cannot be opened.';

update forebay.installation as i
set home = d.oid::text, opened_home = case when i.opened_in is not null then d.oid::text end
from pg_catalog.pg_database as d
where d.datname = pg_catalog.current_database();

create table forebay.masked_names (
    kind  text not null,
    name  text not null,
    alias text not null,
    constraint masked_names_pkey primary key (kind, name),
    constraint masked_names_alias unique (alias),
    constraint masked_names_kind_known check (kind in ('customer', 'person', 'worker'))
);
comment on table forebay.masked_names is
'What mask_data calls customers, persons and workers, so that one has one name everywhere. Emptied when all is masked: nothing leads back.';

create type forebay.branch_state as (
    installation_id uuid, state text, branch_name text, branch_of uuid, branched_at timestamptz, masked_at timestamptz
);
comment on type forebay.branch_state is
'branch_state, begin_branch: one row; state is original (or a copy that took over), copy (not begun as a branch), unfinished (not all masked), closed or open.';

create type forebay.mask_state as (part text, is_complete boolean);
comment on type forebay.mask_state is
'mask_data: the part that it got to, null when everything is masked (is_complete).';

create type forebay.clone as (name text, is_shut boolean);
comment on type forebay.clone is 'list_clones: a database beside this one; nobody can connect to one that is shut.';

do $verify$
begin
    if pg_catalog.to_regclass('forebay.masked_names') is null
        or pg_catalog.to_regtype('forebay.branch_state') is null
        or pg_catalog.to_regtype('forebay.mask_state') is null
        or pg_catalog.to_regtype('forebay.clone') is null then
        raise exception 'expected forebay.masked_names, branch_state, mask_state and clone to be there';
    end if;
    if exists (select from forebay.installation as i where i.home is null or i.masked_at is not null) then
        raise exception 'expected the installation to be at home here, and masked nowhere';
    end if;
end;
$verify$;
