create or replace function forebay.mask_data(p_limit integer default 5000, p_force boolean default false)
    returns forebay.mask_state
    language plpgsql
    volatile
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Blank for good the next rows of what tasks are about and whom they are for, in a branch; call it until it is complete.
--
-- Payloads, results, texts of errors, notes and reasons, idempotency keys, and names of documents, batches and people go;
-- a customer, a person and a worker each get one made-up name everywhere. What stays: docs/operating.md. Each call is a
-- transaction of at most p_limit rows a table, and goes on where the last one ended, whoever made it. After the last one the
-- next call begins anew, and blanks what was written since. p_force: also in what is no branch, and in one that is open, where
-- claims that are held keep what they need. Afterwards vacuum (full, analyze): until then the old rows lie in the tables'
-- files, and the commonest values in the planner's statistics. A closed branch is unfinished until finish_branch says that it was done.
--
-- Returns    one row: the part that it got to, null when everything is masked
-- Writes     every table with such data
-- Locks      the installation, then the rows of each part, by id
-- Errors     22023  p_limit is not from 1 to 100,000, or p_force is null
--            42501  p_force, and the login may not act as forebay_owner
--            QF405  this database is no branch, or an open one, and p_force is false
-- Called by  forebay_upkeep
declare
    v_parts        constant text[] := array['batches', 'tasks', 'attempts', 'uploads', 'audit', 'spending', 'rest'];
    v_installation forebay.installation;
    v_state        text;
    v_step         integer;
    v_after        text;
begin
    perform forebay._require_between(p_limit, 'p_limit', 1, 100000);
    if p_force is null then
        raise exception 'p_force must not be null' using errcode = '22023';
    end if;
    select i.* into v_installation from forebay.installation as i for no key update;
    v_state := forebay._branch_state(v_installation);
    if p_force then
        perform forebay._require_owner();
    elsif v_state not in ('unfinished', 'closed') then
        raise exception 'this database is %', case v_state
            when 'open' then 'a branch that somebody has opened' else 'no branch' end
            using errcode = 'QF405', hint = 'Masking cannot be undone. forebay.mask_data(p_force => true) does it all the same.';
    end if;

    v_step := coalesce(nullif(v_installation.mask_step, 0), 1);
    v_after := v_installation.mask_after;
    while v_step <= cardinality(v_parts) loop
        v_after := case v_parts[v_step]
            when 'batches' then forebay._mask_batches(v_after, p_limit)
            when 'tasks' then forebay._mask_tasks(v_after, p_limit)
            when 'attempts' then forebay._mask_attempts(v_after, p_limit)
            when 'uploads' then forebay._mask_uploads(v_after, p_limit)
            when 'audit' then forebay._mask_audit(v_after, p_limit)
            when 'spending' then forebay._mask_spending(v_after, p_limit)
            when 'rest' then forebay._mask_rest()
        end;
        exit when v_after is not null;
        v_step := v_step + 1;
    end loop;

    if v_step <= cardinality(v_parts) then
        update forebay.installation as i set mask_step = v_step, mask_after = v_after;
        return (v_parts[v_step], false)::forebay.mask_state;
    end if;
    update forebay.installation as i
    set mask_step = case when v_state in ('unfinished', 'closed') then 0 end, mask_after = null, masked_at = forebay._now();
    if not forebay._may_dispatch() then
        perform forebay._forget_statistics();
    end if;
    return (null, true)::forebay.mask_state;
end;
$function$;

comment on function forebay.mask_data is 'Blank for good the next rows of what tasks are about and whom they are for, in a branch; call it until it is complete.';
