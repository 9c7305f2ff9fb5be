create or replace function forebay.begin_branch(p_name text, p_actor text default null)
    returns forebay.branch_state
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Make a copy a branch of its own: with a new installation_id, every agent paused, and no claim on what runs elsewhere.
--
-- Call it in a copy of what prepare_branch was called in, then mask_data until it is complete, and finish_branch. It refuses in
-- the original, whatever a session says of where it is, once branch_copied was called there. Tasks that were running are back
-- in line; their runs go on where they came from, and nothing here will ever stop them. Dispatchers and announcements are
-- forgotten. What is enqueued here gets ids that are far from those of the original, so that traces and bills never mix.
--
-- Returns    one row
-- Writes     forebay.installation, forebay.agents, forebay.tasks, forebay.task_attempts, forebay.audit_log, and the
--            sequences of ids; deletes from forebay.dispatchers, launcher_faults, announcements, announcement_marks
-- Locks      the installation, the agents, by name, then the tasks that run, by id, and their attempts
-- Errors     22023  p_name is null, empty or longer than 200 characters
--            42501  the login may not act as forebay_owner
--            QF405  this database is no copy of that name of what prepare_branch was called in, or somebody has begun it
-- Called by  forebay_upkeep
declare
    v_installation forebay.installation;
    v_state        text;
begin
    perform forebay._require_owner();
    if p_name is null or char_length(p_name) not between 1 and 200 then
        raise exception 'p_name must have 1 to 200 characters' using errcode = '22023';
    end if;
    select i.* into v_installation from forebay.installation as i for no key update;
    v_state := forebay._branch_state(v_installation);
    if v_state = 'original' then
        raise exception 'this database is no copy' using errcode = 'QF405',
            hint = 'Call forebay.prepare_branch in the original, make the copy, and call this in the copy.';
    end if;
    if v_state <> 'copy' then
        raise exception 'this database is the branch "%" already', v_installation.branch_name using errcode = 'QF405';
    end if;
    if cardinality(array_positions(v_installation.prepared, p_name)) < 2 then
        raise exception 'this database is not known to be the copy "%", and may be the original', p_name using errcode = 'QF405',
            hint = 'Call forebay.prepare_branch in the original before the copy is made, and branch_copied there afterwards.';
    end if;

    update forebay.installation as i
    set installation_id = gen_random_uuid(), system_identifier = forebay._cluster(), home = forebay._here(),
        prepared = '{}', is_branch = true, opened_in = null, opened_home = null, branch_name = p_name,
        branch_of = v_installation.installation_id, branched_at = forebay._now(),
        mask_step = null, mask_after = null, masked_at = null;
    perform forebay._pause(null, 'infinity', 'this is a branch', p_actor);
    perform forebay._disown_attempts();
    perform forebay._move_ids();
    delete from forebay.dispatchers;
    delete from forebay.launcher_faults;
    delete from forebay.announcements;
    delete from forebay.announcement_marks;
    return forebay.branch_state();
end;
$function$;

comment on function forebay.begin_branch is
'Make a copy a branch of its own: with a new installation_id, every agent paused, and no claim on what runs elsewhere.';
