create or replace function forebay._take_money(p_caps forebay.spend_cap[], p_task forebay.lined_up)
    returns forebay.spend_cap[]
    language sql
    immutable
    security invoker
as $function$
-- What a task that starts now leaves of the caps: of the agent's, and of its customer's.
select array(
    select
        (
            c.customer, c.amount,
            c.has - case when c.customer is null or c.customer = p_task.customer then (p_task.uses).usd else 0 end
        )::forebay.spend_cap
    from unnest(p_caps) as c
);
$function$;

comment on function forebay._take_money is 'What a task that starts now leaves of the caps: of the agent''s, and of its customer''s.';
