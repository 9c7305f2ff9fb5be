create or replace function forebay._count_usage(p_attempt_id bigint)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Bring the attempt up to date with what is recorded of its calls: trace, cost, usage, charge, machine; the caller holds it and its task.
--
-- Writes  forebay.task_attempts, forebay.attempt_usage, forebay.spend_entries, forebay.agent_settlements
begin
    -- Written even when nothing changes in it: a report in an older snapshot, which cannot see the usage, then gets 40001.
    update forebay.task_attempts as a
    set trace_id = coalesce(a.trace_id, (
        select min(u.trace_id) from forebay.attempt_usage as u where u.attempt_id = p_attempt_id
    ))
    where a.attempt_id = p_attempt_id;
    perform forebay._spend(p_attempt_id);
    perform forebay._measure(p_attempt_id);
    perform forebay._settle(p_attempt_id);
    if (forebay._get_attempt(p_attempt_id)).finished_at is not null then
        perform forebay._add_compute(array[p_attempt_id]);
    end if;
end;
$function$;

comment on function forebay._count_usage is
'Bring the attempt up to date with what is recorded of its calls: trace, cost, usage, charge, machine; the caller holds it and its task.';
