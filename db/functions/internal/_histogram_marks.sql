create or replace function forebay._histogram_marks(
    p_buckets smallint[],
    p_counts  bigint[]
)
    returns table (measure integer, median integer, p95 integer)
    language sql
    immutable
    security invoker
as $function$
-- The places of a histogram that the median and the 95th percentile of each measure lie in, as percentile_disc has them.
--
-- So the median of an even count is the lower of the two in the middle. A bucket may be there more than once: it is added up.
--
-- Returns  one row a measure with a task in it
select r.measure, min(r.place) filter (where r.upto >= r.tasks * 0.5), min(r.place) filter (where r.upto >= r.tasks * 0.95)
from (
    select
        h.bucket / 1000 as measure, h.bucket % 1000 as place,
        sum(h.tasks) over (partition by h.bucket / 1000 order by h.bucket) as upto,
        sum(h.tasks) over (partition by h.bucket / 1000) as tasks
    from (
        select b.bucket, sum(b.tasks) as tasks
        from unnest(p_buckets, p_counts) as b (bucket, tasks)
        group by b.bucket
        having sum(b.tasks) > 0
    ) as h
) as r
group by r.measure;
$function$;

comment on function forebay._histogram_marks is
'The places of a histogram that the median and the 95th percentile of each measure lie in, as percentile_disc has them.';
