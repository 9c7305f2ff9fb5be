-- list_compute_sources: who told what machines cost.
begin;
select plan(4);
select stop_clock();
set local role forebay_viewer;
select is_empty($$ select * from forebay.list_compute_sources() $$, 'nobody at first');
set local role forebay_upkeep;
select lives_ok($$ select forebay.record_compute_usage('[]'), forebay.record_compute_usage('[]', 'Bill') $$, 'two are read');
set local role forebay_viewer;
select results_eq(
    $$ select * from forebay.list_compute_sources() $$, $$ values ('Bill'), ('local') $$, 'then both are there, by name'
);
select only_callable_by('{viewer}', $$ select * from forebay.list_compute_sources() $$);
select finish();
rollback;
