create or replace function forebay.schema_version()
    returns text
    language sql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- The release of the schema that is installed, such as 0.1.0; drivers ask it before they start.
--
-- Called by  every role that calls any function
select h.name
from forebay.schema_history as h
where h.kind = 'release'
order by string_to_array(h.name, '.')::integer[] desc
limit 1;
$function$;

comment on function forebay.schema_version is 'The release of the schema that is installed, such as 0.1.0; drivers ask it before they start.';
