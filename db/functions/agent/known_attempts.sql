create or replace function forebay.known_attempts(p_attempt_ids bigint[], p_launch_keys text[])
    returns setof text
    language plpgsql
    stable
    security definer
    set search_path = pg_catalog, pg_temp
as $function$
-- Tell which attempts are of this database, and not of another one that has the same ids: by their launch keys.
--
-- An attempt's launch key is the SHA-256 of its launch token, in hex; the one at each place is of the attempt at that place. What
-- attempts keep beside documents, where those of other databases may keep things too, is named by both.
--
-- Returns    the launch keys of those that are, in no set order
-- Errors     22023  p_attempt_ids or p_launch_keys is null, or they are not equally many
-- Called by  forebay_agent
begin
    if p_attempt_ids is null or p_launch_keys is null or cardinality(p_attempt_ids) <> cardinality(p_launch_keys) then
        raise exception 'p_attempt_ids and p_launch_keys must be equally many, and not null' using errcode = '22023';
    end if;
    return query
    select told.launch_key
    from unnest(p_attempt_ids, p_launch_keys) as told (attempt_id, launch_key)
    inner join forebay.task_attempts as a on a.attempt_id = told.attempt_id
    where told.launch_key = encode(sha256(convert_to(a.launch_token, 'UTF8')), 'hex');
end;
$function$;

comment on function forebay.known_attempts is
'Tell which attempts are of this database, and not of another one that has the same ids: by their launch keys.';
