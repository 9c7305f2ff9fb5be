-- branch_copied: when the copy is there the original awaits none, and keeps the name.
begin;
select plan(5);
set local role forebay_owner;
select given($$ select forebay.prepare_branch('fix'), forebay.prepare_branch('later') $$);
set local role forebay_upkeep;
select given($$ select forebay.branch_copied('fix'), forebay.branch_copied('fix'), forebay.branch_copied('other') $$);
set local role forebay_owner;
select results_eq(
    $$ select prepared from forebay.installation $$, $$ values ('{later,later,fix}'::text[]) $$, 'of that name, and of no other'
);
select is(forebay.was_prepared('fix'), true, 'by its name the copy is known');
select is(forebay.was_prepared('other'), false, 'what was not to be made is not');
select throws_ok($$ select forebay.branch_copied(null) $$, '22023', null, 'a name is not null');
select only_callable_by('{upkeep}', $$ select forebay.branch_copied('fix') $$);
select finish();
rollback;
