create or replace function forebay._has_vast_number(p_document jsonb)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a number in a document is beyond those of double precision: other languages fail to read it.
select jsonb_path_exists(p_document, 'strict $.** ? (@ > 1.7976931348623157e308 || @ < -1.7976931348623157e308)');
$function$;

comment on function forebay._has_vast_number is
'Whether a number in a document is beyond those of double precision: other languages fail to read it.';
