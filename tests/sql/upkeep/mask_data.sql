-- mask_data: step by step everything is blanked for good, in a branch, and elsewhere only by force.
begin;
select plan(29);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.open_batch('Smith', 'Acme', 'ann', '{"of": "Smith"}');
    select forebay.register_customer('customer 0123456789ab', 9);
    select forebay.enqueue('a', '{"of": "Smith"}', p_batch_id => 11, p_idempotency_key => 'Smith') ;
    select forebay.enqueue('a', '{"of": "Smith"}', p_customer => c) from unnest(array['Acme', 'Best', 'Acme']) as c;
    select forebay.dequeue('w', p_batch_size => 3);
    select forebay.complete(101, '{"of": "Smith"}', 0.9);
    select forebay.fail(102, '{"kind": "bad_input", "message": "of Smith"}', false);
    select forebay.open_upload(upload(1), 'Smith.pdf', 'ann'), forebay.open_upload(upload(2), 'Smith.pdf', 'ann');
    select forebay.finish_upload(upload(1), 10, 1, 100, 'ann');
    select forebay.sweep();
    select forebay._fold_changes(1)
$$);
set local role forebay_upkeep;
select throws_ok($$ select forebay.mask_data() $$, 'QF405', null, 'what is no branch is not masked');
set local role forebay_owner;
select given($$ select forebay.prepare_branch('fix'); update forebay.installation set home = '1' $$);
select throws_ok($$ select forebay.mask_data() $$, 'QF405', null, 'nor what nobody has begun as one');
select given($$ select forebay.begin_branch('fix') $$);
select throws_ok($$ select forebay.open_installation() $$, 'QF406', null, 'a branch that is not masked cannot be opened');
set local role forebay_upkeep;
select results_eq($$ select * from forebay.mask_data(2) $$, $$ values ('tasks', false) $$, 'it goes as far as the limit');
set local role forebay_owner;
select results_eq(
    $$ select task_id, payload from forebay.tasks order by task_id $$,
    $$ values (1::bigint, '{}'::jsonb), (2, '{}'), (3, '{"of": "Smith"}'), (4, '{"of": "Smith"}') $$,
    'in order'
);
select throws_ok($$ select forebay.open_installation() $$, 'QF406', null, 'half of it is not enough');
set local role forebay_upkeep;
select results_eq($$ select * from forebay.mask_data(2) $$, $$ values ('tasks', false) $$, 'it goes on where it was');
select results_eq($$ select * from forebay.mask_data(2) $$, $$ values ('attempts', false) $$, 'part by part');
select results_eq($$ select * from forebay.mask_data() $$, $$ values (null::text, true) $$, 'until all is done');
set local role forebay_owner;
select results_eq(
    $$ select result, error, customer ~ '^customer [0-9a-f]{12}$' from forebay.tasks order by task_id limit 2 $$,
    $$ values ('{}'::jsonb, null::jsonb, true), (null, '{"kind": "bad_input", "message": "masked"}', true) $$,
    'of an error the kind stays'
);
select is((select count(distinct customer) from forebay.tasks), 2::bigint, 'customers can be told from one another');
select results_eq(
    $$ select customer, sum(tasks)::bigint from forebay.task_rollups where is_by_customer and minutes = 60 group by 1 order by 1 $$,
    $$ select customer, count(*) from forebay.tasks group by 1 order by 1 $$,
    'and are called the same where tasks are added up'
);
select results_eq(
    $$ select name, owner ~ '^person [0-9a-f]{12}$', metadata, customer from forebay.batches $$,
    $$ select 'batch 11', true, '{}'::jsonb, t.customer from forebay.tasks as t where t.task_id = 1 $$,
    'a batch is called by its number'
);
select is_empty(
    $$ select from forebay.uploads where name <> 'masked.pdf' or dropped_at is null or cleaned_at is null or document !~ '^masked/' $$,
    'no upload leads to a file'
);
select is_empty(
    $$ select from forebay.customers where customer = 'customer 0123456789ab' $$, 'nor does one stay who is really called like a made-up name'
);
select is_empty($$ select from forebay.masked_names $$, 'nothing leads from a made-up name back');
create temporary table before as select t.*, t.xmin as version from forebay.tasks as t;
select given($$ select forebay.enqueue('a', '{"of": "Jones"}', p_customer => 'Jones') $$);
select results_eq($$ select * from forebay.mask_data() $$, $$ values (null::text, true) $$, 'once more');
select is_empty(
    $$ select from forebay.tasks as t inner join before as b using (task_id) where t.customer <> b.customer or t.payload <> b.payload $$,
    'nothing that was masked changes'
);
select is_empty($$ select from forebay.tasks where payload <> '{}' or customer = 'Jones' $$, 'and what is new is masked');
select throws_ok($$ select forebay.open_installation() $$, 'QF406', null, 'what is masked and not vacuumed is not opened');
select given($$ select forebay.finish_branch(), forebay.open_installation() $$);
select throws_ok($$ select forebay.mask_data() $$, 'QF405', null, 'an open branch does real work: it is not masked');
select given($$
    select forebay.resume_agent('a');
    select forebay.enqueue('a', '{"of": "Jones"}', p_priority => 9);
    select forebay.dequeue('w')
$$);
select lives_ok($$ select forebay.mask_data(p_force => true) $$, 'but by force');
select is(
    (select array_agg(a.worker) from forebay.task_attempts as a where a.finished_at is null), '{w}', 'where a claim stays with its worker'
);
select is((forebay.branch_state()).state, 'open', 'and the branch stays open');
select throws_ok($$ select forebay.mask_data(0) $$, '22023', null, 'a limit is 1 at least');
select throws_ok($$ select forebay.mask_data(null) $$, '22023', null, 'and not null');
select throws_ok($$ select forebay.mask_data(p_force => null) $$, '22023', null, 'force is true or false');
select given($$ update forebay.installation set is_branch = false, opened_in = null, branch_name = null $$);
select lives_ok($$ select forebay.mask_data(p_force => true) $$, 'and in an original too');
select only_callable_by('{upkeep}', $$ select forebay.mask_data(p_force => true) $$);
select finish();
rollback;
