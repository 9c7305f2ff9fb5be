create or replace function forebay._known_part(p_sum numeric, p_known bigint, p_attempts bigint)
    returns numeric
    language sql
    immutable
    security invoker
as $function$
-- A sum over attempts, of which so many tell all of theirs; null, not 0, where there are attempts and nothing is known of any.
--
-- A sum that is not 0 is known in part, also where no attempt tells all of its own.
select case when p_sum <> 0 or p_known > 0 or p_attempts = 0 then p_sum end;
$function$;

comment on function forebay._known_part is 'A sum over attempts, of which so many tell all of theirs; null, not 0, where there are attempts and nothing is known of any.';
