-- prepare_branch: what is copied afterwards is known to be a copy, and the original is none.
begin;
select plan(13);
select stop_clock();
set local role forebay_owner;
select given($$ update forebay.installation set installation_id = upload(1) $$);
set local role forebay_upkeep;
select is(forebay.prepare_branch('fix', 'ann'), upload(1), 'the id of the original');
select is((forebay.branch_state()).state, 'original', 'which stays one');
select lives_ok($$ select forebay.prepare_branch('fix') $$, 'it may be asked again');
set local role forebay_owner;
select results_eq(
    $$ select actor, details from forebay.audit_log where action = 'create_branch' order by audit_id limit 1 $$,
    $$ values ('ann', '{"name": "fix"}'::jsonb) $$,
    'the log says who copied the database'
);
select given($$ set local forebay.branch = 'projects/p/branches/production' $$);
select given($$ select forebay.prepare_branch('fix') $$);
select given($$ set local forebay.branch = 'projects/p/branches/forebay-fix' $$);
select is((forebay.branch_state()).state, 'copy', 'a session that says another branch of Lakebase is in a copy');
select given($$ set local forebay.branch = '' $$);
select is((forebay.branch_state()).state, 'copy', 'one that says none may be on a copy');
select throws_ok($$ select forebay.dequeue('w') $$, 'QF401', null, 'so it claims nothing');
select given($$
    update forebay.installation set opened_in = forebay._cluster(), opened_home = '1 projects/p/branches/forebay-later';
    set local forebay.branch = 'projects/p/branches/production';
    select forebay.prepare_branch('later')
$$);
select is_empty($$ select from forebay.installation where opened_in is not null or opened_home is not null $$,
    'nothing that an operator opened here before goes with a copy');
select results_eq(
    $$ select prepared from forebay.installation $$, $$ values ('{fix,fix,later,later}'::text[]) $$,
    'it keeps the names, of which copies are awaited'
);
select is(array[forebay.was_prepared('fix'), forebay.was_prepared('other')], '{t,f}', 'by which copies are known');
select throws_ok($$ select forebay.prepare_branch('') $$, '22023', null, 'a branch has a name');
select throws_ok($$ select forebay.prepare_branch(null) $$, '22023', null, 'which is not null');
select only_callable_by('{upkeep}', $$ select forebay.prepare_branch('fix') $$);
select finish();
rollback;
