-- held_roles: which of our roles logins may act as, for every caller.
begin;
select plan(4);
create temporary view here as select format('{%I, forebay_agent, nobody}', session_user)::text[] as logins;
grant select on here to forebay_viewer;
set local role forebay_viewer;
select is(
    forebay.held_roles(logins) -> session_user::text,
    '["agent", "operator", "owner", "reader", "submitter", "upkeep", "viewer", "worker"]',
    'those that it may set, though it inherits nothing of them'
) from here;
select is(
    forebay.held_roles(logins) - session_user::text, '{"forebay_agent": []}', 'itself is not among them; nobody is left out'
) from here;
select is(forebay.held_roles(null), '{}', 'of no logins none');
select only_callable_by(
    '{submitter, worker, agent, operator, viewer, reader, upkeep}', $$ select forebay.held_roles('{forebay_agent}') $$
);
select finish();
rollback;
