create or replace function forebay._lowered(p_limit bigint, p_share numeric)
    returns bigint
    language sql
    immutable
    security invoker
as $function$
-- A share of a limit, in whole units: at least 1, but 0 stays 0 and no limit (null) none.
select case when p_limit is not null then least(p_limit, greatest(1, floor(p_limit * p_share)))::bigint end;
$function$;

comment on function forebay._lowered is 'A share of a limit, in whole units: at least 1, but 0 stays 0 and no limit (null) none.';
