create or replace function forebay._forget_refusals(p_now timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Remove the refusals that count no more, since their share is whole again.
--
-- Writes  forebay.refusals
-- Locks   the refusals, skipping what somebody else holds
begin
    delete from forebay.refusals as r
    where r.refusal_id in (
        select p.refusal_id from forebay.refusals as p
        where forebay._share(p, p_now) = 1
        for update skip locked
    );
end;
$function$;

comment on function forebay._forget_refusals is 'Remove the refusals that count no more, since their share is whole again.';
