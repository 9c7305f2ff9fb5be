create or replace function forebay._buckets(p_response interval, p_run interval, p_confidence numeric)
    returns smallint[]
    language sql
    immutable
    security invoker
as $function$
-- The buckets of histograms that a completed task is in, by how long it took, how long of that its attempts ran, and its confidence.
--
-- A bucket is 1000 times the measure (0 response, 1 queue, 2 run, 3 confidence) plus its place: of times, how many steps of 5 %
-- they lie above a millisecond; of confidences, hundredths.
select array_remove(
    array[
        forebay._time_place(p_response),
        1000 + forebay._time_place(greatest(p_response - p_run, interval '0')),
        2000 + forebay._time_place(least(p_run, p_response)),
        3000 + floor(p_confidence * 100)::integer - (p_confidence = 1)::integer
    ],
    null
)::smallint[];
$function$;

comment on function forebay._buckets is 'The buckets of histograms that a completed task is in, by how long it took, how long of that its attempts ran, and its confidence.';
