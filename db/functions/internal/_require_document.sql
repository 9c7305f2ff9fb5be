create or replace function forebay._require_document(p_document jsonb, p_name text, p_max_bytes integer)
    returns void
    language plpgsql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Check that a document, written as text, is no longer than p_max_bytes, and that it can be read everywhere.
--
-- Errors  22023  it has a vast number, or is nested too deep
--         QF402  it is too long
declare
    v_fault text;
begin
    if octet_length(p_document::text) > p_max_bytes then
        raise exception '% has % bytes, more than the % that are allowed',
            p_name, octet_length(p_document::text), p_max_bytes
            using errcode = 'QF402', hint = 'Keep the content in a file and let the document point to it.';
    end if;
    v_fault := forebay._unreadable(p_document);
    if v_fault is not null then
        raise exception '% %', p_name, v_fault
            using errcode = '22023', hint = 'Write a large number as a string, and a deep document flatter.';
    end if;
end;
$function$;

comment on function forebay._require_document is
'Check that a document, written as text, is no longer than p_max_bytes, and that it can be read everywhere.';
