-- report_usage: what a call used replaces in the agent's quotas what it was granted; what nobody asked for is added.
begin;
select plan(12);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_quota('q', '[
        {"unit": "requests", "per": "minute", "amount": 100}, {"unit": "input_tokens", "per": "minute", "amount": 1000},
        {"unit": "output_tokens", "per": "minute", "amount": 1000, "kind": "bucket", "burst": 1}
    ]');
    select forebay.register_agent('a', p_quotas => '{q}'), forebay.register_agent('b', p_quotas => '{q}');
    select forebay.enqueue('a', '{}', p_estimated_tokens => 1), forebay.enqueue('b', '{}', p_estimated_tokens => 1);
    select forebay.dequeue('w', '{a}');
    select forebay.dequeue('w', '{b}');
    select forebay.may_call(101, 300, 100, 'one');
    select forebay.may_call(101, 300, 100, 'two')
$$);
prepare used as
select array_agg(s.used order by s.unit = 'requests' desc, s.unit) from forebay.quota_status('{q}') as s;
select results_eq('used', $$ values (array[2, 400, 200]::numeric[]) $$, 'two calls are granted');
select given($$ select forebay.report_usage(101, '{"call_id": "two", "input_tokens": 150, "output_tokens": 300}') $$);
select results_eq('used', $$ values (array[2, 350, 400]::numeric[]) $$, 'less input gives room back, and more output takes it');
select results_eq($$ select call_id from forebay.attempt_calls $$, array['one'], 'the call is closed');
select given($$ select forebay.report_usage(101, '{"call_id": "one"}') $$);
select results_eq('used', $$ values (array[2, 350, 400]::numeric[]) $$, 'what is not known keeps its grant');
select results_eq($$ select is_over from forebay.attempt_calls $$, array[true], 'though the call is over');
select given($$
    select forebay.report_usage(101, '{"call_id": "one", "input_tokens": 0}'),
        forebay.report_usage(101, '{"call_id": "one", "output_tokens": 0}')
$$);
select results_eq('used', $$ values (array[2, 150, 300]::numeric[]) $$, 'until it is known');
select is_empty($$ select * from forebay.attempt_calls $$, 'then nothing is left of it');

-- Without a grant, and from traces
select given($$ select forebay.report_usage(101, '{"call_id": "three", "input_tokens": 10, "output_tokens": 1}') $$);
select results_eq('used', $$ values (array[3, 160, 301]::numeric[]) $$, 'a call that nobody asked for is added');
select given($$
    select forebay.report_usage(101, '{"call_id": "t", "source": "trace", "input_tokens": 10, "output_tokens": 1}')
$$);
select results_eq('used', $$ values (array[3, 160, 301]::numeric[]) $$, 'a trace tells nothing new of an agent that reports');
select given($$
    select forebay.report_usage(102, '[
        {"call_id": "t", "source": "trace", "input_tokens": 10, "output_tokens": 1, "started_at": "2026-01-01T11:00:00Z"},
        {"call_id": "u", "source": "trace", "input_tokens": 10, "output_tokens": 1, "started_at": "2036-01-01T11:00:00Z"}
    ]')
$$);
select results_eq('used', $$ values (array[5, 180, 303]::numeric[]) $$, 'but is all that is known of one that does not');
select results_eq(
    $$ select called_at from forebay.quota_settlements order by settlement_id desc limit 2 $$,
    array[noon(), noon()], 'a call lies between the attempt''s start and its report, whatever the client''s clock says'
);
select at_time('62 seconds');
select results_eq('used', $$ values (array[0, 0, 0]::numeric[]) $$, 'all of it leaves with time');
select finish();
rollback;
