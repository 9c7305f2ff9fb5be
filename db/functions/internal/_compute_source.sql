create or replace function forebay._compute_source(p_attempt_id bigint)
    returns text
    language sql
    stable
    security invoker
as $function$
-- Whose records say what an attempt's machine cost; null without one. What 'local' estimates gives way to any other source.
select u.source
from forebay.compute_usage as u
where u.attempt_id = p_attempt_id
order by u.source = 'local', u.source
limit 1;
$function$;

comment on function forebay._compute_source is 'Whose records say what an attempt''s machine cost; null without one. What ''local'' estimates gives way to any other source.';
