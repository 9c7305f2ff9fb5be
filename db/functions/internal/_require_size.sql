create or replace function forebay._require_size(p_document jsonb, p_name text, p_max_bytes integer)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a document, written as text, is no longer than p_max_bytes.
--
-- Errors  QF402  it is
begin
    if octet_length(p_document::text) > p_max_bytes then
        raise exception '% has % bytes, more than the % that are allowed',
            p_name, octet_length(p_document::text), p_max_bytes
            using errcode = 'QF402', hint = 'Keep the content in a file and let the document point to it.';
    end if;
end;
$function$;

comment on function forebay._require_size is 'Check that a document, written as text, is no longer than p_max_bytes.';
