-- attempts_to_cost: ended attempts whose machine nobody has told the cost of.
begin;
select plan(6);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 4);
    select forebay.dequeue('w', p_batch_size => 4)
$$);
select at_time('30 s');
select given($$ select forebay.complete(102, '{}') $$);
select at_time('40 s');
select given($$ select forebay.release(101, 'stop'), forebay.complete(103, '{}') $$);
select given($$ select forebay.record_compute_usage('[{"record_id": "r", "attempt_id": 103, "usd": 0}]') $$);
set local role forebay_upkeep;
select results_eq(
    $$ select * from forebay.attempts_to_cost() $$,
    $$ values (102::bigint, 2::bigint, 'a', 'pull', null::text, noon(), noon('30 s')),
        (101, 1, 'a', 'pull', null, noon(), noon('40 s')) $$,
    'those that have ended, the first to end first'
);
select results_eq($$ select attempt_id from forebay.attempts_to_cost(1) $$, array[102::bigint], 'no more than p_limit');
select throws_ok($$ select forebay.attempts_to_cost(0) $$, '22023', null, 'p_limit is at least 1');
select throws_ok($$ select forebay.attempts_to_cost(10001) $$, '22023', null, 'and at most 10,000');
select throws_ok($$ select forebay.attempts_to_cost(null) $$, '22023', null, 'and not null');
select only_callable_by('{upkeep}', $$ select forebay.attempts_to_cost() $$);
select finish();
rollback;
