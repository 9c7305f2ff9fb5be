create or replace function forebay._last_refusal(p_agent text, p_quota text)
    returns forebay.refusals
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The refusal that counts: of a quota, or (p_quota null) of an agent alone, the one whose pause ends last; null without any.
declare
    v_agent   text := p_agent;
    v_quota   text := p_quota;
    v_refusal forebay.refusals;
begin
    if v_quota is null then
        select r.* into v_refusal
        from forebay.refusals as r
        where r.agent = v_agent and r.quota is null
        order by r.paused_until desc, r.refusal_id desc
        limit 1;
    else
        select r.* into v_refusal
        from forebay.refusals as r
        where r.quota = v_quota
        order by r.paused_until desc, r.refusal_id desc
        limit 1;
    end if;
    return v_refusal;
end;
$function$;

comment on function forebay._last_refusal is 'The refusal that counts: of a quota, or (p_quota null) of an agent alone, the one whose pause ends last; null without any.';
