-- batch_outlook: how long a batch will still take, by what its agents really finish and what limits let pass.
begin;
select plan(14);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_concurrent_tasks => 2);
    select forebay.register_agent('b');
    select forebay.open_batch('other', p_owner => 'bob'), forebay.open_batch('upload', 'acme', 'ann'),
        forebay.open_batch('empty', p_owner => 'ann')
$$);
set local role forebay_submitter;
select results_eq(
    $$ select * from forebay.batch_outlook(13, 'ann') $$,
    $$ values (13::bigint, 'empty', null, 'ann', '{}'::text[], noon(), 0::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint,
        0::bigint, null::timestamptz, 0::bigint, 0::bigint, null::numeric, null, null::interval, null::numeric,
        null::numeric, true, noon()) $$,
    'a batch without tasks has nothing to say'
);
set local role forebay_owner;
select given($$
    select forebay.enqueue('a', '{}', 0, 11), forebay.enqueue('a', '{}', 0, 11);
    select forebay.enqueue('a', '{}', 0, 12, p_estimated_tokens => 1000 * n) from generate_series(1, 4) as n
$$);
set local role forebay_submitter;
select results_eq(
    $$ select name, agents, tasks, enqueued, ahead, remaining_tokens, per_minute, limited_by, time_left
    from forebay.batch_outlook(12, 'ann') $$,
    $$ values ('upload', '{a}'::text[], 4::bigint, 4::bigint, 2::bigint, 10000::bigint, null::numeric, null,
        null::interval) $$,
    'nothing finished yet, so nothing can be said; the tasks of others come first'
);
set local role forebay_owner;
select given($$
    select forebay.dequeue('w', p_batch_size => 2);
    select at_time('1 minute');
    select forebay.complete(101, '{}'), forebay.complete(102, '{}');
    select forebay.dequeue('w', p_batch_size => 2)
$$);
set local role forebay_submitter;
select results_eq(
    $$ select enqueued, processing, ahead, remaining_tokens, per_minute, limited_by, time_left
    from forebay.batch_outlook(12, 'ann') $$,
    $$ values (2::bigint, 2::bigint, 0::bigint, 7000::bigint, 2.000, null, interval '2 minutes') $$,
    'two a minute: two that wait and two that run take two minutes'
);
set local role forebay_owner;
select given($$ select forebay.pause_agent('a', noon('1 hour'), 'lunch') $$);
set local role forebay_submitter;
select results_eq(
    $$ select limited_by, time_left from forebay.batch_outlook(12, 'ann') $$,
    $$ values ('Agent a is paused until 13:00:00 UTC.', interval '1 hour 1 minute') $$,
    'a pause comes on top, and is named without its reason, which is for operators'
);
set local role forebay_owner;
select given($$ select forebay.pause_agent('a', 'infinity', 'for good') $$);
set local role forebay_submitter;
select results_eq(
    $$ select limited_by, time_left from forebay.batch_outlook(12, 'ann') $$,
    $$ values ('Agent a is paused until it is resumed.', null::interval) $$,
    'one without an end leaves no time to tell'
);
set local role forebay_owner;
select given($$
    select forebay.resume_agent('a');
    select forebay.register_quota('q', '[{"unit": "input_tokens", "amount": 100, "per": "1 minute"}]');
    select forebay.register_agent('a', p_max_concurrent_tasks => 2, p_quotas => '{q}')
$$);
set local role forebay_submitter;
select results_eq(
    $$ select limited_by, time_left > interval '50 minutes', time_left < interval '70 minutes'
    from forebay.batch_outlook(12, 'ann') $$,
    $$ values ('Quota q lets 99 input tokens a minute pass.', true, true) $$,
    'a limit that lets less pass than was finished decides, and is named'
);
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_max_concurrent_tasks => 2);
    select forebay.enqueue('b', '{}', 0, 12);
    select at_time('2 minutes');
    select forebay.report_usage(103, '{"call_id": "c", "input_tokens": 5, "output_tokens": 2, "cost_usd": 0.25}');
    select forebay.complete(103, '{}', 0.5), forebay.complete(104, '{}', 0.75);
    select forebay.dequeue('w', '{a}', 2)
$$);
set local role forebay_submitter;
select results_eq(
    $$ select agents, completed, per_minute, time_left, confidence_median, llm_usd, is_cost_known
    from forebay.batch_outlook(12, 'ann') $$,
    $$ values ('{a, b}'::text[], 2::bigint, 2.000, null::interval, 0.5, 0.25, false) $$,
    'of two agents the slower decides, and one that finished nothing yet leaves nothing to say'
);
set local role forebay_owner;
select given($$
    select at_time('3 minutes');
    select forebay.cancel('{7}');
    select forebay.complete(105, '{}', 0.5)
$$);
set local role forebay_submitter;
select results_eq(
    $$ select enqueued, processing, ahead, remaining_tokens, per_minute, time_left > interval '0', finished_at
    from forebay.batch_outlook(12, 'ann') $$,
    $$ values (0::bigint, 1::bigint, 0::bigint, 0::bigint, 1.667, true, null::timestamptz) $$,
    'what runs takes its time too'
);
set local role forebay_owner;
select given($$ select at_time('4 minutes'); select forebay.fail(106, '{"kind": "bad_input"}', false) $$);
set local role forebay_submitter;
select results_eq(
    $$ select completed, failed, cancelled, finished_at, per_minute, time_left from forebay.batch_outlook(12, 'ann') $$,
    $$ values (3::bigint, 1::bigint, 1::bigint, noon('4 minutes'), null::numeric, null::interval) $$,
    'nothing is left to wait for'
);
select throws_ok($$ select forebay.batch_outlook(12, 'bob') $$, 'QF302', null, 'somebody else''s batch does not exist');
select throws_ok($$ select forebay.batch_outlook(99, 'ann') $$, 'QF302', null, 'nor does one that was never opened');
select throws_ok($$ select forebay.batch_outlook(null, 'ann') $$, '22023', null, 'a batch is given');
select throws_ok($$ select forebay.batch_outlook(12, null) $$, '22023', null, 'an actor is given');
select only_callable_by('{submitter}', $$ select forebay.batch_outlook(12, 'ann') $$);
select finish();
rollback;
