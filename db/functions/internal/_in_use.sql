create or replace function forebay._in_use(p_agent text, p_at_most integer default null)
    returns bigint
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- How many tasks of the agent are processing, counted up to p_at_most (null: all of them).
begin
    return (
        select count(*)
        from (select 1 from forebay.task_attempts as a where a.agent = p_agent and a.finished_at is null limit p_at_most) as open
    );
end;
$function$;

comment on function forebay._in_use is 'How many tasks of the agent are processing, counted up to p_at_most (null: all of them).';
