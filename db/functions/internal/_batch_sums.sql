create or replace function forebay._batch_sums(
    p_batch_id          bigint,
    out tasks           bigint,
    out enqueued        bigint,
    out processing      bigint,
    out completed       bigint,
    out failed          bigint,
    out cancelled       bigint,
    out finished_at     timestamptz,
    out llm_usd         numeric,
    out ended_attempts  bigint,
    out priced_attempts bigint
)
    language sql
    stable
    security invoker
as $function$
-- A batch's tasks by status, when the last of them ended once all have, and what their calls cost as far as known.
select
    count(*),
    count(*) filter (where t.status = 'enqueued'),
    count(*) filter (where t.status = 'processing'),
    count(*) filter (where t.status = 'completed'),
    count(*) filter (where t.status = 'failed'),
    count(*) filter (where t.status = 'cancelled'),
    case when bool_and(t.finished_at is not null) then max(t.finished_at) end,
    sum(forebay._known_usd(t.cost_usd, t.priced_attempts)),
    coalesce(sum(t.ended_attempts), 0)::bigint,
    coalesce(sum(t.priced_attempts), 0)::bigint
from forebay.tasks as t
where t.batch_id = p_batch_id;
$function$;

comment on function forebay._batch_sums is
'A batch''s tasks by status, when the last of them ended once all have, and what their calls cost as far as known.';
