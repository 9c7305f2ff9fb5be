create or replace function forebay._hold_bill(p_source text, p_began_at timestamptz)
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Lock a bill for the reading that began at p_began_at; one that began before another that recorded is refused.
--
-- So of two readers the later one wins, whoever comes last. A time to come was one of now: the clock was set back.
--
-- Writes  forebay.compute_sources
-- Errors  22023  p_began_at is null, or p_source has not 1 to 200 characters
--         QF206  a later reading has recorded
declare
    v_now     timestamptz;
    v_read_at timestamptz;
begin
    perform forebay._require_source(p_source);
    if p_began_at is null then
        raise exception 'p_began_at must be given' using errcode = '22023';
    end if;
    insert into forebay.compute_sources (source) values (p_source) on conflict (source) do nothing;
    select s.read_at into v_read_at from forebay.compute_sources as s where s.source = p_source for no key update;
    v_now := forebay._now();
    if v_read_at > p_began_at and v_read_at <= v_now then
        raise exception 'this bill has been read since by somebody else' using errcode = 'QF206',
            hint = 'What the later reading recorded stays.';
    end if;
    update forebay.compute_sources as s set read_at = least(p_began_at, v_now) where s.source = p_source;
end;
$function$;

comment on function forebay._hold_bill is
'Lock a bill for the reading that began at p_began_at; one that began before another that recorded is refused.';
