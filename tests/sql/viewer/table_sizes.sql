-- table_sizes: how large each table is.
begin;
select plan(4);
set local role forebay_viewer;
select is(
    (select count(*) from forebay.table_sizes()),
    (select count(*) from pg_class where relnamespace = 'forebay'::regnamespace and relkind = 'r'),
    'every table is there'
);
select results_eq(
    $$ select array_agg(s.name order by s.place) from forebay.table_sizes() with ordinality as s (name, rows, bytes, dead, at, place) $$,
    $$ select array_agg(s.name order by s.bytes desc, s.name) from forebay.table_sizes() as s $$,
    'the largest first'
);
select is_empty($$ select * from forebay.table_sizes() where bytes < 8192 or dead_rows < 0 $$, 'each with its indexes');
select only_callable_by('{viewer}', $$ select forebay.table_sizes() $$);
select finish();
rollback;
