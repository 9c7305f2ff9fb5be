-- A change wakes those whom it concerns, and what changes nothing wakes nobody.
begin;
select plan(12);
select stop_clock();
set local role forebay_owner;
select given($$
    create function pg_temp.wakes(p_statement text) returns text[] language plpgsql as $do$
    -- Run the statement, and name the channels that its triggers asked to wake at commit.
    begin
        perform set_config('forebay.wakeup', '', true);
        execute p_statement;
        return case split_part(current_setting('forebay.wakeup'), ' ', 2)
            when 'work' then '{forebay_changes, forebay_work}' when 'changes' then '{forebay_changes}' else '{}'
        end;
    end $do$
$$);
select is(
    pg_temp.wakes('select forebay.register_agent(''a'')'), '{forebay_changes, forebay_work}', 'a new agent wakes all'
);
select is(
    pg_temp.wakes('select forebay.enqueue(''a'', ''{}'') from generate_series(1, 3)'),
    '{forebay_changes, forebay_work}',
    'so does a task'
);
select is(
    pg_temp.wakes('select forebay.enqueue(''a'', ''{}'', p_run_after => tap.noon(''1 hour''))'),
    '{forebay_changes}',
    'one that is not due wakes no dispatcher'
);
select is(pg_temp.wakes('select forebay.enqueue_many(''a'', ''[]'')'), '{}', 'no row, no notification');
select is(
    pg_temp.wakes('select forebay.dequeue(''w'', p_batch_size => 3)'), '{forebay_changes}', 'a claim is a change, not work'
);
select is(pg_temp.wakes('select forebay.dequeue(''w'')'), '{}', 'an idle poll wakes nobody');
select is(pg_temp.wakes('select forebay.renew_leases(''w'', ''{101}'')'), '{}', 'nor does a renewal');
select is(pg_temp.wakes('select forebay.report_progress(101, 1, 2)'), '{}', 'nor progress');
select is(
    pg_temp.wakes('select forebay.report_usage(101, ''{"call_id": "1", "input_tokens": 1}'')'), '{}', 'nor what it used'
);
select is(
    pg_temp.wakes('select forebay.record_compute_usage(''[{"record_id": "1", "attempt_id": 101, "usd": 1}]'')'),
    '{}',
    'nor what its machine cost'
);
select is(pg_temp.wakes('select forebay.sweep()'), '{}', 'nor a sweep that finds nothing');
select is(
    pg_temp.wakes('select forebay.complete(101, ''1'')'), '{forebay_changes, forebay_work}', 'an end makes room for work'
);
select finish();
rollback;
