create or replace function forebay._places(p_worker text)
    returns jsonb
    language sql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Where p_worker starts runs, by launcher, as it said to observe_launcher; {} if it did not.
--
-- Names of one place stand one a line.
select coalesce((select d.places from forebay.dispatchers as d where d.worker = p_worker), '{}');
$function$;

comment on function forebay._places is 'Where p_worker starts runs, by launcher, as it said to observe_launcher; {} if it did not.';
