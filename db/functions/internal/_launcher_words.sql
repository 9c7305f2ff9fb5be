create or replace function forebay._launcher_words(p_launcher text, p_now timestamptz)
    returns text
    language sql
    stable
    security invoker
as $function$
-- Which worker has not been able to start runs with a launcher for longest, and why, as a sentence; null: all can.
select format(
    'Worker %s cannot start runs since %s, and tries again by itself: %s.',
    f.worker, forebay._moment_words(f.began_at, p_now), rtrim(f.reason, '. ')
)
from forebay.launcher_faults as f
where f.launcher = p_launcher and forebay._is_current(f, p_now)
order by f.began_at, f.worker
limit 1;
$function$;

comment on function forebay._launcher_words is
'Which worker has not been able to start runs with a launcher for longest, and why, as a sentence; null: all can.';
