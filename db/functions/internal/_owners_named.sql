create or replace function forebay._owners_named(p_actor text)
    returns text[]
    language sql
    stable
    security invoker
as $function$
-- The spellings under which p_actor owns batches.
--
-- It looks at each owner once, by batches_owner: one probe an owner, however many batches they have.
with recursive owners (owner) as (
    (
        select b.owner from forebay.batches as b
        where b.owner is not null
        order by b.owner
        limit 1
    )
    union all
    select (
        select b.owner from forebay.batches as b
        where b.owner > o.owner
        order by b.owner
        limit 1
    )
    from owners as o
    where o.owner is not null
)

select coalesce(array_agg(o.owner), '{}') from owners as o
where forebay._is_person(o.owner, p_actor);
$function$;

comment on function forebay._owners_named is 'The spellings under which p_actor owns batches.';
