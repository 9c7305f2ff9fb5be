-- server_time: every caller may ask the one clock.
begin;
select plan(2);
select stop_clock();
set local role forebay_viewer;
select is(forebay.server_time(), noon(), 'it is the clock that decides about leases');
select only_callable_by(
    '{submitter, worker, agent, operator, viewer, reader, upkeep}', $$ select forebay.server_time() $$
);
select finish();
rollback;
