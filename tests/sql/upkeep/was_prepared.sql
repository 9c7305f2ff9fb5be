-- was_prepared: only what prepare_branch was told is the name of a branch.
begin;
select plan(4);
set local role forebay_owner;
select given($$ select forebay.prepare_branch('fix') $$);
select is(forebay.was_prepared('fix'), true, 'what was told is');
select is(forebay.was_prepared('backup'), false, 'what was not is not');
select throws_ok($$ select forebay.was_prepared(null) $$, '22023', null, 'a name is not null');
select only_callable_by('{upkeep}', $$ select forebay.was_prepared('fix') $$);
select finish();
rollback;
