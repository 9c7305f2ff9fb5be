create or replace function forebay._fits(p_is_first boolean, p_tokens numeric, p_level numeric, p_burst numeric)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether a bucket that has p_level left admits a task that needs p_tokens.
--
-- A task larger than the burst is admitted as the first of its claim when the bucket is full, and takes it into debt:
-- never a silent endless wait. A null level means that tokens are not limited.
select p_level is null or p_tokens <= p_level or (p_is_first and p_tokens > p_burst and p_level >= p_burst);
$function$;

comment on function forebay._fits is 'Whether a bucket that has p_level left admits a task that needs p_tokens.';
