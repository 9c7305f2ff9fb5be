create or replace function forebay._is_person(p_name text, p_actor text)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether both names are of the same person: the case of letters does not count, as it does not in roles.
select lower(p_name) = lower(p_actor);
$function$;

comment on function forebay._is_person is
'Whether both names are of the same person: the case of letters does not count, as it does not in roles.';
