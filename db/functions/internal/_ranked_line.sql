create or replace function forebay._ranked_line(
    p_agent   forebay.agents,
    p_limit   integer,
    p_floor   integer,
    p_now     timestamptz,
    p_locks   boolean,
    p_capped  text[],
    p_learned forebay.learned
)
    returns forebay.lined_up[]
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The line of an agent that lets tasks age, or serves its customers in turns: _line without the tasks of p_capped.
--
-- What somebody else holds is found out by trying, and left out of the next try.
--
-- Locks  with p_locks the tasks, without waiting
declare
    v_held bigint[] := array[]::bigint[];
    v_ids  bigint[];
    v_got  bigint[];
    v_id   bigint;
begin
    loop
        v_ids := case
            when p_agent.is_fair_by_customer
                then forebay._fair_order(p_agent, p_limit, p_floor, p_now, p_locks, p_capped, v_held, p_learned)
            else forebay._aged_order(p_agent, p_limit, p_floor, p_now, p_locks, p_capped, v_held)
        end;
        exit when not p_locks;
        v_got := array[]::bigint[];
        for v_id in
            select t.task_id from forebay.tasks as t
            where t.task_id = any(v_ids) and t.status = 'enqueued' and t.is_ready
            order by t.task_id
            for no key update skip locked
        loop
            v_got := v_got || v_id;
        end loop;
        exit when cardinality(v_got) = cardinality(v_ids);
        v_held := v_held || array(select ids.task_id from unnest(v_ids) as ids (task_id) where ids.task_id <> all(v_got));
    end loop;
    return array(
        select forebay._lined_up(p_agent, t, p_learned, p_now)
        from unnest(v_ids) with ordinality as places (task_id, place)
        inner join forebay.tasks as t on t.task_id = places.task_id
        order by places.place
    );
end;
$function$;

comment on function forebay._ranked_line is 'The line of an agent that lets tasks age, or serves its customers in turns: _line without the tasks of p_capped.';
