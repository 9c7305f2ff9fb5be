-- renew_leases: only a lease that is still held is extended; of the others the worker learns what became of them.
begin;
select plan(17);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a', p_lease => '1 minute', p_timeout => '5 minutes');
    select forebay.register_agent('b', p_lease => '10 seconds');
    select forebay.enqueue('a', '{}') from generate_series(1, 8);
    select forebay.enqueue('b', '{}');
    select forebay.dequeue('w', '{a}', 7);
    select forebay.dequeue('other', '{a}');
    select forebay.dequeue('w', '{b}');
    select forebay.complete(102, '{}');
    select forebay.fail(103, '{}');
    select forebay.release(104, 'shutdown');
    select forebay.cancel('{5, 6}')
$$);
select at_time('30 seconds');
set local role forebay_worker;
select results_eq(
    $$ select * from forebay.renew_leases('w', '{101, 102, 103, 104, 105, 106, 108, 109, 999}') order by attempt_id $$,
    $$ values
        (101::bigint, 'renewed', noon('90 s')), (102, 'finished', noon('60 s')), (103, 'finished', noon('60 s')),
        (104, 'finished', noon('60 s')), (105, 'cancel_requested', noon('60 s')),
        (106, 'cancel_requested', noon('60 s')), (108, 'lost', noon('60 s')), (109, 'lost', noon('10 s')),
        (999, 'lost', null) $$,
    'renewed, finished, cancelled, somebody else''s, expired and unknown attempts'
);
set local role forebay_owner;
select results_eq(
    $$ select attempt_id from forebay.task_attempts where lease_expires_at > noon('60 s') $$,
    array[101]::bigint[],
    'only the lease that was held moved'
);
select given($$ select forebay.fail(105, '{}'), forebay.release(106, 'stopped') $$);
select results_eq(
    $$ select state from forebay.renew_leases('w', '{105, 106}') $$,
    array['finished', 'finished'],
    'a report or a release acknowledges the cancellation'
);
select results_eq(
    $$ select state from forebay.renew_leases('w', '{101, 101, null}') $$,
    array['renewed'],
    'one row a distinct id'
);
select is_empty($$ select forebay.renew_leases('w', '{}') $$, 'no ids, no rows');

-- A lost lease stays lost.
select results_eq(
    $$ select status from forebay.task_attempts where attempt_id = 109 $$,
    array['claimed'],
    'an expired lease that nobody swept yet'
);
select results_eq($$ select state from forebay.renew_leases('w', '{109}') $$, array['lost'], 'is not renewed');
select given($$ select forebay.sweep() $$);
select results_eq($$ select state from forebay.renew_leases('w', '{109}') $$, array['lost'], 'nor after the sweep');
select is(forebay.complete(109, '{}'), 'completed', 'a success that comes late still counts');
select results_eq($$ select state from forebay.renew_leases('w', '{109}') $$, array['finished'], 'and then it is over');

-- The deadline.
select given($$
    do $do$
    begin
        for v_second in 1 .. 9 loop
            perform set_config('test.now', tap.noon(v_second * interval '30 seconds')::text, true);
            perform forebay.renew_leases('w', '{101}');
        end loop;
    end;
    $do$
$$);
select results_eq(
    $$ select * from forebay.renew_leases('w', '{101}') $$,
    $$ values (101::bigint, 'renewed', noon('5 min')) $$,
    'a lease is renewed up to the deadline'
);
select at_time('5 minutes');
select results_eq($$ select state from forebay.renew_leases('w', '{101}') $$, array['lost'], 'and is lost after it');
select given($$ select forebay.sweep() $$);
select results_eq(
    $$ select state from forebay.renew_leases('w', '{101}') $$, array['lost'], 'also when the sweep has failed it'
);

-- Errors.
select throws_ok($$ select forebay.renew_leases(null, '{101}') $$, '22023', null, 'a worker has a name');
select throws_ok($$ select forebay.renew_leases('', '{101}') $$, '22023', null, 'the name is not empty');
select throws_ok($$ select forebay.renew_leases('w', null) $$, '22023', null, 'the ids are not null');
select only_callable_by('{worker}', $$ select forebay.renew_leases('w', '{101}') $$);
select finish();
rollback;
