create or replace function forebay._end_refusals(p_agents text[], p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- End the pauses that a provider asked these agents for, also those of their quotas; the lowered share stays and grows.
--
-- Writes  forebay.refusals
-- Locks   the refusals, by id
begin
    update forebay.refusals as r
    set paused_until = p_now
    where r.refusal_id in (
        select p.refusal_id
        from forebay.refusals as p
        where p.paused_until > p_now
            and case
                when p.quota is null then p.agent = any(p_agents)
                else exists (select from forebay.agents as a where a.agent = any(p_agents) and p.quota = any(a.quotas))
            end
        order by p.refusal_id
        for no key update
    );
end;
$function$;

comment on function forebay._end_refusals is 'End the pauses that a provider asked these agents for, also those of their quotas; the lowered share stays and grows.';
