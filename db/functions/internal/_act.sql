create or replace function forebay._act(
    p_act      text,
    p_task_ids bigint[],
    p_priority integer,
    p_note     text,
    p_reason   text,
    p_actor    text
)
    returns setof forebay.effect_count
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Do one act to tasks, and count its effects; null for p_priority is what the act itself takes then.
--
-- Errors  22023  p_act is no act, or what the act asks for is missing
declare
    v_effects text[];
begin
    case p_act
        when 'cancel' then
            v_effects := array(select e.effect from forebay.cancel(p_task_ids, p_reason, p_actor) as e);
        when 'retry' then
            v_effects := array(select e.effect from forebay.retry(p_task_ids, p_priority, p_reason, p_actor) as e);
        when 'reprocess' then
            v_effects := array(
                select e.effect from forebay.reprocess(p_task_ids, null, coalesce(p_priority, 10), p_reason, p_actor) as e
            );
        when 'reprioritize' then
            v_effects := array(select e.effect from forebay.reprioritize(p_task_ids, p_priority, p_reason, p_actor) as e);
        when 'annotate' then
            v_effects := array(select e.effect from forebay.annotate(p_task_ids, p_note, p_reason, p_actor) as e);
        else
            raise exception 'no act is called "%"', left(p_act, 200)
                using errcode = '22023', hint = 'Acts: cancel, retry, reprocess, reprioritize, annotate.';
    end case;
    return query
    select done.effect, count(*) from unnest(v_effects) as done (effect) group by done.effect order by done.effect;
end;
$function$;

comment on function forebay._act is
'Do one act to tasks, and count its effects; null for p_priority is what the act itself takes then.';
