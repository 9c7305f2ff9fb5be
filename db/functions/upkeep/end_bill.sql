create or replace function forebay.end_bill(
    p_began_at timestamptz,
    p_source   text default 'billing',
    p_settings text default null
)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Say that all of what begin_bill asked for is recorded: the next reading begins from there.
--
-- Returns    nothing
-- Writes     forebay.compute_sources
-- Locks      the source
-- Errors     22023  p_began_at is null, p_source has not 1 to 200 characters, or p_settings not 1 to 1,000
--            QF206  a later reading has recorded
-- Called by  forebay_upkeep
begin
    if char_length(p_settings) not between 1 and 1000 then
        raise exception 'p_settings must have 1 to 1000 characters' using errcode = '22023';
    end if;
    perform forebay._hold_bill(p_source, p_began_at);
    update forebay.compute_sources as s
    set as_of = greatest(case when s.as_of is not null then least(s.as_of, forebay._now()) end, s.read_at),
        settings = p_settings
    where s.source = p_source;
end;
$function$;

comment on function forebay.end_bill is 'Say that all of what begin_bill asked for is recorded: the next reading begins from there.';
