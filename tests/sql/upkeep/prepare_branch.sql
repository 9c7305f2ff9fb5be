-- prepare_branch: what is copied afterwards is known to be a copy, and the original is none.
begin;
select plan(9);
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
select is((forebay.branch_state()).state, 'original', 'one that says none is where it always was');
select throws_ok($$ select forebay.prepare_branch('') $$, '22023', null, 'a branch has a name');
select throws_ok($$ select forebay.prepare_branch(null) $$, '22023', null, 'which is not null');
select only_callable_by('{upkeep}', $$ select forebay.prepare_branch('fix') $$);
select finish();
rollback;
