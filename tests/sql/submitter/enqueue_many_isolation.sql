-- enqueue_many counts what waits, so where that is limited it refuses every level but READ COMMITTED, as register_agent does.
begin;
set local transaction_isolation = 'repeatable read';
select plan(3);
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.register_agent('any');
    update forebay.agents set max_waiting = 3 where agent = 'a'
$$);
select throws_ok($$ select forebay.enqueue('a', '1') $$, '25001', null, 'REPEATABLE READ is refused');
select lives_ok($$ select forebay.enqueue('any', '1') $$, 'an agent without the limit takes it at any level');
select throws_ok(
    $$ select forebay.register_agent('b', p_max_waiting => 3) $$, '25001', null, 'and no such limit is set there'
);
select finish();
rollback;
