create or replace function forebay._match_keys(p_rows forebay.tasks[])
    returns setof forebay.enqueued_task
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say which task each row of an insertion became: itself, or the one that had its idempotency key before.
--
-- Errors  40001  the task with the key went away at this moment
--         QF201  the task with the key has another payload
declare
    v_match record;
begin
    for v_match in
        select
            r.ordinal,
            r.task_id as wanted_id,
            r.idempotency_key,
            case when r.idempotency_key is null then r.task_id else t.task_id end as task_id,
            t.payload <> r.payload as differs
        from (select n.*, row_number() over () as ordinal from unnest(p_rows) as n) as r
        left join forebay.tasks as t on t.agent = r.agent and t.idempotency_key = r.idempotency_key
        order by r.ordinal
    loop
        if v_match.task_id is null then
            raise exception 'task %: the task with key "%" went away at this moment', v_match.ordinal, v_match.idempotency_key
                using errcode = '40001', hint = 'Try again.';
        end if;
        if v_match.differs then
            raise exception 'task %: key "%" was used before with another payload, for task %',
                v_match.ordinal, v_match.idempotency_key, v_match.task_id
                using errcode = 'QF201', hint = 'Use one key for one piece of work, or leave it out.';
        end if;
        return next (v_match.ordinal::integer, v_match.task_id, v_match.task_id = v_match.wanted_id)::forebay.enqueued_task;
    end loop;
end;
$function$;

comment on function forebay._match_keys is 'Say which task each row of an insertion became: itself, or the one that had its idempotency key before.';
