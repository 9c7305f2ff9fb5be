create or replace function forebay.annotate(
    p_task_ids bigint[],
    p_note     text,
    p_reason   text default null,
    p_actor    text default null
)
    returns setof forebay.task_effect
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Write a note on tasks, whatever they are doing; task_detail shows it among what people did.
--
-- Returns    one row a distinct id, by id; effect is annotated or unknown
-- Writes     forebay.audit_log
-- Errors     22023  p_task_ids is null, or p_note has not 1 to 2,000 characters beside blanks
-- Called by  forebay_operator
declare
    v_ids   bigint[] := forebay._require_ids(p_task_ids, 'p_task_ids');
    v_note  text := btrim(p_note);
    v_known bigint[];
begin
    if v_note is null or char_length(v_note) not between 1 and 2000 then
        raise exception 'p_note must have 1 to 2,000 characters' using errcode = '22023';
    end if;
    v_known := array(select t.task_id from forebay.tasks as t where t.task_id = any(v_ids) order by t.task_id);
    perform forebay._audit('annotate', v_known, null, p_reason, p_actor, jsonb_build_object('note', v_note));
    if v_known <> '{}' then
        perform forebay._ask_wakeup(false);
    end if;
    return query select * from forebay._effects(v_ids, v_known, 'annotated');
end;
$function$;

comment on function forebay.annotate is 'Write a note on tasks, whatever they are doing; task_detail shows it among what people did.';
