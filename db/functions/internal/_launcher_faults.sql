create or replace function forebay._launcher_faults(p_worker text, p_now timestamptz)
    returns jsonb
    language sql
    stable
    security invoker
as $function$
-- Why a worker cannot start runs at this moment: an array of launcher, reason and began_at.
select coalesce(
    jsonb_agg(jsonb_build_object('launcher', f.launcher, 'reason', f.reason, 'began_at', f.began_at) order by f.launcher), '[]'
)
from forebay.launcher_faults as f
where f.worker = p_worker and forebay._is_current(f, p_now);
$function$;

comment on function forebay._launcher_faults is
'Why a worker cannot start runs at this moment: an array of launcher, reason and began_at.';
