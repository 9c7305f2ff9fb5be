create or replace function forebay._how_to_open(p_installation forebay.installation)
    returns text
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- Say in a sentence how a copy is opened that refuses something.
begin
    return case
        when strpos(p_installation.home, ' ') > 0 and strpos(forebay._here(), ' ') = 0
            then 'This session does not say on which branch of Lakebase it is, and so may be on a copy: connect with'
                ' a lakebase: URL, or set forebay.branch.'
        when forebay._branch_state(p_installation) in ('unfinished', 'closed')
            then format(
                'Open it with forebay branch open %s, asked of what it was made of, or with forebay.open_installation().',
                quote_ident(p_installation.branch_name)
            )
        else 'An operator opens it with forebay.open_installation(p_reason => ''...'').'
    end;
end;
$function$;

comment on function forebay._how_to_open is 'Say in a sentence how a copy is opened that refuses something.';
