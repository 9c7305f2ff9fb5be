create or replace function forebay._parse_records(p_rows jsonb, p_source text, p_now timestamptz)
    returns forebay.compute_usage[]
    language plpgsql
    stable
    security invoker
    set search_path = pg_catalog, pg_temp
as $function$
-- The records that an array of documents holds; nothing is written.
--
-- Errors  22023  p_rows is no array or too long, or a record is bad, or there twice, which is named by its ordinal
declare
    v_records  forebay.compute_usage[] := array[]::forebay.compute_usage[];
    v_record   forebay.compute_usage;
    v_document jsonb;
    v_ordinal  integer := 0;
    v_message  text;
begin
    if p_rows is null or jsonb_typeof(p_rows) <> 'array' then
        raise exception 'p_rows must be a JSON array' using errcode = '22023';
    end if;
    perform forebay._require_between(
        jsonb_array_length(p_rows), 'the number of records', 0, (forebay._limits()).max_batch_size
    );
    for v_document in select elements.value from jsonb_array_elements(p_rows) as elements loop
        v_ordinal := v_ordinal + 1;
        if jsonb_typeof(v_document) <> 'object' then
            raise exception 'a record must be an object, not %', jsonb_typeof(v_document) using errcode = '22023';
        end if;
        v_record := (
            p_source, forebay._json_name(v_document, 'record_id', 500), forebay._json_integer(v_document, 'attempt_id'),
            forebay._json_number(v_document, 'usd'), forebay._json_number(v_document, 'seconds'),
            forebay._json_time(v_document, 'started_at'), forebay._json_time(v_document, 'ended_at'),
            coalesce(forebay._json_boolean(v_document, 'is_final'), true) and v_document ->> 'usd' is not null, p_now,
            forebay._json_name(v_document, 'product', 200)
        )::forebay.compute_usage;
        if v_record.record_id is null or not v_document ? 'usd' then
            raise exception '"record_id" and "usd" are required' using errcode = '22023';
        end if;
        if (coalesce(v_record.usd, -1) < 0 and p_source = 'local') or v_record.seconds < 0 then
            raise exception '"seconds", and the "usd" of an estimate, must not be negative or unknown' using errcode = '22023';
        end if;
        if v_record.usd not between -1000000000 and 1000000000 then
            raise exception '"usd" must be from -10^9 to 10^9' using errcode = '22023';
        end if;
        if v_record.product is not null and v_record.attempt_id is not null then
            raise exception 'what has a "product" is shared, and has no "attempt_id"' using errcode = '22023';
        end if;
        v_records := v_records || v_record;
    end loop;
    select max(r.place)::integer into v_ordinal
    from unnest(v_records) with ordinality as r (
        source, record_id, attempt_id, usd, seconds, started_at, ended_at, is_final, recorded_at, product, place
    )
    group by r.record_id
    having count(*) > 1
    limit 1;
    if found then
        raise exception 'it is there twice' using errcode = '22023';
    end if;
    return v_records;
exception when data_exception then
    get stacked diagnostics v_message = message_text;
    raise exception '%', case when v_ordinal > 0 then format('record %s: %s', v_ordinal, v_message) else v_message end
        using errcode = '22023', hint = 'Nothing was recorded.';
end;
$function$;

comment on function forebay._parse_records is 'The records that an array of documents holds; nothing is written.';
