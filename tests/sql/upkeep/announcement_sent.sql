-- announcement_sent: what was sent is settled, what was not is handed out again, less and less often, for a day.
begin;
select plan(15);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.pause_agent('a')
$$);
create temporary view collected as select c.announcement_id, c.tries from forebay.collect_announcements() as c;
create temporary table known as select c.announcement_id from collected as c;
create temporary view failed as select forebay.announcement_sent(k.announcement_id, 'HTTP 500') as state from known as k;
select results_eq($$ select state from failed $$, array['waiting'], 'a failure waits');
select at_time('9 s');
select is_empty($$ select * from collected $$, 'for 10 seconds');
select at_time('10 s');
select results_eq($$ select tries from collected $$, array[2], 'and is then handed out again');
select results_eq($$ select state from failed $$, array['waiting'], 'another failure waits');
select at_time('29 s');
select is_empty($$ select * from collected $$, 'twice as long');
select at_time('30 s');
select results_eq($$ select tries from collected $$, array[3], 'and so on');
select given($$ update forebay.announcements set tries = 500; select state from failed $$);
select results_eq(
    $$ select next_try_at, last_error from forebay.announcements $$,
    $$ values (noon('1 hour 30 s'), 'HTTP 500') $$,
    'an hour at most, and it is known what was wrong'
);
select at_time('1 day');
select results_eq($$ select state from failed $$, array['given_up'], 'after a day it is given up');
select at_time('2 days');
select is_empty($$ select * from collected $$, 'which stays so');
select results_eq(
    $$ select forebay.announcement_sent(announcement_id) from known $$, array['given_up'],
    'whatever is said of it later'
);
select given($$ select forebay.resume_agent('a'), forebay.collect_announcements(), forebay.pause_agent('a') $$);
create temporary table next as select c.announcement_id from collected as c;
select results_eq($$ select forebay.announcement_sent(announcement_id) from next $$, array['sent'], 'what was sent is settled');
select results_eq(
    $$ select forebay.announcement_sent(announcement_id, 'HTTP 500') from next $$, array['sent'], 'whatever is said of it later'
);
select is(forebay.announcement_sent(gen_random_uuid()), 'unknown', 'one that is not known is told');
select throws_ok($$ select forebay.announcement_sent(null) $$, '22023', null, 'an id is given');
select only_callable_by('{upkeep}', $$ select forebay.announcement_sent(gen_random_uuid(), 'x') $$);
select finish();
rollback;
