-- may_call decides on what others have just committed, so it refuses every level but READ COMMITTED.
begin;
set local transaction_isolation = 'repeatable read';
select plan(1);
set local role forebay_owner;
select given($$ select forebay.register_agent('a'), forebay.enqueue('a', '{}') $$);
set local role forebay_agent;
select throws_ok($$ select forebay.may_call(1, 1) $$, '25001', null, 'REPEATABLE READ is refused');
select finish();
rollback;
