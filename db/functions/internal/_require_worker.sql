create or replace function forebay._require_worker(p_worker text)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that p_worker can name a process.
--
-- Errors  22023  it is null, empty, or longer than 200 characters
begin
    if p_worker is null or p_worker = '' or char_length(p_worker) > 200 then
        raise exception 'p_worker must be a name of 1 to 200 characters'
            using errcode = '22023', hint = 'Use one that is unique to the process, such as host:pid:random.';
    end if;
end;
$function$;

comment on function forebay._require_worker is 'Check that p_worker can name a process.';
