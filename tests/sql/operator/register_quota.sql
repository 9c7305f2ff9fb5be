-- register_quota: a provider's limits by unit and period; defined anew, what counts against them stays.
begin;
select plan(33);
select stop_clock();
set local role forebay_operator;
select lives_ok(
    $$ select forebay.register_quota('q', '[
        {"unit": "tokens", "per": "minute", "amount": 1000, "model": "x"},
        {"unit": "tokens", "per": "01:00:00", "amount": "30000", "kind": "bucket"},
        {"unit": "input_tokens", "per": "second", "amount": 10, "kind": "bucket", "burst": 2.5},
        {"unit": "requests", "per": "day", "amount": 1, "kind": "bucket"},
        {"unit": "output_tokens", "per": "90 seconds", "amount": 0},
        {"unit": "concurrent_calls", "amount": 8}
    ]', p_reason => 'contract', p_actor => 'ann') $$,
    'units, periods and kinds are taken; keys that are not known are ignored'
);
set local role forebay_owner;
select results_eq(
    $$ select unit, period, kind, amount, burst, level from forebay.quota_limits order by unit, period $$,
    $$ values
        ('concurrent_calls', interval '0', 'count', 8::bigint, null::numeric, null::numeric),
        ('input_tokens', '1 second', 'bucket', 10, 25, 25), ('output_tokens', '90 seconds', 'window', 0, null, null),
        ('requests', '1 day', 'bucket', 1, 1, 1), ('tokens', '1 minute', 'window', 1000, null, null),
        ('tokens', '1 hour', 'bucket', 30000, 24000, 24000) $$,
    'a bucket starts full: with 0.8 of its amount, and at least one, if not said otherwise'
);
select results_eq(
    $$ select quota, headroom, created_at, updated_at from forebay.quotas $$,
    $$ values ('q', 0.01, noon(), noon()) $$,
    'a hundredth of each window is left unused, if not said otherwise'
);
select results_eq(
    $$ select action, actor, reason, details ->> 'quota', jsonb_array_length(details -> 'limits') from forebay.audit_log $$,
    $$ values ('register_quota', 'ann', 'contract', 'q', 6) $$,
    'the log says who and why'
);

-- Defined anew
select given($$
    select forebay.register_quota('q', '[
        {"unit": "tokens", "per": "minute", "amount": 1000}, {"unit": "requests", "per": "minute", "amount": 10},
        {"unit": "tokens", "per": "hour", "amount": 36000, "kind": "bucket", "burst": 0.25}
    ]');
    select forebay.register_agent('a', p_quotas => '{q}');
    select forebay.enqueue('a', '{}', p_estimated_tokens => 1);
    select forebay.dequeue('w');
    select forebay.may_call(101, 900, 0, 'c')
$$);
select at_time('10 seconds');
select given($$
    select forebay.register_quota('q', '[
        {"unit": "tokens", "per": "60 s", "amount": 500}, {"unit": "tokens", "per": "hour", "amount": 3600, "kind": "bucket"},
        {"unit": "requests", "per": "minute", "amount": 10, "kind": "bucket"}
    ]', 0)
$$);
select results_eq(
    $$ select unit, period, kind, used, room from forebay.quota_status() $$,
    $$ values ('requests', interval '1 minute', 'bucket', 0::numeric, 8::numeric),
        ('tokens', '1 minute', 'window', 900, 0), ('tokens', '1 hour', 'bucket', 0, 2880) $$,
    'a window keeps what counts, a level is refilled by the old amount and cut to the new burst, another kind starts unused'
);
select results_eq(
    $$ select distinct q.created_at, q.updated_at from forebay.quotas as q $$,
    $$ values (noon(), noon('10 seconds')) $$,
    'it is known since when'
);
select lives_ok($$ select forebay.register_quota('q', '[]') $$, 'no limits are allowed');
select results_eq(
    $$ select (forebay.may_call(101, 1000000)).decision $$, array['go'], 'and then nothing is limited'
);

-- What is refused
select throws_ok($$ select forebay.register_quota(null, '[]') $$, '22023', null, 'a quota has a name');
select throws_ok($$ select forebay.register_quota('', '[]') $$, '22023', null, 'which is not empty');
select throws_ok($$ select forebay.register_quota(repeat('x', 201), '[]') $$, '22023', null, 'nor too long');
select throws_ok($$ select forebay.register_quota('q', null) $$, '22023', null, 'limits are given');
select throws_ok($$ select forebay.register_quota('q', '{}') $$, '22023', null, 'as an array');
select throws_ok($$ select forebay.register_quota('q', '[null]') $$, '22023', null, 'of objects');
select throws_ok($$ select forebay.register_quota('q', '[]', null) $$, '22023', null, 'headroom is given');
select throws_ok($$ select forebay.register_quota('q', '[]', 1) $$, '22023', null, 'and below 1');
select throws_ok($$ select forebay.register_quota('q', '[]', -0.1) $$, '22023', null, 'and not negative');
select throws_ok($$ select forebay.register_quota('q', '[]', 'NaN') $$, '22023', null, 'and a number');
select throws_like(
    $$ select forebay.register_quota('q', '[{"per": "minute", "amount": 1}]') $$, '"unit" must be%', 'a unit is required'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "calls", "per": "minute", "amount": 1}]') $$,
    '"unit" must be requests, tokens, input_tokens, output_tokens or concurrent_calls, not calls',
    'and known'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "per": "minute"}]') $$, '"amount" is required',
    'so is an amount'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "per": "minute", "amount": -1}]') $$, '"amount" must%',
    'which is not negative'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "per": "minute", "amount": 1.5}]') $$, '"amount" must%',
    'and whole'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "amount": 1}]') $$, '"per" must%, not null', 'and a period'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "amount": 1, "per": "fortnight"}]') $$,
    '"per" must%, not "fortnight"', 'which is an interval'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "amount": 1, "per": "0.5 seconds"}]') $$,
    '"per" must%', 'of a second at least'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "amount": 1, "per": "1 month"}]') $$,
    '"per" must%', 'and a day at most'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "amount": 1, "per": "day", "kind": "count"}]') $$,
    '"kind" must%', 'a kind is known'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "amount": 1, "per": "day", "burst": 2}]') $$,
    '"burst" must%', 'only a bucket has a burst'
);
select throws_like(
    $$ select forebay.register_quota('q', '[{"unit": "tokens", "amount": 1, "per": "day", "kind": "bucket", "burst": 800}]') $$,
    '"burst" must%', 'which is a factor'
);
select throws_like(
    $$ select forebay.register_quota('q', '[
        {"unit": "tokens", "amount": 1, "per": "day"}, {"unit": "tokens", "amount": 2, "per": "24 hours"}
    ]') $$,
    '%twice', 'a unit has one limit in a period'
);
select results_eq(
    $$ select count(*) from forebay.quota_limits $$, array[0]::bigint[], 'and nothing of it was written'
);
select only_callable_by('{operator}', $$ select forebay.register_quota('q', '[]') $$);
select finish();
rollback;
