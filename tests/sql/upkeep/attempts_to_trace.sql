-- attempts_to_trace: ended attempts are handed out once each, again after longer and longer waits, and at last no more.
begin;
select plan(15);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}') from generate_series(1, 5);
    select forebay.dequeue('w', p_batch_size => 5);
    select forebay.report_usage(102, '{"call_id": "1", "trace_id": "tr-1"}')
$$);
select at_time('10 s');
select given($$
    select forebay.complete(102, '{}'), forebay.release(104, 'stop');
    select forebay.fail(105, '{"kind": "x", "message": "x"}', false)
$$);
set local role forebay_upkeep;
select results_eq(
    $$ select attempt_id, task_id, trace_id, started_at, finished_at from forebay.attempts_to_trace() $$,
    $$ values (102::bigint, 2::bigint, 'tr-1', noon(), noon('10 s')), (105, 5, null, noon(), noon('10 s')) $$,
    'those that have ended, but not one that was given back before any call'
);
select is_empty($$ select * from forebay.attempts_to_trace() $$, 'nobody else gets them meanwhile');
select at_time('2 minutes 10 s');
select results_eq($$ select attempt_id from forebay.attempts_to_trace(1) $$, array[102::bigint], 'but after two minutes');
set local role forebay_owner;
select results_eq(
    $$ select encode(sha256(convert_to(launch_token, 'UTF8')), 'hex') from forebay.task_attempts where attempt_id = 105 $$,
    $$ select launch_key from forebay.attempts_to_trace() $$,
    'a key tells attempts of all installations apart, and tells nothing of the token'
);
select given($$ select forebay.complete(101, '{}') $$);
set local role forebay_upkeep;
select results_eq($$ select attempt_id from forebay.attempts_to_trace() $$, array[101::bigint], 'a new one comes at once');
select is(forebay.record_traces(101, '[]'), 'awaited', 'nothing was found');
select at_time('3 minutes 9 s');
select is_empty($$ select * from forebay.attempts_to_trace() $$, 'the first wait is a minute');
select at_time('3 minutes 10 s');
select results_eq($$ select attempt_id from forebay.attempts_to_trace() $$, array[101::bigint], 'and no more');
set local role forebay_owner;
select at_time('9 days');
select given($$ truncate forebay.attempt_traces; select forebay.complete(103, '{}') $$);
set local role forebay_upkeep;
select results_eq(
    $$ select attempt_id from forebay.attempts_to_trace() $$, array[103::bigint],
    'whoever asks for the first time is not sent to look for what ended long ago'
);
select throws_ok($$ select forebay.attempts_to_trace(0) $$, '22023', null, 'p_limit is at least 1');
select throws_ok($$ select forebay.attempts_to_trace(10001) $$, '22023', null, 'and at most 10,000');
select throws_ok($$ select forebay.attempts_to_trace(null) $$, '22023', null, 'and not null');
set local role forebay_owner;
select given($$
    truncate forebay.attempt_traces;
    update forebay.installation set is_branch = true, opened_in = null
$$);
set local role forebay_upkeep;
select is_empty($$ select * from forebay.attempts_to_trace() $$, 'in a copy that nobody has opened nothing is looked for');
set local role forebay_owner;
select results_eq(
    $$ select forebay._trace_wait(n, true), forebay._trace_wait(n, false) from generate_series(1, 7) as n $$,
    $$ values (interval '1 minute', interval '1 minute'), ('4 minutes', '4 minutes'), ('16 minutes', null), ('64 minutes', null),
        ('256 minutes', null), ('1024 minutes', null), (null, null) $$,
    'each wait is four times as long; where no trace is expected there are three looks, else seven'
);
select only_callable_by('{upkeep}', $$ select forebay.attempts_to_trace() $$);
select finish();
rollback;
