create or replace function forebay._is_external(p_launcher text)
    returns boolean
    language sql
    immutable
    security invoker
as $function$
-- Whether the launcher's runs live on outside the driver, so that another driver can adopt them.
select p_launcher = 'lakeflow';
$function$;

comment on function forebay._is_external is 'Whether the launcher''s runs live on outside the driver, so that another driver can adopt them.';
