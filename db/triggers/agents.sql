-- The trigger of forebay.agents: a new limit or the end of a pause can let something start.

create or replace function forebay._notify_of_agents()
    returns trigger
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Wake dispatchers and dashboards when an agent changed.
begin
    perform 1 from new_rows;
    if found then
        perform forebay._ask_wakeup(true);
    end if;
    return null;
end;
$function$;

comment on function forebay._notify_of_agents is 'Wake dispatchers and dashboards when an agent changed.';

create or replace trigger agents_notify_insert
after insert on forebay.agents
referencing new table as new_rows
for each statement
execute function forebay._notify_of_agents();

create or replace trigger agents_notify_update
after update on forebay.agents
referencing new table as new_rows
for each statement
execute function forebay._notify_of_agents();
