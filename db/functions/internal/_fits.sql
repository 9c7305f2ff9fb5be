create or replace function forebay._fits(
    p_place  bigint,
    p_tokens numeric,
    p_upto   numeric,
    p_level  numeric,
    p_burst  numeric
)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether the task at p_place of a claim may be admitted: it needs p_tokens, and with those before it p_upto.
--
-- A task larger than the burst is admitted as the first of its claim when the bucket is full, and takes it into debt:
-- never a silent endless wait. A null level means that tokens are not limited.
select
    p_level is null
    or p_upto <= p_level
    or (p_place = 1 and p_tokens > p_burst and p_level >= p_burst);
$function$;

comment on function forebay._fits is 'Whether the task at p_place of a claim may be admitted: it needs p_tokens, and with those before it p_upto.';
