-- Every body is sound and shadows no variable: each function can be created again under the strictest checks.
begin;
select plan(1);
set local role forebay_owner;
set local check_function_bodies = on;
select given($$ set local plpgsql.extra_errors = 'shadowed_variables' $$);
select lives_ok(
    $test$
    do $do$
    declare
        v_oid oid;
    begin
        for v_oid in select p.oid from pg_proc as p where p.pronamespace = 'forebay'::regnamespace loop
            execute pg_get_functiondef(v_oid);
        end loop;
    end;
    $do$
    $test$,
    'all functions load'
);
select finish();
rollback;
