create or replace function forebay._forget_statistics()
    returns void
    language plpgsql
    volatile
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Forget what the planner knows of the values in tables that are empty now: analyze leaves it there, with the values.
--
-- That a column is given the type that it has drops its statistics; there is no other way before Postgres 18. Columns called
-- status stay: triggers look at them, and they hold words of Forebay's own.
--
-- Locks  the empty tables of which there are statistics, against everybody
declare
    v_column   record;
    v_is_empty boolean;
begin
    for v_column in
        select distinct s.tablename, s.attname, t.typname
        from pg_stats as s
        inner join pg_attribute as a on a.attrelid = to_regclass(format('forebay.%I', s.tablename)) and a.attname = s.attname
        inner join pg_type as t on t.oid = a.atttypid
        inner join pg_class as c on c.oid = a.attrelid and c.relkind = 'r'
        where s.schemaname = 'forebay' and s.attname <> 'status' and a.atttypid in ('text'::regtype, 'text[]'::regtype, 'jsonb'::regtype)
    loop
        execute format('select not exists (select from forebay.%I)', v_column.tablename) into v_is_empty;
        if v_is_empty then
            execute format(
                'alter table forebay.%I alter column %I type %I', v_column.tablename, v_column.attname, v_column.typname
            );
        end if;
    end loop;
end;
$function$;

comment on function forebay._forget_statistics is
'Forget what the planner knows of the values in tables that are empty now: analyze leaves it there, with the values.';
