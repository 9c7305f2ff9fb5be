create or replace function forebay._has_expired(p_agent text, p_now timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether one of the agent's open attempts could be taken from its worker now.
begin
    return (
        select exists (
            select 1
            from forebay.task_attempts as a
            cross join forebay.installation as i
            where a.agent = p_agent and a.finished_at is null
                and forebay._is_expired(a, p_now, i.adoption_grace, i.report_grace)
        )
    );
end;
$function$;

comment on function forebay._has_expired is 'Whether one of the agent''s open attempts could be taken from its worker now.';
