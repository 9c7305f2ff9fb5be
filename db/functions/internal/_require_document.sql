create or replace function forebay._require_document(p_document jsonb, p_name text, p_max_bytes integer)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a document, written as text, is no longer than p_max_bytes, and that its numbers can be read everywhere.
--
-- Errors  22023  it has a vast number
--         QF402  it is too long
begin
    if octet_length(p_document::text) > p_max_bytes then
        raise exception '% has % bytes, more than the % that are allowed',
            p_name, octet_length(p_document::text), p_max_bytes
            using errcode = 'QF402', hint = 'Keep the content in a file and let the document point to it.';
    end if;
    if forebay._has_vast_number(p_document) then
        raise exception '% has a number that is too large', p_name
            using errcode = '22023', hint = 'Numbers are at most 1.79e308; write a larger one as a string.';
    end if;
end;
$function$;

comment on function forebay._require_document is
'Check that a document, written as text, is no longer than p_max_bytes, and that its numbers can be read everywhere.';
