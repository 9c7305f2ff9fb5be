create or replace function forebay.prepare_branch(p_name text, p_actor text default null)
    returns uuid
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Note, before a branch is made of this database, where this one is at home: the copy then knows from its first moment that it is one.
--
-- A copy of that name is awaited until branch_copied is called here: begin_branch takes no other. So call that as soon as the
-- copy is made.
--
-- Returns    the installation_id, which the copy has too until begin_branch
-- Writes     forebay.installation, forebay.audit_log
-- Errors     22023  p_name is null, empty or longer than 200 characters
--            42501  the login may not act as forebay_owner
-- Called by  forebay_upkeep
declare
    v_id      uuid;
    v_is_copy boolean;
    v_is_open boolean;
begin
    perform forebay._require_owner();
    if p_name is null or char_length(p_name) not between 1 and 200 then
        raise exception 'p_name must have 1 to 200 characters' using errcode = '22023';
    end if;
    select forebay._is_copy(i), forebay._may_dispatch() into v_is_copy, v_is_open from forebay.installation as i for no key update;
    update forebay.installation as i
    set home = case when v_is_copy then i.home else forebay._here() end,
        opened_in = case when v_is_copy then i.opened_in end,
        opened_home = case when v_is_copy and v_is_open then forebay._here() when v_is_copy then i.opened_home end,
        prepared = array_remove(i.prepared, p_name) || array[p_name, p_name];
    perform forebay._audit('create_branch', null, null, null, p_actor, jsonb_build_object('name', p_name));
    select i.installation_id into v_id from forebay.installation as i;
    return v_id;
end;
$function$;

comment on function forebay.prepare_branch is
'Note, before a branch is made of this database, where this one is at home: the copy then knows from its first moment that it is one.';
