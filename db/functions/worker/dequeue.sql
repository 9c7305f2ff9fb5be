create or replace function forebay.dequeue(
    p_worker     text,
    p_agents     text[] default null,
    p_batch_size integer default 1,
    p_launchers  text[] default null
)
    returns setof forebay.claimed_attempt
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
    set plan_cache_mode = force_generic_plan
    set enable_seqscan = off
    set enable_hashjoin = off
    set enable_mergejoin = off
    set jit = off
    set lock_timeout = 5000
as $function$
-- Claim up to p_batch_size tasks for p_worker: each becomes an attempt with a lease.
--
-- Agents that have room are served in the order of the best priority that could start; equals share the batch, the first
-- of them is random. An agent that another call is admitting for, or a quota or customer of it, is skipped, and waited for
-- only when this call holds nothing, for 5 seconds at most. A lock that led to nothing is given back at once, by rolling
-- its subtransaction back. The parameters are copied: a copy compares by the default collation, a parameter by whatever
-- the caller's argument had, past the indexes.
-- Call it in a transaction of its own: the agents it claimed for stay locked until commit. Without p_agents and
-- p_launchers it serves the agents of launcher pull.
--
-- Returns    one row an attempt; none when nothing could start at this moment
-- Writes     forebay.tasks, forebay.task_attempts, forebay.agent_budgets, forebay.agent_settlements, forebay.dispatchers,
--            forebay.customer_turns, and the quotas' levels
-- Locks      one agent after the other without waiting, each with its quotas and customers; then tasks and attempts
-- Errors     22023  p_worker, p_agents, p_batch_size or p_launchers is wrong
--            25001  the transaction is not READ COMMITTED
--            QF301  no such agent
--            QF401  this database is a copy
-- Called by  forebay_worker
declare
    v_worker    text := p_worker;
    v_agents    text[] := p_agents;
    v_launchers text[] := p_launchers;
    v_left      integer := p_batch_size;
    v_busy      text[] := array[]::text[];
    v_idle      text[] := array[]::text[];
    v_round     forebay.serving_round;
    v_waits     boolean;
    v_holds     boolean := false;
    v_agent     text;
    v_line      forebay.opened_line;
    v_got       integer;
begin
    perform forebay._require_worker(p_worker);
    perform forebay._require_between(p_batch_size, 'p_batch_size', 1, 10000);
    perform forebay._require_read_committed('dequeue');
    perform forebay._require_agents(v_agents);
    perform forebay._require_launchers(v_launchers);
    perform forebay._require_open();
    perform forebay._seen(v_worker, 'claim');

    while v_left > 0 loop
        v_round := forebay._next_round(v_agents, v_launchers, v_busy || v_idle);
        v_waits := v_left = p_batch_size and v_busy = '{}' and v_round.is_only and not v_holds;
        if v_round.agents is null then
            exit when v_left < p_batch_size or v_busy = '{}' or v_holds;
            v_round.agents := v_busy[1:1];
            v_waits := true;
            v_busy := '{}';
        end if;
        for v_at in 1 .. cardinality(v_round.agents) loop
            v_agent := v_round.agents[v_at];
            v_got := 0;
            begin
                v_line := forebay._open_line(v_agent, v_waits);
                return query select * from forebay._claim(
                    v_worker, v_line.agent,
                    least(v_line.room, ceil(v_left::numeric / (cardinality(v_round.agents) - v_at + 1))::integer), v_round.floor,
                    v_waits
                );
                get diagnostics v_got = row_count;
                if v_got = 0 then
                    v_idle := v_idle || v_agent;
                    if v_line.moved = 0 then
                        raise exception 'nothing to claim for %', v_agent using errcode = 'QF902';
                    end if;
                    v_holds := true;
                end if;
            exception
                when lock_not_available then
                    if v_waits then
                        return;
                    end if;
                    v_busy := v_busy || v_agent;
                when sqlstate 'QF902' then null;
            end;
            v_left := v_left - v_got;
            exit when v_left = 0;
        end loop;
    end loop;
end;
$function$;

comment on function forebay.dequeue is 'Claim up to p_batch_size tasks for p_worker: each becomes an attempt with a lease.';
