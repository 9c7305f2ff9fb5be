create or replace function forebay._ahead_words(p_ahead bigint)
    returns text
    language sql
    immutable
    security invoker
as $function$
-- How many tasks are before one, as the sentence that ends why it waits, with a space before it.
select case
    when p_ahead = 1 then ' 1 task is before it.'
    when p_ahead > 1 then format(' %s tasks are before it.', forebay._number_words(p_ahead))
    else ''
end;
$function$;

comment on function forebay._ahead_words is
'How many tasks are before one, as the sentence that ends why it waits, with a space before it.';
