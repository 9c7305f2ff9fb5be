-- recover_claims: a claim whose answer was lost is answered again, once and only to the worker that made it.
begin;
select plan(15);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_lease => '1 minute');
    select forebay.register_agent('jobs', 'lakeflow', 7, 'parse_document', p_lease => '1 minute');
    select forebay.enqueue('a', '{"n": 1}', 10, p_customer => 'acme', p_estimated_tokens => 5);
    select forebay.enqueue('a', '{"n": 2}', 9);
    select forebay.enqueue('jobs', '{}');
    select forebay.dequeue('w', '{a}', 2), forebay.dequeue('w', '{jobs}')
$$);
set local role forebay_worker;
select results_eq(
    $$ select
        task_id, attempt_id, attempt_no, agent, launcher, job_id, entry_point, payload, priority, customer,
        estimated_tokens, lease_expires_at, deadline_at
    from forebay.recover_claims('w', '{102, 103}', '1 second') $$,
    $$ values (
        1::bigint, 101::bigint, 1, 'a', 'pull', null::bigint, null::text, '{"n": 1}'::jsonb, 10, 'acme', 5::bigint,
        noon('1 min'), noon('1 hour')
    ) $$,
    'dequeue''s row comes back for what the worker does not know of'
);
select results_eq(
    $$ select attempt_id from forebay.recover_claims('w', '{}', '1 second') $$,
    array[101::bigint, 102, 103],
    'without known attempts all of them, by id, whatever their launcher'
);
select results_eq(
    $$ select attempt_id from forebay.recover_claims('w', '{}', '1 second', '{local, lakeflow}') $$,
    array[103::bigint],
    'of some launchers only, if they are named'
);
select is_empty($$ select forebay.recover_claims('v', '{}', '1 second') $$, 'another worker gets none of them');
set local role forebay_owner;
select is(
    (select count(*) from forebay.recover_claims('w', '{}', '1 second') as r
    inner join forebay.task_attempts as a on r.attempt_id = a.attempt_id and r.launch_token = a.launch_token), 3::bigint,
    'with their launch tokens'
);
select given($$ select forebay.record_run(103, 'run 3'), forebay.complete(102, '{}') $$);
select results_eq(
    $$ select attempt_id from forebay.recover_claims('w', '{}', '1 second') $$,
    array[101::bigint],
    'what has a run or has ended is known to somebody'
);
select at_time('2 seconds');
select is_empty($$ select forebay.recover_claims('w', '{}', '1 second') $$, 'an older claim is not the lost one');
select is(
    (select count(*) from forebay.recover_claims('w', '{}', '2 seconds')), 1::bigint, 'unless it lies within the time'
);
select at_time('1 minute');
select is_empty($$ select forebay.recover_claims('w', '{}', '1 hour') $$, 'a lease that ran out is not given back');

select throws_ok($$ select forebay.recover_claims('', '{}', '1 second') $$, '22023', null, 'a worker has a name');
select throws_ok($$ select forebay.recover_claims('w', null, '1 second') $$, '22023', null, 'known attempts must be told');
select throws_ok($$ select forebay.recover_claims('w', '{}', null) $$, '22023', null, 'the time must be told');
select throws_ok(
    $$ select forebay.recover_claims('w', '{}', '1 second', '{rocket}') $$, '22023', null, 'launchers are those there are'
);
select given($$ update forebay.installation set is_branch = true $$);
select throws_ok($$ select forebay.recover_claims('w', '{}', '1 hour') $$, 'QF401', null, 'a copy does no work');
set local role forebay_agent;
select throws_ok($$ select forebay.recover_claims('w', '{}', '1 hour') $$, '42501', null, 'an agent may not');
select * from finish();
rollback;
