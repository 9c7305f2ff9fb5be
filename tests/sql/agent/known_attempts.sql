-- known_attempts: an attempt is told from that of another database with the same id, by its launch key and nothing else.
begin;
select plan(9);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    select forebay.enqueue('a', '{}'), forebay.enqueue('a', '{}');
    create temporary table keys on commit drop as
    select c.attempt_id, encode(sha256(convert_to(c.launch_token, 'UTF8')), 'hex') as key, c.launch_token as token
    from forebay.dequeue('w', '{a}', 2) as c
$$);
select given($$ grant select on keys to forebay_agent $$);
set local role forebay_agent;
select results_eq(
    $$ select k from forebay.known_attempts(
        array(select attempt_id from keys order by 1), array(select key from keys order by attempt_id)) as k order by k $$,
    $$ select key from keys order by key $$,
    'those of this database are known'
);
select results_eq(
    $$ select k from forebay.known_attempts(
        (select array[min(attempt_id), min(attempt_id)] from keys),
        array['00', (select key from keys order by attempt_id limit 1)]) as k $$,
    $$ select key from keys order by attempt_id limit 1 $$,
    'one of another database with the same id is not'
);
select is_empty(
    $$ select k from forebay.known_attempts(
        array(select attempt_id from keys order by 1), array(select key from keys order by attempt_id desc)) as k $$,
    'nor is one under another id'
);
select is_empty(
    $$ select k from forebay.known_attempts((select array[min(attempt_id)] from keys),
        (select array[min(token)] from keys)) as k $$,
    'the token itself says nothing'
);
select is_empty(
    $$ select k from forebay.known_attempts('{999, null}', array['00', null]) as k $$, 'what is not there is not known'
);
select is_empty($$ select k from forebay.known_attempts('{}', '{}') as k $$, 'of none, none');
select throws_ok(
    $$ select forebay.known_attempts('{1, 2}', '{a}') $$, '22023', null, 'each attempt has a launch key'
);
select throws_ok($$ select forebay.known_attempts(null, '{}') $$, '22023', null, 'nothing is null');
set local role forebay_submitter;
select throws_ok($$ select forebay.known_attempts('{}', '{}') $$, '42501', null, 'it is for agents');
select finish();
rollback;
