create or replace function forebay._still_asks(p_wait_until timestamptz, p_now timestamptz)
    returns boolean
    language sql
    stable
    security invoker
as $function$
-- Whether a call that was told to wait until then has its place in line still: for 5 s more, in which it asks again.
select p_wait_until > p_now - interval '5 seconds';
$function$;

comment on function forebay._still_asks is 'Whether a call that was told to wait until then has its place in line still: for 5 s more, in which it asks again.';
