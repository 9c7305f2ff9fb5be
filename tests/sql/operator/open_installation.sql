-- open_installation: a copy may dispatch when an operator says so.
begin;
select plan(3);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a'), forebay.register_agent('b');
    select forebay.enqueue('a', '{}')
$$);
set local role forebay_operator;
select lives_ok($$ select forebay.open_installation('drill', 'ann') $$, 'an installation is opened');
set local role forebay_owner;
select results_eq(
    $$ select actor, reason from forebay.audit_log where action = 'open_installation' $$,
    $$ values ('ann', 'drill') $$,
    'and the log says so'
);
select only_callable_by('{operator}', $$ select forebay.open_installation() $$);
select finish();
rollback;
