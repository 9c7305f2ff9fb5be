-- dequeue takes an agent's tasks in the order of its line: strict priority, or with what waiting adds, or customers in turns.
begin;
select plan(25);
select stop_clock();
set local role forebay_owner;

-- Aging.
select given($$
    select forebay.register_agent('aging', p_aging => '1 minute', p_lease => '3000 days', p_timeout => '3000 days');
    select forebay.enqueue('aging', '{"n": "low"}', 0)
$$);
select at_time('2 minutes');
select given($$ select forebay.enqueue('aging', '{"n": "high"}', 3), forebay.enqueue('aging', '{"n": "low"}', 0) $$);
select results_eq(
    $$ select payload ->> 'n', priority from forebay.dequeue('w', '{aging}') $$,
    $$ values ('high', 3) $$,
    'a task that has waited for two steps does not reach one three above it'
);
select given($$ select forebay.enqueue('aging', '{"n": "high"}', 3) $$);
select at_time('2 minutes 59.999 seconds');
select given($$ select forebay.enqueue('aging', '{"n": "new"}', 3) $$);
select at_time('3 minutes');
select results_eq(
    $$ select payload ->> 'n' from forebay.dequeue('w', '{aging}', 10) $$,
    array['high', 'low', 'new', 'low'],
    'each whole interval is one more of priority; among equals the older goes first'
);
select given($$
    select forebay.enqueue('aging', '{}', -32768);
    select forebay.enqueue('aging', '{}', 32767)
$$);
select at_time('8 years');
select results_eq(
    $$ select priority from forebay.dequeue('w', '{aging}', 10) $$,
    array[32767, -32768],
    'the priority that is shown is the task''s own, however long it waited'
);
select at_time('3 minutes');
select given($$
    select forebay.enqueue('aging', '{"n": "late"}', 0, p_run_after => noon('5 min'));
    select forebay.enqueue('aging', '{"n": "now"}', 1)
$$);
select at_time('5 minutes');
select given($$ select forebay.enqueue('aging', '{"n": "new"}', 2) $$);
select results_eq(
    $$ select payload ->> 'n' from forebay.dequeue('w', '{aging}', 10) $$,
    array['now', 'late', 'new'],
    'a task that was not due has aged too'
);
select given($$
    select forebay.register_agent('young', p_aging => '1 hour');
    select forebay.register_agent('strict')
$$);
select at_time('0');
select given($$ select forebay.enqueue('young', '{}', 0), forebay.enqueue('strict', '{}', 1) $$);
select at_time('2 hours');
select results_eq(
    $$ select agent from forebay.dequeue('w', '{young, strict}') $$,
    array['young'],
    'agents are served by it as well'
);
select given($$ select forebay.dequeue('w', '{strict}') $$);
select at_time('0');

-- Aging and a task that does not fit.
select given($$
    select forebay.register_agent('heavy', p_aging => '10 s', p_max_tpm => 6000, p_reserve_after => '30 s');
    select forebay.enqueue('heavy', '{}', 0, p_estimated_tokens => 4800);
    select forebay.dequeue('w', '{heavy}');
    select forebay.enqueue('heavy', '{}', 0, p_estimated_tokens => 4000)
$$);
select at_time('20 s');
select given($$ select forebay.enqueue('heavy', '{}', 0, p_estimated_tokens => 500) $$);
select results_eq(
    $$ select estimated_tokens from forebay.dequeue('w', '{heavy}') $$, array[500]::bigint[], 'it is passed at first'
);
select at_time('30 s');
select given($$ select forebay.enqueue('heavy', '{}', 2, p_estimated_tokens => 500) $$);
select is_empty($$ select forebay.dequeue('w', '{heavy}') $$, 'then by none that is not before it in line');
select at_time('0');

-- Customers in turns: count by tokens, here by the estimates.
select given($$
    select forebay.register_agent('turns', p_fair_by_customer => true);
    select forebay.enqueue('turns', '{}', p_customer => 'many', p_estimated_tokens => 100) from generate_series(1, 6)
$$);
select at_time('1 s');
select given($$
    select forebay.enqueue('turns', '{}', p_customer => 'few', p_estimated_tokens => 100) from generate_series(1, 2);
    select forebay.enqueue('turns', '{}', p_estimated_tokens => 200) from generate_series(1, 2)
$$);
select results_eq(
    $$ select coalesce(customer, 'nobody') from forebay.dequeue('w', '{turns}', 8) $$,
    array['many', 'few', 'nobody', 'many', 'few', 'many', 'nobody', 'many'],
    'whose customer has had least goes first, the older one among equals; tasks without one take turns like one'
);
select given($$ select forebay.enqueue('turns', '{}', p_customer => 'few', p_estimated_tokens => 100) $$);
select results_eq(
    $$ select customer from forebay.dequeue('w', '{turns}', 2) $$,
    array['few', 'many'],
    'it is remembered from claim to claim'
);
select given($$
    select forebay.enqueue('turns', '{}', p_customer => 'few', p_estimated_tokens => 1) from generate_series(1, 3)
$$);
select results_eq(
    $$ select customer from forebay.dequeue('w', '{turns}', 2) $$,
    array['few', 'few'],
    'small tasks are small turns'
);
select given($$
    select forebay.enqueue('turns', '{}', 1, p_customer => 'many', p_estimated_tokens => 1000) from generate_series(1, 2)
$$);
select results_eq(
    $$ select customer from forebay.dequeue('w', '{turns}', 2) $$,
    array['many', 'many'],
    'priority goes before turns'
);
select results_eq(
    $$ select customer from forebay.dequeue('w', '{turns}', 9) $$, array['few', 'many'], 'the rest follows'
);
select given($$
    select forebay.enqueue('turns', '{}', p_customer => 'many', p_estimated_tokens => 50) from generate_series(1, 20)
$$);
select results_eq(
    $$ select count(*) from forebay.dequeue('w', '{turns}', 10) where customer = 'many' $$,
    array[10]::bigint[],
    'who is alone has all turns'
);
select given($$
    select forebay.enqueue('turns', '{}', p_customer => customer, p_estimated_tokens => 50)
    from unnest(array['new', 'few']) as customer, generate_series(1, 5)
$$);
select results_eq(
    $$ select customer, count(*) from forebay.dequeue('w', '{turns}', 12) group by customer order by customer $$,
    $$ values ('few', 4::bigint), ('many', 4), ('new', 4) $$,
    'who comes, or comes back, starts level: idle time saves up no turns'
);
select given($$ select forebay.dequeue('w', '{turns}', 100) $$);
select is_empty(
    $$ select c.customer from forebay.customer_turns as c
    inner join forebay.agent_budgets as b on b.agent = c.agent where c.served <= b.turn $$,
    'counts that say nothing any more are forgotten'
);

-- Zero and unknown sizes.
select given($$
    select forebay.register_agent('sizes', p_fair_by_customer => true, p_default_estimated_tokens => 30);
    select forebay.enqueue('sizes', '{}', p_customer => 'zero', p_estimated_tokens => 0) from generate_series(1, 40);
    select forebay.enqueue('sizes', '{}', p_customer => 'unknown') from generate_series(1, 40)
$$);
select results_eq(
    $$ select customer, count(*) from forebay.dequeue('w', '{sizes}', 33) group by customer order by customer $$,
    $$ values ('unknown', 2::bigint), ('zero', 31) $$,
    'a task counts one token at least, and without an estimate what the agent expects'
);

-- Turns and a task that does not fit.
select given($$
    select forebay.register_agent('fit', p_fair_by_customer => true, p_max_tpm => 6000, p_reserve_after => '30 s');
    select forebay.enqueue('fit', '{}', p_customer => 'x', p_estimated_tokens => 4000) from generate_series(1, 2);
    select forebay.enqueue('fit', '{}', p_customer => 'y', p_estimated_tokens => 100) from generate_series(1, 3)
$$);
select results_eq(
    $$ select customer, estimated_tokens from forebay.dequeue('w', '{fit}', 4) $$,
    $$ values ('x', 4000::bigint), ('y', 100), ('y', 100), ('y', 100) $$,
    'the turn of one that does not fit is not lost'
);
select given($$
    select forebay.enqueue('fit', '{}', p_customer => 'y', p_estimated_tokens => 3000) from generate_series(1, 3)
$$);
select at_time('30 s');
select results_eq(
    $$ select customer from forebay.dequeue('w', '{fit}', 1) $$,
    array['y'],
    'y is behind x still'
);
select is_empty($$ select forebay.dequeue('w', '{fit}', 4) $$, 'and what has waited so long is passed by nobody');
select at_time('1 minute 10 s');
select results_eq(
    $$ select customer, estimated_tokens from forebay.dequeue('w', '{fit}', 4) $$,
    $$ values ('y', 3000::bigint) $$,
    'turns go on'
);
select at_time('0');

-- Aging and turns together; fair share ends and begins.
select given($$
    select forebay.register_agent('both', p_fair_by_customer => true, p_aging => '1 minute');
    select forebay.enqueue('both', '{}', p_customer => 'old') from generate_series(1, 2)
$$);
select at_time('1 minute');
select given($$ select forebay.enqueue('both', '{}', p_customer => 'new') from generate_series(1, 2) $$);
select results_eq(
    $$ select customer from forebay.dequeue('w', '{both}', 3) $$,
    array['old', 'old', 'new'],
    'turns are taken among tasks of equal effective priority'
);
select given($$
    select forebay.register_agent('both');
    select forebay.enqueue('both', '{}', p_customer => 'old');
    select forebay.register_agent('both', p_fair_by_customer => true);
    select forebay.enqueue('both', '{}', p_customer => 'third', p_estimated_tokens => 1)
$$);
select results_eq(
    $$ select customer from forebay.dequeue('w', '{both}', 3) $$,
    array['new', 'third', 'old'],
    'what was enqueued while there were no turns takes part'
);

-- Paused, full and delayed.
select given($$
    select forebay.register_agent('slots', p_fair_by_customer => true, p_max_concurrent_tasks => 3, p_lease => '1 hour');
    select forebay.enqueue('slots', '{}', p_customer => 'x') from generate_series(1, 3);
    select forebay.enqueue('slots', '{}', p_customer => 'y', p_run_after => noon('2 min'))
$$);
select results_eq($$ select customer from forebay.dequeue('w', '{slots}') $$, array['x'], 'only y is not due');
select at_time('2 minutes');
select results_eq(
    $$ select customer from forebay.dequeue('w', '{slots}', 5) $$,
    array['x', 'y'],
    'a task that has become due takes its turn, and no more start than may'
);
select is_empty(
    $$ select task_id from forebay.tasks where is_shared and agent not in ('turns', 'sizes', 'fit', 'both', 'slots') $$,
    'tasks of other agents take no turns'
);
select finish();
rollback;
