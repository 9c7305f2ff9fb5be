-- The guard lets a task go along the state machine's arrows, and along no other.
begin;
select plan(7);
select stop_clock();
set local role forebay_owner;
select given($$
    select forebay.register_agent('a');
    create function pg_temp.refusal(p_from text, p_to text) returns text language plpgsql as $do$
    -- Put a task into p_from behind the guard's back, move it to p_to, and say with which code that ended.
    begin
        alter table forebay.tasks disable trigger user;
        insert into forebay.tasks (agent, status, payload, available_at, created_at, finished_at, attempt_id, locked_by)
        select 'a', p_from, '{}', tap.noon(), tap.noon(), case when p_from in ('completed', 'failed',
            'cancelled') then tap.noon() end,
            case p_from when 'processing' then 1 end, case p_from when 'processing' then 'w' end;
        alter table forebay.tasks enable trigger user;
        update forebay.tasks set status = p_to,
            finished_at = case when p_to in ('completed', 'failed', 'cancelled') then tap.noon() end,
            attempt_id = case p_to when 'processing' then 1 end, locked_by = case p_to when 'processing' then 'w' end;
        raise exception 'undo it' using errcode = 'TST01';
    exception when others then
        return nullif(sqlstate, 'TST01');
    end $do$
$$);
create temporary table moves as
select
a.status as old,
b.status as new,
pg_temp.refusal(a.status, b.status) as refusal
from
    unnest(array['enqueued', 'processing', 'completed', 'failed', 'cancelled']) as a (status),
    unnest(array['enqueued', 'processing', 'completed', 'failed', 'cancelled']) as b (status);
select bag_eq(
    $$ select old, new from moves where refusal is null and old <> new $$,
    $$ values ('enqueued', 'processing'), ('enqueued', 'completed'), ('enqueued', 'cancelled'),
        ('processing', 'completed'), ('processing', 'failed'), ('processing', 'enqueued'), ('processing', 'cancelled'),
        ('failed', 'enqueued'), ('cancelled', 'enqueued') $$,
    'nine moves are allowed'
);
select results_eq(
    $$ select distinct refusal from moves where refusal is not null $$,
    array['QF901'],
    'every other is refused as our bug'
);
select results_eq(
    $$ select count(*) from moves where old = new and refusal is not null $$, array[0]::bigint[], 'staying is no move'
);
select throws_ok(
    $$ insert into forebay.tasks (agent, status, payload, available_at, created_at, finished_at)
    values ('a', 'completed', '{}', noon(), noon(), noon()) $$,
    'QF901', null, 'a task starts as enqueued'
);
select throws_ok(
    $$ insert into forebay.tasks (agent, payload, available_at, created_at, attempt_id, locked_by)
    values ('a', '{}', noon(), noon(), 1, 'w') $$,
    '23514', null, 'only a processing task has a lease'
);
select given($$ select forebay.enqueue('a', '{}') $$);
select throws_ok(
    $$ update forebay.tasks set status = 'processing' $$, '23514', null, 'and a processing task always has one'
);
select throws_ok(
    $$ update forebay.tasks set status = 'cancelled' $$, '23514', null, 'what has ended has a time'
);
select finish();
rollback;
