create or replace function forebay._try_key(p_attempt_no integer, p_status_before text)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- Which kind of try an attempt is: first, or after_failed, after_lost and the like, by how the attempt before it ended.
select case when p_attempt_no = 1 then 'first' else 'after_' || coalesce(p_status_before, 'unknown') end;
$function$;

comment on function forebay._try_key is 'Which kind of try an attempt is: first, or after_failed, after_lost and the like, by how the attempt before it ended.';
