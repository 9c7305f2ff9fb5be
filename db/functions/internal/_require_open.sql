create or replace function forebay._require_open()
    returns void
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Refuse to go on in a branch or a restored copy that no operator has opened.
--
-- Errors  QF401  this database is a copy and may not dispatch
declare
    v_installation forebay.installation;
begin
    if forebay._may_dispatch() then
        return;
    end if;
    v_installation := forebay._limits();
    raise exception 'this database is a branch or a restored copy and does not dispatch'
        using errcode = 'QF401',
            detail = 'Its tasks belong to the database it was copied from.',
            hint = case
                when strpos(v_installation.home, ' ') > 0 and strpos(forebay._here(), ' ') = 0
                    then 'This session does not say on which branch of Lakebase it is, and so may be on a copy: connect with'
                        ' a lakebase: URL, or set forebay.branch.'
                when forebay._branch_state(v_installation) in ('unfinished', 'closed')
                    then format(
                        'Open it with forebay branch open %s, asked of what it was made of, or with forebay.open_installation().',
                        quote_ident(v_installation.branch_name)
                    )
                else 'An operator opens it with forebay.open_installation(p_reason => ''...'').'
            end;
end;
$function$;

comment on function forebay._require_open is 'Refuse to go on in a branch or a restored copy that no operator has opened.';
