-- list_prices: what models cost and cost once.
begin;
select plan(4);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_price('n', noon(), noon('1 day'), p_usd_per_page => 0.01);
    select forebay.register_price('m', noon('1 hour'), null, 2, 8, 0.5);
    select forebay.register_price('m', noon('-1 hour'), null, 3, 15, p_usd_per_call => 0.02)
$$);
set local role forebay_viewer;
select results_eq(
    $$ select * from forebay.list_prices() $$,
    $$ values
        ('m', noon('-1 hour'), null::timestamptz, 3::numeric, 15::numeric, null::numeric, null::numeric, 0.02),
        ('m', noon('1 hour'), null, 2, 8, 0.5, null, null),
        ('n', noon(), noon('1 day'), null, null, null, 0.01, null) $$,
    'by model and start'
);
select results_eq(
    $$ select model from forebay.list_prices('{n,x,null}') $$, $$ values ('n') $$, 'of some models'
);
select is_empty($$ select * from forebay.list_prices('{}') $$, 'or none');
select only_callable_by('{viewer}', $$ select * from forebay.list_prices() $$);
select finish();
rollback;
