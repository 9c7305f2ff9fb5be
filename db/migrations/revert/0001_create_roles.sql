-- Drop schema forebay with everything in it, and the roles unless another database still needs them.
--
-- Does nothing where nothing is installed. Run it in a transaction.

do $revert$
declare
    v_role text;
begin
    if exists (select from pg_catalog.pg_namespace as n where n.nspname = 'forebay') then
        set local role forebay_owner;
        drop owned by forebay_owner cascade;  -- the default privileges too
        reset role;
    end if;
    for v_role in
        select r.rolname
        from pg_catalog.pg_roles as r
        where
            r.rolname in (
                'forebay_submitter', 'forebay_worker', 'forebay_agent', 'forebay_operator', 'forebay_viewer',
                'forebay_reader', 'forebay_upkeep', 'forebay_owner'
            )
    loop
        begin
            execute pg_catalog.format('drop role %I', v_role);
        exception
            when dependent_objects_still_exist or insufficient_privilege then
                raise notice 'role % stays: %', v_role, sqlerrm;
        end;
    end loop;
end;
$revert$;
