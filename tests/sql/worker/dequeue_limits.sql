-- dequeue admits what the agent's limits allow: tasks at once, tokens a minute, claims a minute; the tightest wins.
begin;
select plan(65);
select stop_clock();
set local role forebay_owner;

-- Concurrency.
select given($$
    select forebay.register_agent('slots', p_max_concurrent_tasks => 2);
    select forebay.enqueue('slots', '{}') from generate_series(1, 4)
$$);
select results_eq(
    $$ select attempt_id from forebay.dequeue('w', '{slots}', 10) $$,
    array[101, 102]::bigint[],
    'max_concurrent_tasks is how many run at once'
);
select is_empty($$ select forebay.dequeue('w', '{slots}', 10) $$, 'the next waits');
select given($$ select forebay.complete(101, '1') $$);
select results_eq(
    $$ select attempt_id from forebay.dequeue('w', '{slots}', 10) $$,
    array[103]::bigint[],
    'a finished task makes room'
);
select given($$ select forebay.cancel('{2}') $$);
select results_eq(
    $$ select attempt_id from forebay.dequeue('w', '{slots}', 10) $$,
    array[104]::bigint[],
    'a cancelled task makes room at once'
);
select given($$
    select forebay.register_agent('none', p_max_concurrent_tasks => 0);
    select forebay.enqueue('none', '{}')
$$);
select is_empty($$ select forebay.dequeue('w', '{none}') $$, 'max_concurrent_tasks 0 admits nothing');

-- Tokens: max_tpm 6,000 refills 100 a second, and holds 4,800.
select given($$
    select forebay.register_agent('tokens', p_max_tpm => 6000);
    select forebay.enqueue('tokens', '{}', p_estimated_tokens => 2000) from generate_series(1, 5)
$$);
select results_eq(
    $$ select token_level, token_burst from forebay.agent_status('{tokens}') $$,
    $$ values (4800.0, 4800.0) $$,
    'the first limit starts full, and the bucket holds 0.8 of max_tpm'
);
select results_eq(
    $$ select attempt_id from forebay.dequeue('w', '{tokens}', 10) $$,
    array[105, 106]::bigint[],
    'as many are admitted as the bucket holds tokens for'
);
select results_eq(
    $$ select token_level, in_flight_tokens from forebay.agent_status('{tokens}') $$,
    $$ values (800.0, 4000::bigint) $$,
    'the estimates are charged at the claim'
);
select is_empty($$ select forebay.dequeue('w', '{tokens}', 10) $$, 'the next waits for the bucket');
select at_time('11.999 seconds');
select is_empty($$ select forebay.dequeue('w', '{tokens}', 10) $$, 'it refills max_tpm / 60 a second, and no more');
select at_time('12 seconds');
select results_eq(
    $$ select attempt_id from forebay.dequeue('w', '{tokens}', 10) $$,
    array[107]::bigint[],
    'when the bucket holds enough it starts'
);
select at_time('1 hour');
select results_eq(
    $$ select token_level from forebay.agent_status('{tokens}') $$,
    array[4800.0],
    'a bucket never holds more than its burst'
);
select at_time('59 minutes');
select results_eq(
    $$ select token_level from forebay.agent_status('{tokens}') $$,
    array[4800.0],
    'and a clock that runs backwards takes nothing away'
);
select at_time('0');

-- A task that does not fit is passed, until it has waited p_reserve_after.
select given($$
    select forebay.register_agent('strict', p_max_tpm => 6000, p_reserve_after => '0');
    select forebay.enqueue('strict', '{}', p_estimated_tokens => tokens) from unnest(array[3000, 3000, 10]) as tokens
$$);
select results_eq(
    $$ select estimated_tokens from forebay.dequeue('w', '{strict}', 10) $$,
    array[3000]::bigint[],
    'with p_reserve_after 0 the longest head of the line that fits is admitted'
);
select is_empty($$ select forebay.dequeue('w', '{strict}', 10) $$, 'and a small task never passes the one before it');
select given($$
    select forebay.register_agent('queue', p_max_tpm => 6000, p_reserve_after => '10 seconds');
    select forebay.enqueue('queue', '{}', p_estimated_tokens => tokens)
    from unnest(array[3000, 3000, 700, 1200, 1100, 1]) as tokens
$$);
select results_eq(
    $$ select estimated_tokens from forebay.dequeue('w', '{queue}', 2) $$,
    array[3000, 700]::bigint[],
    'else a task that fits passes those that do not'
);
select results_eq(
    $$ select estimated_tokens from forebay.dequeue('w', '{queue}', 1) $$,
    array[1100]::bigint[],
    'the first of them in line goes first'
);
select at_time('9.999 seconds');
select results_eq(
    $$ select estimated_tokens from forebay.dequeue('w', '{queue}', 10) $$,
    array[1]::bigint[],
    'as long as the one that is passed has waited less'
);
select given($$ select forebay.enqueue('queue', '{}', 5, p_estimated_tokens => 2) $$);
select at_time('10 seconds');
select results_eq(
    $$ select estimated_tokens from forebay.dequeue('w', '{queue}', 10) $$,
    array[2]::bigint[],
    'a task before it in line is not held up'
);
select given($$ select forebay.enqueue('queue', '{}', p_estimated_tokens => 2) $$);
select is_empty($$ select forebay.dequeue('w', '{queue}', 10) $$, 'but nothing passes it any more');
select at_time('30.02 seconds');
select is_empty($$ select forebay.dequeue('w', '{queue}', 10) $$, 'while the bucket fills up');
select at_time('30.03 seconds');
select results_eq(
    $$ select estimated_tokens from forebay.dequeue('w', '{queue}', 10) $$,
    array[3000]::bigint[],
    'so that it starts as soon as the bucket holds enough'
);
select at_time('0');

-- No estimate.
select given($$
    select forebay.register_agent('default', p_max_tpm => 10000, p_default_estimated_tokens => 700);
    select forebay.enqueue('default', '{}')
$$);
select results_eq(
    $$ select estimated_tokens from forebay.dequeue('w', '{default}') $$,
    array[700]::bigint[],
    'without an estimate the agent''s default is charged'
);
select results_eq(
    $$ select token_level from forebay.agent_status('{default}') $$, array[7300.0], 'and taken from the bucket'
);

-- A task larger than the burst.
select given($$
    select forebay.register_agent('large', p_max_tpm => 6000, p_reserve_after => '0');
    select forebay.enqueue('large', '{}', p_estimated_tokens => tokens) from unnest(array[10, 6000, 10]) as tokens
$$);
select results_eq(
    $$ select task_id from forebay.dequeue('w', '{large}', 10) $$,
    array[23]::bigint[],
    'a task larger than the burst is not admitted with others'
);
select is_empty($$ select forebay.dequeue('w', '{large}', 10) $$, 'nor before the bucket is full');
select at_time('0.1 seconds');
select results_eq(
    $$ select task_id from forebay.dequeue('w', '{large}', 10) $$,
    array[24]::bigint[],
    'when the bucket is full it is admitted, alone, whatever is running'
);
select results_eq(
    $$ select token_level from forebay.agent_status('{large}') $$, array[-1200.0], 'and takes the bucket into debt'
);
select at_time('12.1 seconds');
select is_empty($$ select forebay.dequeue('w', '{large}', 10) $$, 'while the debt lasts nothing starts');
select at_time('12.2 seconds');
select results_eq(
    $$ select task_id from forebay.dequeue('w', '{large}', 10) $$,
    array[25]::bigint[],
    'when it is paid off the next one starts'
);
select at_time('0');

-- Zero.
select given($$
    select forebay.register_agent('dry', p_max_tpm => 0);
    select forebay.register_agent('mute', p_max_rpm => 0);
    select forebay.enqueue('dry', '{}', p_estimated_tokens => tokens) from unnest(array[0, 10]) as tokens;
    select forebay.enqueue('mute', '{}')
$$);
select is_empty($$ select forebay.dequeue('w', '{dry}') $$, 'max_tpm 0 admits nothing, neither free nor oversize');
select is_empty($$ select forebay.dequeue('w', '{mute}') $$, 'max_rpm 0 admits nothing');

-- Claims a minute.
select given($$
    select forebay.register_agent('calls', p_max_rpm => 10);
    select forebay.enqueue('calls', '{}') from generate_series(1, 20)
$$);
select results_eq(
    $$ select count(*) from forebay.dequeue('w', '{calls}', 100) $$, array[8]::bigint[], 'the burst is 0.8 of max_rpm'
);
select at_time('5.9 seconds');
select is_empty($$ select forebay.dequeue('w', '{calls}', 100) $$, 'a claim is refilled as a whole');
select at_time('12 seconds');
select results_eq(
    $$ select count(*) from forebay.dequeue('w', '{calls}', 100) $$, array[2]::bigint[], 'in max_rpm / 60 a second'
);
select at_time('0');
select given($$
    select forebay.register_agent('rare', p_max_rpm => 1);
    select forebay.enqueue('rare', '{}') from generate_series(1, 2)
$$);
select results_eq(
    $$ select count(*) from forebay.dequeue('w', '{rare}', 100) $$, array[1]::bigint[], 'and at least one claim'
);
select at_time('59 seconds');
select is_empty($$ select forebay.dequeue('w', '{rare}', 100) $$, 'and the next comes a minute later');
select at_time('60 seconds');
select isnt_empty($$ select forebay.dequeue('w', '{rare}', 100) $$, 'but then it comes');
select at_time('0');

-- Both: the tighter wins.
select given($$
    select forebay.register_agent('both', p_max_concurrent_tasks => 3, p_max_tpm => 6000);
    select forebay.enqueue('both', '{}', p_estimated_tokens => 2000) from generate_series(1, 3);
    select forebay.register_agent('each', p_max_concurrent_tasks => 1, p_max_tpm => 6000, p_max_rpm => 100);
    select forebay.enqueue('each', '{}', p_estimated_tokens => 10) from generate_series(1, 3)
$$);
select results_eq(
    $$ select count(*) from forebay.dequeue('w', '{both}', 100) $$, array[2]::bigint[], 'the tighter limit is tokens'
);
select results_eq(
    $$ select count(*) from forebay.dequeue('w', '{each}', 100) $$, array[1]::bigint[], 'the tighter limit is slots'
);

-- A changed definition.
select given($$ select forebay.register_agent('both', p_max_concurrent_tasks => 3, p_max_tpm => 6000) $$);
select results_eq(
    $$ select token_level from forebay.agent_status('{both}') $$, array[800.0], 'the same limits refill nothing'
);
select given($$ select forebay.register_agent('both', p_max_tpm => 12000) $$);
select results_eq(
    $$ select token_level, token_burst from forebay.agent_status('{both}') $$,
    $$ values (800.0, 9600.0) $$,
    'a higher limit keeps the level'
);
select given($$ select forebay.register_agent('both', p_max_tpm => 600) $$);
select results_eq(
    $$ select token_level from forebay.agent_status('{both}') $$, array[480.0], 'a lower limit cuts it to the new burst'
);
select given($$ select forebay.register_agent('both') $$);
select results_eq(
    $$ select token_level from forebay.agent_status('{both}') $$, array[null]::numeric[], 'no limit, no bucket'
);
select isnt_empty($$ select forebay.dequeue('w', '{both}', 100) $$, 'and nothing holds the tasks back');
select given($$
    select forebay.register_agent('slots', p_max_tpm => 1000, p_tpm_burst => 0.5)
$$);
select results_eq(
    $$ select token_level from forebay.agent_status('{slots}') $$,
    array[500.0],
    'a first limit starts full, whatever runs already; p_tpm_burst says how much that is'
);

-- Settling: charged is replaced by actual, at the end and after it.
select given($$
    select forebay.register_agent('settle', p_max_tpm => 60000, p_max_attempts => 1);
    select forebay.enqueue('settle', '{}', p_estimated_tokens => 10000) from generate_series(1, 4);
    select forebay.dequeue('w', '{settle}', 4)
$$);
select results_eq(
    $$ select token_level from forebay.agent_status('{settle}') $$, array[8000.0], 'four estimates are charged'
);
select given($$
    select forebay.report_usage(a.attempt_id, 
        '{"call_id": "1", "input_tokens": 3000, "output_tokens": 1000, "cached_tokens": 500}')
    from forebay.task_attempts as a inner join forebay.tasks as t on t.attempt_id = a.attempt_id
    where t.agent = 'settle' and t.task_id = (select min(task_id) from forebay.tasks where agent = 'settle')
$$);
select results_eq(
    $$ select token_level from forebay.agent_status('{settle}') $$, array[8000.0], 'usage before the end waits for it'
);
create temporary table ids as
select
    array_agg(t.attempt_id order by t.task_id) as attempts,
    array_agg(t.task_id order by t.task_id) as tasks
from forebay.tasks as t
where t.agent = 'settle';
select given($$ select forebay.complete(attempts[1], '{}') from ids $$);
select results_eq(
    $$ select token_level from forebay.agent_status('{settle}') $$,
    array[14000.0],
    'the end gives back what was not used: actual is input and output, the cached part of it included'
);
select given($$ select forebay.complete(attempts[2], '{}') from ids $$);
select results_eq(
    $$ select token_level from forebay.agent_status('{settle}') $$, array[14000.0], 'unknown usage keeps the charge'
);
select given($$
    select forebay.report_usage(attempts[2], '{"call_id": "1", "input_tokens": 15000, "output_tokens": 2000}') from ids
$$);
select results_eq(
    $$ select token_level from forebay.agent_status('{settle}') $$,
    array[7000.0],
    'usage after the end settles too, and takes what was used beyond the estimate'
);
select given($$ select forebay.cancel(tasks[3:3]) from ids $$);
select results_eq(
    $$ select token_level from forebay.agent_status('{settle}') $$, array[7000.0], 'a cancelled task stays charged'
);
select given($$
    select forebay.report_usage(attempts[3], '{"call_id": "1", "input_tokens": 100, "output_tokens": 0}') from ids;
    select forebay.fail(attempts[3], '{}') from ids
$$);
select results_eq(
    $$ select token_level from forebay.agent_status('{settle}') $$, array[16900.0], 'until its usage is known'
);
select given($$ select forebay.release(attempts[4], 'no launch') from ids $$);
select results_eq(
    $$ select token_level from forebay.agent_status('{settle}') $$,
    array[26900.0],
    'a release without usage gives its whole charge back'
);
-- A limit lowered below what runs: nothing is stopped, and nothing starts until enough has ended.
select given($$
    select forebay.register_agent('lowered', p_max_concurrent_tasks => 3);
    select forebay.enqueue('lowered', '{}') from generate_series(1, 4);
    select forebay.dequeue('w', '{lowered}', 3);
    select forebay.register_agent('lowered', p_max_concurrent_tasks => 1)
$$);
select results_eq(
    $$ select state, in_use, max_concurrent_tasks from forebay.agent_status('{lowered}') $$,
    $$ values ('full', 3::bigint, 1) $$,
    'what runs beyond a lowered limit runs on'
);
select given($$
    select forebay.complete(a.attempt_id, '{}')
    from (select min(a.attempt_id) as first from forebay.task_attempts as a where a.agent = 'lowered') as lowest
    inner join forebay.task_attempts as a on a.attempt_id in (lowest.first, lowest.first + 1)
$$);
select is_empty($$ select forebay.dequeue('w', '{lowered}', 10) $$, 'nothing starts while as many run as it allows now');
select given($$
    select forebay.complete(a.attempt_id, '{}')
    from forebay.task_attempts as a where a.agent = 'lowered' and a.finished_at is null
$$);
select isnt_empty($$ select forebay.dequeue('w', '{lowered}', 10) $$, 'and the next when fewer do');

-- An estimate of 0 needs no tokens, but a place, a claim and a call.
select given($$
    select forebay.register_quota('calls', '[{"unit": "concurrent_calls", "amount": 2}]');
    select
        forebay.register_agent('weightless', p_max_tpm => 60), forebay.register_agent('placed', p_max_concurrent_tasks => 2),
        forebay.register_agent('claimed', p_max_rpm => 3), forebay.register_agent('calling', p_quotas => '{calls}');
    select forebay.enqueue(agents.agent, '{}', p_estimated_tokens => 0)
    from unnest('{weightless,placed,claimed,calling}'::text[]) as agents (agent), generate_series(1, 4)
$$);
select is((select count(*) from forebay.dequeue('w', '{weightless}', 10)), 4::bigint, 'an estimate of 0 needs no tokens');
select is((select count(*) from forebay.dequeue('w', '{placed}', 10)), 2::bigint, 'but a place');
select is((select count(*) from forebay.dequeue('w', '{claimed}', 10)), 2::bigint, 'a claim');
select is((select count(*) from forebay.dequeue('w', '{calling}', 10)), 2::bigint, 'and a call');

-- A huge estimate: its charge stays until somebody says what was used, or the limit is set anew.
select throws_ok(
    $$ select forebay.enqueue('slots', '{}', p_estimated_tokens => 1000000000001) $$, '22023', null,
    'an estimate above 10^12 is refused'
);
select given($$
    select forebay.register_agent('typo', p_max_tpm => 1000);
    select forebay.enqueue('typo', '{}', p_estimated_tokens => 10000000) from generate_series(1, 2);
    select forebay.fail(d.attempt_id, '{"kind": "bad_input"}') from forebay.dequeue('w', '{typo}') as d
$$);
select results_eq(
    $$ select token_level from forebay.agent_status('{typo}') $$, array[-9999200.0], 'a failed attempt stays charged'
);
select given($$
    select forebay.report_usage(a.attempt_id, '{"call_id": "1", "input_tokens": 0, "output_tokens": 0}')
    from forebay.task_attempts as a where a.agent = 'typo'
$$);
select results_eq(
    $$ select token_level from forebay.agent_status('{typo}') $$, array[800.0], 'a report of no tokens gives the charge back'
);
select given($$
    select forebay.fail(d.attempt_id, '{"kind": "bad_input"}') from forebay.dequeue('w', '{typo}') as d;
    select forebay.register_agent('typo');
    select forebay.register_agent('typo', p_max_tpm => 1000)
$$);
select results_eq(
    $$ select token_level from forebay.agent_status('{typo}') $$, array[800.0],
    'and a limit that was taken away starts full when it is set again'
);
select finish();
rollback;
