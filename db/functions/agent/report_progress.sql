create or replace function forebay.report_progress(p_attempt_id bigint, p_done integer, p_total integer)
    returns void
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Note how far an open attempt has come: p_done of p_total (null: not known). Shown, never notified, no lease renewal.
--
-- Writes     forebay.task_attempts.progress_done, progress_total
-- Errors     22023  a number is null, negative, or p_done is above p_total
--            QF304  there is no such attempt
-- Called by  forebay_agent
begin
    if p_done is null or p_done < 0 or p_total < p_done then
        raise exception 'progress must be 0 or more of a total that is not below it, not % of %', p_done, p_total
            using errcode = '22023';
    end if;
    update forebay.task_attempts as a
    set progress_done = p_done, progress_total = p_total
    where a.attempt_id = p_attempt_id and a.finished_at is null;
    if not found then
        perform forebay._get_attempt(p_attempt_id);
    end if;
end;
$function$;

comment on function forebay.report_progress is 'Note how far an open attempt has come: p_done of p_total (null: not known). Shown, never notified, no lease renewal.';
