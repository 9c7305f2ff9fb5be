create or replace function forebay._is_here(p_place text)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a place that _here gave is this one: null is anywhere, and one without the word of a branch is on any branch.
--
-- Where the place has such a word, a session without one is not known to be there: it may be on a copy.
begin
    return p_place is null or p_place in (forebay._here(), split_part(forebay._here(), ' ', 1));
end;
$function$;

comment on function forebay._is_here is
'Whether a place that _here gave is this one: null is anywhere, and one without the word of a branch is on any branch.';
