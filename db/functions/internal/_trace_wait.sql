create or replace function forebay._trace_wait(p_looks integer, p_is_expected boolean)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- How long to wait for traces after p_looks in vain: 1 minute, then four times as long each; null: look no more.
--
-- The seventh look is the last, 23 hours after the first. Where the attempt told what it used, and of no trace, the third is.
select case
    when p_looks < case when p_is_expected then 7 else 3 end then interval '1 minute' * power(4, greatest(p_looks, 1) - 1)
end;
$function$;

comment on function forebay._trace_wait is
'How long to wait for traces after p_looks in vain: 1 minute, then four times as long each; null: look no more.';
