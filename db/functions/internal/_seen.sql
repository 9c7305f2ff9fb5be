create or replace function forebay._seen(p_worker text, p_did text)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Note for health() that p_worker has just claimed or swept; at most once in five seconds, and never waiting.
--
-- Writes  forebay.dispatchers, under a try-lock of its own, so that callers with one name do not queue up
declare
    v_now timestamptz := forebay._now();
begin
    perform 1 from forebay.dispatchers as d
    where d.worker = p_worker
        and case p_did when 'claim' then d.last_claim_at else d.last_sweep_at end > v_now - interval '5 seconds';
    if found or not pg_try_advisory_xact_lock(hashtextextended('forebay.dispatcher ' || p_worker, 0)) then
        return;
    end if;

    insert into forebay.dispatchers as d (worker, first_seen_at, last_claim_at, last_sweep_at)
    values (p_worker, v_now, case p_did when 'claim' then v_now end, case p_did when 'sweep' then v_now end)
    on conflict (worker) do update set
        last_claim_at = coalesce(excluded.last_claim_at, d.last_claim_at),
        last_sweep_at = coalesce(excluded.last_sweep_at, d.last_sweep_at);
end;
$function$;

comment on function forebay._seen is 'Note for health() that p_worker has just claimed or swept; at most once in five seconds, and never waiting.';
