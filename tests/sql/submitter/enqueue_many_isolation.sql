-- enqueue_many counts what waits, so where that is limited it refuses every level but READ COMMITTED.
begin;
set local transaction_isolation = 'repeatable read';
select plan(2);
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_waiting => 3);
    select forebay.register_agent('any')
$$);
select throws_ok($$ select forebay.enqueue('a', '1') $$, '25001', null, 'REPEATABLE READ is refused');
select lives_ok($$ select forebay.enqueue('any', '1') $$, 'an agent without the limit takes it at any level');
select finish();
rollback;
