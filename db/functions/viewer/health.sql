create or replace function forebay.health()
    returns forebay.health_report
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether the machinery turns: who claims and sweeps, who listens, what waits longest, what holds the database back.
--
-- The oldest transaction is one of the sessions of roles that forebay_owner may see; grant it pg_read_all_stats to see all.
--
-- Returns    one row; oldest_waiting_at is since when the oldest task could start; dispatchers are those that claimed or swept, the latest first, with the faults of their launchers; a sweep forgets those of yesterday
-- Called by  forebay_viewer
declare
    v_now    timestamptz := forebay._now();
    v_health forebay.health_report;
begin
    select
        forebay.schema_version(), i.installation_id, forebay._is_copy(i),
        forebay._may_dispatch(),
        (
            select coalesce(
                jsonb_agg(
                    to_jsonb(d) || jsonb_build_object('faults', forebay._launcher_faults(d.worker, v_now))
                    order by greatest(d.last_claim_at, d.last_sweep_at) desc
                ), '[]'
            )
            from forebay.dispatchers as d
        ),
        (
            select count(*)::integer from pg_stat_activity as s
            where s.datname = current_database() and s.application_name = 'forebay listener'
        ),
        (select max(d.last_claim_at) from forebay.dispatchers as d),
        (select max(d.last_sweep_at) from forebay.dispatchers as d),
        (select min(forebay._waits_since(a.agent, v_now)) from forebay.agents as a),
        (select count(*) from forebay.agents as a, forebay.task_attempts as o
            where o.agent = a.agent and o.finished_at is null
                and forebay._is_expired(o, v_now, i.adoption_grace, i.report_grace)),
        oldest.xact_start, pg_notification_queue_usage(), oldest.application_name,
        (select s.numbackends from pg_stat_database as s where s.datname = current_database()),
        current_setting('max_connections')::integer, pg_database_size(current_database()),
        current_setting('server_version'), v_now
    into v_health
    from forebay.installation as i
    left join (
        select s.xact_start, s.application_name from pg_stat_activity as s
        where s.datname = current_database() and s.pid <> pg_backend_pid() and s.xact_start is not null
        order by s.xact_start
        limit 1
    ) as oldest on true;
    return v_health;
end;
$function$;

comment on function forebay.health is 'Whether the machinery turns: who claims and sweeps, who listens, what waits longest, what holds the database back.';
