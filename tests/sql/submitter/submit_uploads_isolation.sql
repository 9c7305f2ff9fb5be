-- submit_uploads enqueues, so where the line is limited it refuses every level but READ COMMITTED.
begin;
set local transaction_isolation = 'repeatable read';
select plan(1);
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    update forebay.agents set max_waiting = 3 where agent = 'a';
    select forebay.open_upload(upload(1), '1.pdf', 'ann');
    select forebay.finish_upload(upload(1), 10, 1, 100, 'ann')
$$);
select throws_ok(
    $$ select forebay.submit_uploads('k', array[upload(1)], 'a', 'n', 'ann') $$, '25001', null, 'REPEATABLE READ is refused'
);
select finish();
rollback;
