create or replace function forebay._buckets(p_task forebay.tasks)
    returns smallint[]
    language sql
    immutable
    security invoker
as $function$
-- The buckets of histograms that a task is in: none unless it is completed.
--
-- A bucket is 1000 times the measure (0 response, 1 queue, 2 run, 3 confidence) plus its place: of times, how many steps of 5 %
-- they lie above a millisecond; of confidences, hundredths.
select case when p_task.status = 'completed' then array_remove(
    array[
        forebay._time_place(p_task.finished_at - p_task.created_at),
        1000 + forebay._time_place(greatest(p_task.finished_at - p_task.created_at - p_task.run_time, interval '0')),
        2000 + forebay._time_place(least(p_task.run_time, p_task.finished_at - p_task.created_at)),
        3000 + floor(p_task.confidence * 100)::integer - (p_task.confidence = 1)::integer
    ],
    null
)::smallint[] else '{}' end;
$function$;

comment on function forebay._buckets is 'The buckets of histograms that a task is in: none unless it is completed.';
