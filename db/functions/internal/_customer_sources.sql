create or replace function forebay._customer_sources(p_from timestamptz, p_to timestamptz, p_customers text[])
    returns table (customer text, agent text, llm_sources text[], compute_sources text[], compute_as_of timestamptz)
    language sql
    stable
    security invoker
as $function$
-- Where the amounts of the range's tasks are from, by customer and agent, and as of when machines' costs were read.
--
-- An attempt of which nothing is known together is in no amount, whatever single calls of it cost. What is known without a
-- source, as the 0 of an attempt that made no call or never ran, is from none.
select
    t.customer, t.agent,
    coalesce(array_agg(distinct coalesce(b.source || ' ' || b.basis, 'none')) filter (where b.part = 'llm'), '{}'),
    coalesce(array_agg(distinct coalesce(b.source, 'none')) filter (where b.part = 'compute'), '{}'),
    max(s.as_of) filter (where b.part = 'compute')
from (
    select 'llm' as part, llm.* from forebay._llm_bases(p_from, p_to, null, null, p_customers) as llm
    union all
    select 'compute', machines.* from forebay._compute_bases(p_from, p_to, null, null, p_customers) as machines
) as b
inner join forebay.task_attempts as a on a.attempt_id = b.attempt_id
inner join forebay.tasks as t on t.task_id = a.task_id
left join forebay.compute_sources as s on s.source = b.source
where b.usd is not null and case b.part when 'llm' then forebay._known_llm(a) else forebay._known_compute(a) end is not null
group by t.customer, t.agent;
$function$;

comment on function forebay._customer_sources is
'Where the amounts of the range''s tasks are from, by customer and agent, and as of when machines'' costs were read.';
