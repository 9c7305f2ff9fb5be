create or replace function forebay._throttled_by(p_refusal forebay.refusals, p_now timestamptz)
    returns forebay.throttle
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- What a refusal means at p_now: a pause until it is over, and a share of the limits until that is whole again.
declare
    v_share  numeric := forebay._share(p_refusal, p_now);
    v_reason text := case
        when p_refusal.quota is null then 'the provider asked to wait'
        else format('the provider of quota "%s" asked to wait', p_refusal.quota)
    end;
begin
    return (
        case when p_refusal.paused_until > p_now then p_refusal.paused_until end,
        case when p_refusal.paused_until > p_now then v_reason end,
        v_share,
        case when v_share < 1 then p_refusal.in_flight end
    )::forebay.throttle;
end;
$function$;

comment on function forebay._throttled_by is 'What a refusal means at p_now: a pause until it is over, and a share of the limits until that is whole again.';
