create or replace function forebay.price_calls(
    p_model            text,
    p_after_attempt_id bigint default 0,
    p_limit            integer default 1000,
    p_reason           text default null,
    p_actor            text default null
)
    returns setof bigint
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
as $function$
-- Price calls of a model that were made before their price was registered: those without a cost, or with a list price.
--
-- Each gets the price that held when it was made; what it cost is spent on that day. A cost that was reported, or that a
-- registered price gave, stays. One call takes the attempts after p_after_attempt_id, by id: go on after the last of them.
--
-- Returns    the attempts that were priced, by id; fewer than p_limit: there are no others
-- Writes     forebay.attempt_usage, forebay.task_attempts, forebay.tasks, forebay.spend_entries,
--            forebay.agent_settlements, forebay.audit_log
-- Locks      the tasks, then their attempts, by id
-- Errors     22023  an argument is null, or p_limit is not from 1 to 10,000
-- Called by  forebay_operator
declare
    v_attempts bigint[];
begin
    if p_model is null or p_after_attempt_id is null then
        raise exception 'p_model and p_after_attempt_id must not be null' using errcode = '22023';
    end if;
    perform forebay._require_between(p_limit, 'p_limit', 1, 10000);
    v_attempts := array(
        select distinct u.attempt_id
        from forebay.attempt_usage as u
        inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
        where u.attempt_id > p_after_attempt_id and u.model = p_model and u.cost_usd is null
            and (u.usd is null or u.is_list_price)
            and forebay._price_call(u, forebay._called_at(u, a.started_at)) is not null
        order by u.attempt_id
        limit p_limit
    );
    perform forebay._lock_tasks(
        array(select a.task_id from forebay.task_attempts as a where a.attempt_id = any(v_attempts)), v_attempts
    );
    update forebay.attempt_usage as u
    set (usd, is_list_price) = (
        select priced.usd, priced.is_list_price from forebay._priced(u, a.started_at) as priced
    )
    from forebay.task_attempts as a
    where u.attempt_id = any(v_attempts) and a.attempt_id = u.attempt_id and u.model = p_model and u.cost_usd is null
        and (u.usd is null or u.is_list_price);
    perform forebay._count_usage(ids.attempt_id) from unnest(v_attempts) as ids (attempt_id);
    if v_attempts <> '{}' then
        perform forebay._audit(
            'price_calls', null, null, p_reason, p_actor,
            jsonb_build_object('model', p_model, 'attempts', cardinality(v_attempts))
        );
    end if;
    return query select unnest(v_attempts);
end;
$function$;

comment on function forebay.price_calls is 'Price calls of a model that were made before their price was registered: those without a cost, or with a list price.';
