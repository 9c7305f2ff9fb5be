-- Every table keeps the house's habits: zones, keys, indexes, comments; and a lease is renewed in place.
begin;
select plan(12);
set local role forebay_owner;
create temporary view relations as
select
c.oid,
c.relname,
c.relkind,
c.reltype,
c.reloptions
from pg_class as c
where c.relnamespace = 'forebay'::regnamespace;
select is_empty(
    $$ select r.relname, a.attname from relations as r inner join pg_attribute as a on a.attrelid = r.oid
    where a.atttypid in ('timestamp'::regtype, 'timetz'::regtype, 'time'::regtype) and not a.attisdropped $$,
    'no column holds a time without its zone'
);
select is_empty(
    $$ select r.relname, a.attname from relations as r inner join pg_attribute as a on a.attrelid = r.oid
    where (a.atttypid = 'date'::regtype) <> (a.attname = 'day') and not a.attisdropped $$,
    'a date is the day of money, a UTC day, and is called so'
);
select is_empty(
    $$ select r.relname, a.attname from relations as r inner join pg_attribute as a on a.attrelid = r.oid
    where r.relkind in ('r', 'c') and a.attname like '%\_at' and a.atttypid <> 'timestamptz'::regtype $$,
    'what ends in _at is a timestamptz'
);
select is_empty(
    $$ select r.relname, a.attname from relations as r inner join pg_attribute as a on a.attrelid = r.oid
    where r.relkind = 'r' and a.attname like 'is\_%' and a.atttypid <> 'boolean'::regtype $$,
    'what starts with is_ is a boolean'
);
select is_empty(
    $$ select r.relname, a.attname from relations as r inner join pg_attribute as a on a.attrelid = r.oid
    where r.relkind in ('r', 'c') and a.attname in ('task_id', 'attempt_id', 'batch_id')
        and a.atttypid <> 'bigint'::regtype $$,
    'ids are bigint'
);
select is_empty(
    $$ select f.conname from pg_constraint as f
    where f.contype = 'f' and f.connamespace = 'forebay'::regnamespace and not exists (
        select from pg_index as i
        where i.indrelid = f.conrelid and (i.indkey::smallint[])[0:cardinality(f.conkey) - 1] @> f.conkey
    ) $$,
    'every foreign key has an index'
);
select is_empty(
    $$ select r.relname from relations as r where r.relkind = 'r'
        and not exists (select from pg_constraint as p where p.conrelid = r.oid and p.contype = 'p') $$,
    'every table has a primary key'
);
select is_empty(
    $$ select r.relname from relations as r
    where r.relkind in ('r', 'c')
        and coalesce(obj_description(r.oid, 'pg_class'), obj_description(r.reltype, 'pg_type')) is null $$,
    'every table and row type has a comment'
);
select is_empty(
    $$ select i.indexrelid::regclass from pg_index as i
    inner join pg_attribute as a on a.attrelid = i.indrelid and a.attname in ('lease_expires_at', 'worker', 'run_state')
    where i.indrelid = 'forebay.task_attempts'::regclass
        and (a.attnum = any(i.indkey) or pg_get_indexdef(i.indexrelid) like '%' || a.attname || '%') $$,
    'no index holds what a renewal writes'
);
select is_empty(
    $$ select r.relname from relations as r
    where r.relname in ('task_attempts', 'tasks', 'agent_budgets') and not r.reloptions::text ~ 'fillfactor=[5-8]0' $$,
    'pages keep room for a new version of a row'
);

-- Renewals, counted by the server itself.
select stop_clock();
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 20);
    select forebay.dequeue('w', p_batch_size => 20)
$$);
create temporary table updates as
select
    pg_stat_get_xact_tuples_updated('forebay.task_attempts'::regclass) as total,
    pg_stat_get_xact_tuples_hot_updated('forebay.task_attempts'::regclass) as hot;
select given($$ select forebay.renew_leases('w', array(select a.attempt_id from forebay.task_attempts as a)) $$);
select results_eq(
    $$ select
        pg_stat_get_xact_tuples_updated('forebay.task_attempts'::regclass) - u.total,
        pg_stat_get_xact_tuples_hot_updated('forebay.task_attempts'::regclass) - u.hot
    from updates as u $$,
    $$ values (20::bigint, 20::bigint) $$,
    'twenty renewals are twenty updates in place'
);
select results_eq(
    $$ select count(*) from forebay.installation $$, array[1]::bigint[], 'the installation is one row'
);
select finish();
rollback;
