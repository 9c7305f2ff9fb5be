-- collect_announcements decides on what others have just committed, so it refuses every level but READ COMMITTED.
begin;
set local transaction_isolation = 'repeatable read';
select plan(1);
set local role forebay_upkeep;
select throws_ok($$ select forebay.collect_announcements() $$, '25001', null, 'REPEATABLE READ is refused');
select finish();
rollback;
