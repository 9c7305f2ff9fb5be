-- The trigger of forebay.task_attempts: what attempts used is added up on their task.

create or replace function forebay._add_to_task()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Add to the task what changed in what its attempt used, cost and ran; whoever changes that holds the task.
declare
    v_is_ended   integer := (new.finished_at is not null)::integer;
    v_was_ended  integer := (old.finished_at is not null)::integer;
    v_is_unused  boolean := new.status = 'released' and new.used_calls = 0;
    v_was_unused boolean := old.status = 'released' and old.used_calls = 0;
begin
    update forebay.tasks as t
    set used_input_tokens = t.used_input_tokens + new.used_input_tokens - old.used_input_tokens,
        used_output_tokens = t.used_output_tokens + new.used_output_tokens - old.used_output_tokens,
        used_cached_tokens = t.used_cached_tokens + new.used_cached_tokens - old.used_cached_tokens,
        cost_usd = t.cost_usd + coalesce(new.cost_usd, 0) - coalesce(old.cost_usd, 0),
        compute_usd = t.compute_usd + coalesce(new.compute_usd, 0) - coalesce(old.compute_usd, 0),
        ended_attempts = t.ended_attempts + v_is_ended - v_was_ended,
        measured_attempts = t.measured_attempts
            + v_is_ended * (new.is_usage_known or v_is_unused)::integer
            - v_was_ended * (old.is_usage_known or v_was_unused)::integer,
        priced_attempts = t.priced_attempts
            + v_is_ended * (new.is_cost_known or v_is_unused)::integer
            - v_was_ended * (old.is_cost_known or v_was_unused)::integer,
        costed_attempts = t.costed_attempts
            + v_is_ended * (new.compute_usd is not null)::integer - v_was_ended * (old.compute_usd is not null)::integer,
        provisional_attempts = t.provisional_attempts
            + v_is_ended * (new.compute_usd is not null and not new.is_compute_final)::integer
            - v_was_ended * (old.compute_usd is not null and not old.is_compute_final)::integer,
        run_time = t.run_time
            + coalesce(new.finished_at - new.started_at, interval '0')
            - coalesce(old.finished_at - old.started_at, interval '0')
    where t.task_id = new.task_id;
    return null;
end;
$function$;

comment on function forebay._add_to_task is 'Add to the task what changed in what its attempt used, cost and ran; whoever changes that holds the task.';

create or replace trigger task_attempts_add_to_task
after update on forebay.task_attempts
for each row
when (
    old.finished_at is distinct from new.finished_at
    or old.used_input_tokens <> new.used_input_tokens or old.used_output_tokens <> new.used_output_tokens
    or old.used_cached_tokens <> new.used_cached_tokens or old.is_usage_known <> new.is_usage_known
    or old.used_calls <> new.used_calls
    or old.cost_usd is distinct from new.cost_usd or old.is_cost_known <> new.is_cost_known
    or old.compute_usd is distinct from new.compute_usd or old.is_compute_final <> new.is_compute_final
    or old.status <> new.status and old.finished_at is not null
)
execute function forebay._add_to_task();
