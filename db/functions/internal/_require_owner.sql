create or replace function forebay._require_owner()
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse what destroys data, or begins a branch, to a login that could not do it by hand: one that may not act as forebay_owner.
--
-- Errors  42501  the login is no member of forebay_owner
begin
    if not pg_has_role(session_user, 'forebay_owner', 'member') then
        raise exception 'role "%" may not act as forebay_owner', session_user
            using errcode = '42501', hint = 'Log in as who installed the schema, or have them grant forebay_owner.';
    end if;
end;
$function$;

comment on function forebay._require_owner is
'Refuse what destroys data, or begins a branch, to a login that could not do it by hand: one that may not act as forebay_owner.';
