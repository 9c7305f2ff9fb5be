-- branch_state: what a database is, from the original to a branch that was opened.
begin;
select plan(13);
select stop_clock();
set local role forebay_upkeep;
select results_eq(
    $$ select state, branch_name, branch_of, branched_at, masked_at from forebay.branch_state() $$,
    $$ values ('original', null, null::uuid, null::timestamptz, null::timestamptz) $$,
    'what was installed is an original'
);
set local role forebay_owner;
select given($$
    select forebay.prepare_branch('fix');
    update forebay.installation set installation_id = upload(1), home = '1'
$$);
select results_eq(
    $$ select state, branch_name from forebay.branch_state() $$, $$ values ('copy', null::text) $$,
    'elsewhere than at home it is a copy'
);
select throws_ok($$ select forebay.dequeue('w') $$, 'QF401', null, 'which claims nothing');
select given($$ select forebay.begin_branch('fix') $$);
select results_eq(
    $$ select state, branch_name, branch_of, branched_at, masked_at from forebay.branch_state() $$,
    $$ values ('unfinished', 'fix', upload(1), noon(), null::timestamptz) $$,
    'one that is begun is not finished'
);
select given($$ select forebay.mask_data() $$);
select is((forebay.branch_state()).state, 'unfinished', 'nor is one that is masked');
select given($$ select forebay.finish_branch() $$);
select results_eq(
    $$ select state, masked_at from forebay.branch_state() $$, $$ values ('closed', noon()) $$, 'until it is vacuumed too'
);
select given($$ select forebay.open_installation() $$);
select is((forebay.branch_state()).state, 'open', 'an operator opens it');
select given($$ update forebay.installation set home = '1', opened_home = '1' $$);
select is((forebay.branch_state()).state, 'copy', 'and a copy of that is not open');
select given($$ update forebay.installation set branch_name = null, opened_home = null, opened_in = null, home = null $$);
select is((forebay.branch_state()).state, 'copy', 'one that an operator marked as a copy is no branch');
select given($$ update forebay.installation set prepared = '{}'; select forebay.open_installation() $$);
select is((forebay.branch_state()).state, 'original', 'one that took over is an original');
select given($$ select forebay.prepare_branch('fix') $$);
select is((forebay.branch_state()).state, 'original', 'and stays one when a branch is made of it');
select given($$ update forebay.installation set opened_home = '1' $$);
select is((forebay.branch_state()).state, 'copy', 'which is a copy');
select only_callable_by('{upkeep}', $$ select forebay.branch_state() $$);
select finish();
rollback;
