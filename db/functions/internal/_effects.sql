create or replace function forebay._effects(p_task_ids bigint[], p_changed bigint[], p_effect text)
    returns setof forebay.task_effect
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Report an act on tasks: p_effect for those in p_changed, none for the others, unknown for ids that no task has.
begin
    return query
    select
        ids.task_id,
        t.status,
        case when t.task_id is null then 'unknown' when changed.task_id is not null then p_effect else 'none' end
    from unnest(p_task_ids) as ids (task_id)
    left join forebay.tasks as t on t.task_id = ids.task_id
    left join unnest(p_changed) as changed (task_id) on changed.task_id = ids.task_id
    order by ids.task_id;
end;
$function$;

comment on function forebay._effects is 'Report an act on tasks: p_effect for those in p_changed, none for the others, unknown for ids that no task has.';
