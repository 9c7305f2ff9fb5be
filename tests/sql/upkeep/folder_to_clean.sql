-- folder_to_clean: what uploads left is removed where they were, and by a copy only when it was opened.
begin;
select plan(6);
select stop_clock();
set local role forebay_upkeep;
select is(forebay.folder_to_clean(), 'uploads', 'an original has all of them');
set local role forebay_owner;
select given($$ select forebay.prepare_branch('fix'); update forebay.installation set home = '1' $$);
select is(forebay.folder_to_clean(), null, 'a copy has none');
select given($$
    select forebay.begin_branch('fix');
    update forebay.installation set installation_id = upload(1);
    select forebay.mask_data();
    select forebay.finish_branch()
$$);
select is(forebay.folder_to_clean(), null, 'nor has a closed branch');
select given($$ select forebay.open_installation() $$);
select is(
    forebay.folder_to_clean(), 'uploads/00000000-0000-0000-0000-000000000001', 'an open one has those of its own'
);
select given($$
    update forebay.installation set is_branch = false, branch_name = null, home = '1', opened_home = null;
    select forebay.open_installation()
$$);
select is(forebay.folder_to_clean(), 'uploads', 'a copy that took over has what the original had');
select only_callable_by('{upkeep}', $$ select forebay.folder_to_clean() $$);
select finish();
rollback;
