create or replace function forebay._usage_tokens(
    p_attempt_id     bigint,
    out tokens       bigint,
    out is_complete  boolean
)
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The tokens of an attempt's calls, from the more complete source; no row when none was reported.
--
-- Returns  tokens: input and output of the calls where both are known, and what is known of the others
begin
    select
        (sum(coalesce(u.input_tokens, 0) + coalesce(u.output_tokens, 0)))::bigint,
        bool_and(u.input_tokens is not null and u.output_tokens is not null)
    into tokens, is_complete
    from forebay.attempt_usage as u
    where u.attempt_id = p_attempt_id
    group by u.source
    order by count(*) filter (where u.input_tokens is not null and u.output_tokens is not null) desc, u.source
    limit 1;
end;
$function$;

comment on function forebay._usage_tokens is 'The tokens of an attempt''s calls, from the more complete source; no row when none was reported.';
