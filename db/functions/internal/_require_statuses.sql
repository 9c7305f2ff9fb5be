create or replace function forebay._require_statuses(p_statuses text[])
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that p_statuses, if given, holds statuses.
--
-- Errors  22023  a word is no status
declare
    v_word text;
begin
    select words.word into v_word
    from unnest(p_statuses) as words (word)
    where words.word is null or words.word not in ('enqueued', 'processing', 'completed', 'failed', 'cancelled')
    limit 1;
    if found then
        raise exception 'no status is called "%"', v_word
            using errcode = '22023', hint = 'Statuses: enqueued, processing, completed, failed, cancelled.';
    end if;
end;
$function$;

comment on function forebay._require_statuses is 'Check that p_statuses, if given, holds statuses.';
