create or replace function forebay._move_ids()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Have new batches, tasks and attempts of a branch numbered from a random multiple of 10^12 on: outside of it ids name one thing.
--
-- Up to 8 * 10^15, which JavaScript still holds exactly; a branch of a branch may come to lie below it.
--
-- Writes  the sequences of the ids
declare
    v_first bigint := (1 + floor(random() * 8000))::bigint * 1000000000000;
begin
    perform setval(pg_get_serial_sequence('forebay.batches', 'batch_id'), v_first);
    perform setval(pg_get_serial_sequence('forebay.tasks', 'task_id'), v_first);
    perform setval(pg_get_serial_sequence('forebay.task_attempts', 'attempt_id'), v_first);
end;
$function$;

comment on function forebay._move_ids is
'Have new batches, tasks and attempts of a branch numbered from a random multiple of 10^12 on: outside of it ids name one thing.';
