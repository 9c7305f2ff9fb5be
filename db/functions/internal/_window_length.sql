create or replace function forebay._window_length(p_period interval)
    returns interval
    language sql
    immutable
    security invoker
as $function$
-- How long after its beginning a slot of a window of this period counts.
--
-- The provider counts a call from its arrival, a little after the grant. So a slot counts until its end has left the
-- period, and a second more (at most four slots): the ledger never gives room back before the provider.
select p_period + p_period / 120 + least(p_period / 30, interval '1 second');
$function$;

comment on function forebay._window_length is 'How long after its beginning a slot of a window of this period counts.';
