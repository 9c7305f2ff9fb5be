-- report_progress: how far an open attempt has come is shown, and renews nothing.
begin;
select plan(11);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}');
    select forebay.dequeue('w')
$$);
select at_time('30 seconds');
set local role forebay_agent;
select lives_ok($$ select forebay.report_progress(101, 3, 10) $$, 'an attempt tells how far it is');
set local role forebay_owner;
select results_eq(
    $$ select progress_done, progress_total from forebay.list_tasks() $$, $$ values (3, 10) $$, 'which is shown'
);
select results_eq(
    $$ select lease_expires_at from forebay.task_attempts $$, array[noon('1 min')], 'the lease is not renewed'
);
select lives_ok($$ select forebay.report_progress(101, 4, null) $$, 'the total may be unknown');
select throws_ok($$ select forebay.report_progress(101, null, 10) $$, '22023', null, 'what is done is known');
select throws_ok($$ select forebay.report_progress(101, -1, 10) $$, '22023', null, 'and not negative');
select throws_ok($$ select forebay.report_progress(101, 11, 10) $$, '22023', null, 'nor above the total');
select throws_ok($$ select forebay.report_progress(999, 1, 10) $$, 'QF304', null, 'an unknown attempt is refused');
select given($$ select forebay.complete(101, '{}') $$);
select lives_ok($$ select forebay.report_progress(101, 9, 10) $$, 'progress after the end is no error');
select results_eq($$ select progress_done from forebay.task_attempts $$, array[4], 'and is not noted');
select only_callable_by('{agent}', $$ select forebay.report_progress(101, 1, 2) $$);
select finish();
rollback;
