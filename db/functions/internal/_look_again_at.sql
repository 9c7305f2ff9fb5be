create or replace function forebay._look_again_at(
    p_free_at timestamptz,
    p_period  interval,
    p_calls   bigint,
    p_now     timestamptz
)
    returns timestamptz
    language sql
    stable
    security invoker
as $function$
-- When a call that waits for a limit asks again: when there is room for it (null: nobody knows), or sooner.
--
-- Room may come sooner than foreseen, from calls that end, or that used less than they were granted. So a call looks again
-- after half a second (a twelfth of a shorter period, a twentieth of a second where calls are counted), and a twentieth
-- more for each of the p_calls before it: those in front look often, and however many wait, they look less than 100 times a
-- second.
select least(
    greatest(coalesce(p_free_at, 'infinity'), p_now + interval '5 milliseconds'),
    p_now + p_calls * interval '50 milliseconds' + case
        when p_period = '0' then interval '50 milliseconds'
        else least(interval '500 milliseconds', p_period / 12)
    end
);
$function$;

comment on function forebay._look_again_at is 'When a call that waits for a limit asks again: when there is room for it (null: nobody knows), or sooner.';
