create or replace function forebay._is_known_as(p_place text, p_names text)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a place is the one that goes by these names, one a line; null is any.
select coalesce(p_place = any(string_to_array(p_names, e'\n')), true);
$function$;

comment on function forebay._is_known_as is 'Whether a place is the one that goes by these names, one a line; null is any.';
