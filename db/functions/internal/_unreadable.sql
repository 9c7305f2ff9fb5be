create or replace function forebay._unreadable(p_document jsonb)
    returns text
    language sql
    immutable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Why other languages fail to read a document, in words that follow its name; null when they can.
--
-- A number may be beyond those of double precision, or lists and objects more than 500 levels deep in each other: parsers
-- that call themselves for each level run out of stack, and what cannot be read cannot be claimed.
select case
    when jsonb_path_exists(p_document, 'strict $.**{501}')
        then 'is nested more than 500 levels deep'
    when jsonb_path_exists(p_document, 'strict $.** ? (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308)')
        then 'has a number that is too large: numbers are at most 1.79e308'
end;
$function$;

comment on function forebay._unreadable is
'Why other languages fail to read a document, in words that follow its name; null when they can.';
