-- complete_many: one row a distinct attempt, and one bad result spoils only its own.
begin;
select plan(11);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 6);
    select forebay.dequeue('w', p_batch_size => 6)
$$);
set local role forebay_agent;
select results_eq(
    $$ select * from forebay.complete_many(
        '{103, 101, 999, 102, 101, null, 106}',
        array['3', '1', '9', to_jsonb(repeat('x', 1048576)), '0', '0', '[1e309]']::jsonb[]
    ) $$,
    $$ values (101::bigint, 'completed', 'completed'), (102, 'failed', 'failed'), (103, 'completed', 'completed'),
        (106, 'failed', 'failed'), (999, null, 'none') $$,
    'a result that is too large, or has a vast number, fails its attempt for good; an unknown attempt has no status'
);
set local role forebay_owner;
select results_eq(
    $$ select status, result, error ->> 'kind' from forebay.tasks where task_id <= 3 order by task_id $$,
    $$ values ('completed', '1'::jsonb, null), ('failed', null, 'bad_input'), ('completed', '3', null) $$,
    'of an attempt given twice the first result counts'
);
select results_eq(
    $$ select * from forebay.complete_many('{104, 105}', '{4, 5}', '{0.5, 2}') $$,
    $$ values (104::bigint, 'completed', 'completed'), (105, 'failed', 'failed') $$,
    'a confidence that is no good spoils its own as well'
);
select is_empty($$ select forebay.complete_many('{}', '{}') $$, 'no attempts, no rows');
select throws_ok($$ select forebay.complete_many(null, '{1}') $$, '22023', null, 'the attempts are given');
select throws_ok($$ select forebay.complete_many('{101}', null) $$, '22023', null, 'the results are given');
select throws_ok($$ select forebay.complete_many('{101}', '{1, 2}') $$, '22023', null, 'one result each');
select throws_ok($$ select forebay.complete_many('{101}', '{1}', '{}') $$, '22023', null, 'one confidence each');
select throws_ok(
    $$ select forebay.complete_many('{101, 102}', '{1, 2}', '{0.5}') $$, '22023', null, 'not some of them'
);
select results_eq(
    $$ select effect from forebay.complete_many('{101}', '{1}') $$, array['none'], 'a repetition does nothing'
);
select only_callable_by('{agent}', $$ select forebay.complete_many('{101}', '{1}') $$);
select finish();
rollback;
