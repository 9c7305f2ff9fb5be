-- list_clones: the databases beside this one whose names begin so.
begin;
select plan(6);
set local role forebay_upkeep;
select results_eq(
    $$ select * from forebay.list_clones('template') $$, $$ values ('template0', true), ('template1', false) $$,
    'all that do, by name, and which of them are shut'
);
select is_empty($$ select forebay.list_clones('TEMPLATE%') $$, 'to the letter');
select is_empty($$ select forebay.list_clones(current_database()) $$, 'this one is not beside itself');
select throws_ok($$ select forebay.list_clones('') $$, '22023', null, 'a mark is not empty');
select throws_ok($$ select forebay.list_clones(null) $$, '22023', null, 'or null');
select only_callable_by('{upkeep}', $$ select forebay.list_clones('x') $$);
select finish();
rollback;
