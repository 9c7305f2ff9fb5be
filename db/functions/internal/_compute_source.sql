create or replace function forebay._compute_source(p_attempt_id bigint)
    returns text
    language sql
    stable
    security invoker
as $function$
-- Whose records say what an attempt's machine cost; null without one. What 'local' estimates gives way to any other source.
--
-- An estimate that ends before the attempt does was made by an end that has moved since, and does not count.
select u.source
from forebay.compute_usage as u
inner join forebay.task_attempts as a on a.attempt_id = u.attempt_id
where u.attempt_id = p_attempt_id and (u.source <> 'local' or coalesce(u.ended_at >= a.finished_at, true))
order by u.source = 'local', u.source
limit 1;
$function$;

comment on function forebay._compute_source is 'Whose records say what an attempt''s machine cost; null without one. What ''local'' estimates gives way to any other source.';
