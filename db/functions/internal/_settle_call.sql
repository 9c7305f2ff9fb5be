create or replace function forebay._settle_call(
    p_attempt forebay.task_attempts,
    p_old     forebay.attempt_usage,
    p_new     forebay.attempt_usage
)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Leave to the quotas what a call's report adds to what they were charged for it; p_old is null for a new call.
--
-- A granted call is found by its id, or as the oldest that was granted without one. Its first report says that it is over;
-- a number of tokens that stays unknown keeps its grant until it is known, and is taken back where it is known no more. A
-- call that nobody asked for counts when it was made, against the quotas that the agent draws on now. Traces count only
-- where neither the agent's asking nor its own reports tell of its calls.
--
-- Writes  forebay.quota_settlements, forebay.attempt_calls
declare
    v_quotas text[];
    v_grant  forebay.attempt_calls;
    v_call   forebay.quota_settlements;
begin
    if p_new.source = 'trace' and (p_attempt.asks_first or exists (
        select from forebay.attempt_usage as u where u.attempt_id = p_attempt.attempt_id and u.source = 'agent'
    )) then
        return;
    end if;
    select c.* into v_grant
    from forebay.attempt_calls as c
    where c.attempt_id = p_attempt.attempt_id and (c.call_id = p_new.call_id or (c.call_id is null and p_old.call_id is null))
    order by c.call_id nulls last, c.is_over, c.call_no
    limit 1;
    if found then
        delete from forebay.attempt_calls as c
        where c.attempt_id = v_grant.attempt_id and c.call_no = v_grant.call_no
            and p_new.input_tokens is not null and p_new.output_tokens is not null;
        update forebay.attempt_calls as c
        set is_over = true, call_id = p_new.call_id,
            input_tokens = case when p_new.input_tokens is null then c.input_tokens else 0 end,
            output_tokens = case when p_new.output_tokens is null then c.output_tokens else 0 end
        where c.attempt_id = v_grant.attempt_id and c.call_no = v_grant.call_no;
    end if;
    v_quotas := coalesce(v_grant.quotas, (forebay._get_agent(p_attempt.agent)).quotas);
    v_call.called_at := coalesce(v_grant.granted_at, forebay._called_at(p_new, p_attempt.started_at));
    v_call.requests := (v_grant.call_no is null and p_old.call_id is null)::integer;
    v_call.input_tokens := coalesce(
        p_new.input_tokens - coalesce(p_old.input_tokens, v_grant.input_tokens, 0), -p_old.input_tokens, 0
    );
    v_call.output_tokens := coalesce(
        p_new.output_tokens - coalesce(p_old.output_tokens, v_grant.output_tokens, 0), -p_old.output_tokens, 0
    );

    insert into forebay.quota_settlements (quota, called_at, requests, input_tokens, output_tokens)
    select q.quota, v_call.called_at, v_call.requests, v_call.input_tokens, v_call.output_tokens
    from forebay.quotas as q
    where q.quota = any(v_quotas) and (v_call.requests, v_call.input_tokens, v_call.output_tokens) <> (0, 0, 0);
end;
$function$;

comment on function forebay._settle_call is 'Leave to the quotas what a call''s report adds to what they were charged for it; p_old is null for a new call.';
