create or replace function forebay._gauge_words()
    returns table (metric text, help text)
    language sql
    immutable
    security invoker
as $function$
-- The metrics of monitoring, and what each says.
values
('forebay_tasks', 'Tasks that have not ended, by agent and state: waiting (due), delayed or processing.'),
('forebay_oldest_waiting_seconds', 'How long the agent''s oldest task that is due has waited; 0 when none waits.'),
('forebay_starts_last_minute', 'Tasks of the agent that started within the last minute.'),
('forebay_tokens_last_minute', 'Tokens that calls of the agent used within the last minute, as reported.'),
('forebay_refusals_last_hour', 'Refusals of a provider within the last hour that still count.'),
('forebay_lost_leases_last_hour', 'Attempts of the agent that lost their lease within the last hour.'),
('forebay_token_bucket_level', 'Tokens left in the agent''s bucket; below 0 where tasks used more than was expected.'),
('forebay_token_bucket_size', 'Tokens that the agent''s bucket holds when it is full.'),
('forebay_token_limit_per_minute', 'Tokens a minute that the agent may use now, as refusals lower it.'),
('forebay_request_limit_per_minute', 'Tasks a minute that the agent may start now, as refusals lower it.'),
('forebay_concurrency_limit', 'Tasks that the agent may process at once now, as refusals lower it.'),
('forebay_paused', 'Whether the agent starts nothing: 1 while it is paused, by a person or a provider.'),
('forebay_cost_today_usd', 'What calls of the agent cost today (UTC), as far as known.'),
('forebay_spend_cap_usd', 'What the agent may spend today (UTC), with what was allowed beyond its cap.'),
('forebay_quota_used', 'What counts against a limit of a quota now.'),
('forebay_quota_limit', 'What of a limit of a quota holds now, as refusals lower it.'),
('forebay_dispatchers', 'Workers and daemons that claimed within the last minute.'),
('forebay_listeners', 'Sessions that listen for changes.'),
('forebay_claim_age_seconds', 'How long ago anybody claimed last.'),
('forebay_sweep_age_seconds', 'How long ago anybody swept last.'),
('forebay_expired_leases', 'Leases that ran out and that nobody has taken back yet.'),
('forebay_oldest_transaction_seconds', 'How long the oldest transaction that is to be seen is open.'),
('forebay_notify_queue_ratio', 'How full the server''s queue of notifications is, from 0 to 1.'),
('forebay_may_dispatch', 'Whether this database may hand out tasks: 0 for a copy that nobody has opened.'),
('forebay_schema_info', 'Always 1; the label version is the release of the schema.');
$function$;

comment on function forebay._gauge_words is 'The metrics of monitoring, and what each says.';
