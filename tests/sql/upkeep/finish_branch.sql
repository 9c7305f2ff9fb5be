-- finish_branch: a branch that is masked is finished when its owner says that it was vacuumed.
begin;
select plan(8);
select stop_clock();
set local role forebay_owner;
select throws_ok($$ select forebay.finish_branch() $$, 'QF405', null, 'an original is no branch');
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 2);
    select forebay.prepare_branch('fix');
    update forebay.installation set home = '1'
$$);
select throws_ok($$ select forebay.finish_branch() $$, 'QF405', null, 'nor is a copy that nobody has begun');
select given($$ select forebay.begin_branch('fix') $$);
select throws_ok($$ select forebay.finish_branch() $$, 'QF406', null, 'what is not masked is not finished');
select given($$ select forebay.mask_data(), forebay.mask_data(1) $$);
select throws_ok($$ select forebay.finish_branch() $$, 'QF406', null, 'nor what is being masked anew');
select given($$ select forebay.mask_data() $$);
set local role forebay_upkeep;
select results_eq(
    $$ select state, masked_at from forebay.finish_branch() $$, $$ values ('closed', noon()) $$, 'all masked and vacuumed it is'
);
select throws_ok($$ select forebay.finish_branch() $$, 'QF405', null, 'once');
set local role forebay_owner;
select given($$ select forebay.mask_data() $$);
select is((forebay.branch_state()).state, 'unfinished', 'until it is masked once more');
select only_callable_by('{upkeep}', $$ select forebay.finish_branch() $$);
select finish();
rollback;
