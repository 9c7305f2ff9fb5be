create or replace function forebay._awaits_report(p_attempt forebay.task_attempts, p_run jsonb, p_now timestamptz)
    returns boolean
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Whether a run that ended well may still report: its report can be on its way for the report grace.
begin
    return (
        select p_run ->> 'result_state' like 'SUCCESS%' and p_attempt.run_ended_at + i.report_grace > p_now
        from forebay.installation as i
    );
end;
$function$;

comment on function forebay._awaits_report is 'Whether a run that ended well may still report: its report can be on its way for the report grace.';
