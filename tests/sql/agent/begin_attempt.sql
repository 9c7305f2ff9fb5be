-- begin_attempt: the run that was launched for an attempt, and only that one, fetches its work while somebody waits for it.
begin;
select plan(15);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('jobs', 'lakeflow', 7, p_timeout => '1 hour');
    select forebay.enqueue('jobs', '{"document": "a.pdf"}', 5, p_customer => 'c', p_estimated_tokens => 10);
    select forebay.enqueue('jobs', '{}'), forebay.enqueue('jobs', '{}');
    create temporary table claimed on commit drop as select * from forebay.dequeue('w', '{jobs}', 3);
    create temporary table tokens on commit drop as
    select c.attempt_id, c.launch_token as token from claimed as c
$$);
select given($$ grant select on claimed, tokens to forebay_agent $$);
set local role forebay_agent;
select results_eq(
    $$ select b.* from tokens as t, forebay.begin_attempt(t.attempt_id, t.token) as b where t.attempt_id = 101 $$,
    $$ select c.* from claimed as c where c.attempt_id = 101 $$,
    'it gets the row of dequeue'
);
select lives_ok(
    $$ select forebay.begin_attempt(attempt_id, token, '42') from tokens where attempt_id = 101 $$, 'it may say its run'
);
select lives_ok(
    $$ select forebay.begin_attempt(attempt_id, token, '42') from tokens where attempt_id = 101 $$, 'and ask again'
);
select throws_ok(
    $$ select forebay.begin_attempt(attempt_id, token, '43') from tokens where attempt_id = 101 $$, 'QF202', null,
    'a second run gets nothing'
);
select throws_ok(
    $$ select forebay.begin_attempt(102, token) from tokens where attempt_id = 101 $$, 'QF304', null,
    'nor does one with another attempt''s token'
);
select throws_ok(
    $$ select forebay.begin_attempt(999, 'fb-1') $$, 'QF304', null, 'or for an attempt that is not there'
);
set local role forebay_owner;
select results_eq(
    $$ select a.run_id, a.status from forebay.task_attempts as a where a.attempt_id in (101, 102) order by a.attempt_id $$,
    $$ values ('42', 'running'), (null, 'claimed') $$,
    'its run is recorded'
);
select given($$ select forebay.cancel('{2}') $$);
select throws_ok(
    $$ select forebay.begin_attempt(attempt_id, token) from tokens where attempt_id = 102 $$, 'QF205',
    'attempt 102 has ended: it is cancelled', 'an attempt that has ended has no work'
);
select at_time('1 hour');
select throws_ok(
    $$ select forebay.begin_attempt(attempt_id, token) from tokens where attempt_id = 103 $$, 'QF205',
    'attempt 103 has ended: it is past its deadline', 'nor has one that is past its deadline'
);
select throws_ok($$ select forebay.begin_attempt(null, 'x') $$, '22023', null, 'an attempt is given');
select throws_ok($$ select forebay.begin_attempt(101, null) $$, '22023', null, 'so is a token');
select at_time('1 minute');
select throws_ok(
    $$ select forebay.begin_attempt(attempt_id, token, '') from tokens where attempt_id = 103 $$, '22023', null,
    'a run has a name'
);
select given($$ update forebay.installation set is_branch = true $$);
select throws_ok(
    $$ select forebay.begin_attempt(attempt_id, token) from tokens where attempt_id = 103 $$, 'QF401', null,
    'a copy hands out nothing'
);
set local role forebay_submitter;
select throws_ok($$ select forebay.begin_attempt(101, 'x') $$, '42501', null, 'it is for agents');
set local role forebay_worker;
select throws_ok($$ select forebay.begin_attempt(101, 'x') $$, '42501', null, 'not for workers');
select finish();
rollback;
