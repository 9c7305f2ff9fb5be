create or replace function forebay._notify(p_channel text, p_notified_until regclass)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Notify p_channel, unless so many others just did that it would only slow them down.
--
-- Every committing notifier takes one lock of the whole cluster, so under load most of them keep silent: the sequence holds
-- until when notifications have been spent, each costs 5 ms, and up to 20 may be spent ahead. When the rate is low nobody
-- is silenced. When it is high another notification follows within milliseconds, and listeners look once more after their
-- last wake-up. The clock here is the real one: a test's clock may stand still.
--
-- Writes  the sequence p_notified_until, which is shared and not transactional
declare
    v_now_ms bigint := (extract(epoch from clock_timestamp()) * 1000)::bigint;
    v_until  bigint := coalesce(pg_sequence_last_value(p_notified_until), 0);
begin
    if v_until between v_now_ms + 100 and v_now_ms + 1000 then
        return;
    end if;
    perform setval(p_notified_until, case when v_until > v_now_ms + 1000 then v_now_ms else greatest(v_until, v_now_ms) end + 5);
    perform pg_notify(p_channel, '');
end;
$function$;

comment on function forebay._notify is 'Notify p_channel, unless so many others just did that it would only slow them down.';
