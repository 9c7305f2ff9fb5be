-- Quotas shared by agents, learned estimates, refusals, customers, prices and spending.
--
-- requires  0003_create_row_types
-- locks     agents, tasks, task_attempts and attempt_usage, for as long as it takes to add columns and two indexes
-- rewrites  no table; it fills the new columns of calls with a cost, of attempts in flight, and of today's
-- breaks    drivers before 0.2.0: agent_status and explain_task have more columns, register_agent more parameters
-- revert    revert/0004_hold_quotas.sql

-- squawk-ignore-file ban-drop-function, ban-drop-type
-- The functions that are dropped come back with their new signatures in the same transaction.

drop function if exists forebay.agent_status(text[]);
drop function if exists forebay.explain_task(bigint);
drop function if exists forebay.register_agent(
    text, text, bigint, text, integer, bigint, integer, numeric, interval, interval, integer, integer, interval,
    interval, text, text, bigint, interval, text, text
);
drop function if exists forebay._explain_waiting(forebay.tasks);
drop function if exists forebay._explain_running(forebay.tasks);
drop function if exists forebay._admit(
    text, forebay.agents, integer, integer, numeric, numeric, bigint[], timestamptz
);
drop function if exists forebay._agent_state(forebay.agents, timestamptz);
drop function if exists forebay._claim(text, text, integer, integer);
drop function if exists forebay._expired_priority(text, timestamptz);
drop function if exists forebay._fits(bigint, numeric, numeric, numeric, numeric);
drop function if exists forebay._head(text, timestamptz);
drop function if exists forebay._head_fits(forebay.agents, forebay.tasks, timestamptz);
drop function if exists forebay._parse_task(text, jsonb, forebay.batches, integer, timestamptz);
drop function if exists forebay._record_usage(bigint, jsonb);
drop function if exists forebay._refilled_at(forebay.agents, bigint, timestamptz);
drop function if exists forebay._open_line(text, boolean);
drop function if exists forebay._settle(forebay.task_attempts, boolean);
drop function if exists forebay._usage_tokens(bigint);
drop function if exists forebay._waiting_words(forebay.task_explanation, forebay.agents, forebay.tasks);
drop function if exists forebay.task_detail(bigint);
drop type forebay.agent_state;
drop type forebay.task_detail;
drop type forebay.task_explanation;

alter table forebay.agents
add column max_waiting         integer,
add column aging               interval,
add column reserve_after       interval not null default '60 seconds',
add column is_fair_by_customer boolean  not null default false,
add column max_usd_per_day     numeric,
add column max_deferrals       integer  not null default 100,
add column max_deferral_time   interval not null default '1 day',
add column quotas              text[]   not null default '{}';
alter table forebay.agents
add constraint agents_line_limits check (
    max_waiting >= 0 and aging > interval '0' and reserve_after >= interval '0'
) not valid,
add constraint agents_spend_not_negative check (max_usd_per_day >= 0) not valid,
add constraint agents_deferrals_bounded check (max_deferrals >= 0 and max_deferral_time > interval '0') not valid;
comment on column forebay.agents.max_waiting is 'How many tasks may wait; enqueue refuses more. Null: any number.';
comment on column forebay.agents.aging is
'Each such time that a task has waited counts as one more of priority. Null: strict priority.';
comment on column forebay.agents.reserve_after is
'A task that does not fit and has waited so long is passed by nobody any more.';
comment on column forebay.agents.quotas is 'The quotas it draws on beside its own limits, by name.';

alter table forebay.agent_budgets add column turn numeric not null default 0;
comment on column forebay.agent_budgets.turn is
'Fair share: where the turns stand, in tokens; no customer''s count lies behind it.';

alter table forebay.tasks
add column deferral_count integer not null default 0,
add column deferred_since timestamptz,
add column is_shared      boolean not null default false;
comment on column forebay.tasks.deferral_count is
'How often a provider refused it since deferred_since; no attempt was spent by it.';
comment on column forebay.tasks.is_shared is
'Its agent serves its customers in turns: the task is found by its customer.';
create index tasks_shared on forebay.tasks (agent, customer, priority desc, created_at, task_id)
where status = 'enqueued' and is_ready and is_shared;

alter table forebay.task_attempts
add column customer               text,
add column expected_input_tokens  bigint   not null default 0,
add column expected_output_tokens bigint   not null default 0,
add column expected_calls         numeric  not null default 1,
add column expected_usd           numeric  not null default 0,
add column used_input_tokens      bigint   not null default 0,
add column used_output_tokens     bigint   not null default 0,
add column used_calls             integer  not null default 0,
add column is_usage_known         boolean  not null default false,
add column cost_usd               numeric,
add column is_cost_known          boolean  not null default false,
add column asks_first             boolean  not null default false,
add column call_asked_at          timestamptz,
add column call_input_tokens      bigint,
add column call_output_tokens     bigint,
add column call_quota             text,
add column call_holds             text[]   not null default '{}',
add column call_free_at           timestamptz,
add column call_wait_until        timestamptz,
add column held_up                interval not null default '0';
alter table forebay.task_attempts set (fillfactor = 50);
comment on column forebay.task_attempts.expected_input_tokens is
'What the claim expected it to use: the estimate times what the agent has learned; output and calls likewise.';
comment on column forebay.task_attempts.expected_usd is
'What the claim expected it to cost; 0 when it has ended for nothing, by a release or a refusal.';
comment on column forebay.task_attempts.used_input_tokens is
'What its calls have used as far as reported, from the more complete source; output and calls likewise.';
comment on column forebay.task_attempts.is_usage_known is 'Every reported call says its input and its output tokens.';
comment on column forebay.task_attempts.cost_usd is
'What its reported calls cost as far as known; null when nothing is.';
comment on column forebay.task_attempts.is_cost_known is 'The cost of every reported call is known.';
comment on column forebay.task_attempts.asks_first is
'It has called may_call: its calls wait for their turn by themselves.';
comment on column forebay.task_attempts.call_asked_at is
'Since when a call waits for the quota; call_input_tokens and call_output_tokens say for how much.';
comment on column forebay.task_attempts.call_quota is 'The quota that the waiting call waits for.';
comment on column forebay.task_attempts.call_holds is
'The quotas that had no room for the waiting call since it waits: it holds its room there.';
comment on column forebay.task_attempts.call_free_at is
'When call_quota will have room for the waiting call; null: when other calls end.';
comment on column forebay.task_attempts.call_wait_until is
'When the waiting call was told to ask again; one that does not ask in time has lost its place.';
comment on column forebay.task_attempts.held_up is 'How long its calls have waited for a quota in all.';
create index task_attempts_started on forebay.task_attempts (agent, started_at);
create index task_attempts_measured on forebay.task_attempts (agent, finished_at)
where status = 'succeeded' and is_usage_known;
create index task_attempts_asking on forebay.task_attempts (agent, call_asked_at)
where call_asked_at is not null and finished_at is null;
create index task_attempts_stopping on forebay.task_attempts (agent, finished_at)
where is_stop_pending and status in ('cancelled', 'superseded');
create index task_attempts_open_of_customer on forebay.task_attempts (customer)
where finished_at is null and customer is not null;
create index task_attempts_untold on forebay.task_attempts (agent, finished_at)
where finished_at is not null and expected_usd > 0 and (not is_cost_known or reported_at is null);
create index task_attempts_untold_of_customer on forebay.task_attempts (customer, finished_at)
where finished_at is not null and expected_usd > 0 and (not is_cost_known or reported_at is null)
and customer is not null;

alter table forebay.attempt_usage add column pages numeric;
alter table forebay.attempt_usage add column usd numeric;
alter table forebay.attempt_usage add column counted_usd numeric;
alter table forebay.attempt_usage
add constraint attempt_usage_more_not_negative check (pages >= 0 and usd >= 0) not valid;
comment on column forebay.attempt_usage.pages is 'Pages that were paid by the page.';
comment on column forebay.attempt_usage.usd is
'What it cost: the reported cost_usd, else by the price of its time; null when neither is known.';
comment on column forebay.attempt_usage.counted_usd is
'What of usd is in the attempt''s cost_usd and in the spending; null for calls of the source that does not count.';

create table forebay.quotas (
    quota      text        not null,
    headroom   numeric     not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    constraint quotas_pkey primary key (quota),
    constraint quotas_name_length check (char_length(quota) between 1 and 200),
    constraint quotas_headroom_range check (headroom >= 0 and headroom < 1)
) with (fillfactor = 50);
comment on table forebay.quotas is
'One row a provider''s quota, shared by the agents that name it. Its row is the quota''s lock.';
comment on column forebay.quotas.headroom is 'The share of each window that is left unused.';

create table forebay.quota_limits (
    quota       text        not null,
    unit        text        not null,
    period      interval    not null,
    kind        text        not null,
    amount      bigint      not null,
    burst       numeric,
    level       numeric,
    refilled_at timestamptz not null,
    since       timestamptz not null,
    constraint quota_limits_pkey primary key (quota, unit, period),
    constraint quota_limits_quota_fkey foreign key (quota) references forebay.quotas (quota) on delete cascade,
    constraint quota_limits_unit_known check (
        unit in ('requests', 'tokens', 'input_tokens', 'output_tokens', 'concurrent_calls')
    ),
    constraint quota_limits_kind_known check (kind in ('bucket', 'window', 'count')),
    constraint quota_limits_kind_of_unit check ((kind = 'count') = (unit = 'concurrent_calls')),
    constraint quota_limits_level_of_buckets check (
        (kind = 'bucket') = (level is not null) and (kind = 'bucket') = (burst is not null)
    ),
    constraint quota_limits_period_positive check (
        period >= interval '0' and (kind = 'count') = (period = interval '0')
    ),
    constraint quota_limits_not_negative check (amount >= 0)
) with (fillfactor = 50);
comment on table forebay.quota_limits is
'One row a limit of a quota. A bucket holds its level here, a window its calls in quota_slots; a count has neither.';
comment on column forebay.quota_limits.burst is 'How much a bucket holds when it is full.';
comment on column forebay.quota_limits.since is 'Since when it is a limit: calls of before do not count against it.';

create table forebay.quota_slots (
    quota   text        not null,
    unit    text        not null,
    period  interval    not null,
    slot_at timestamptz not null,
    used    numeric     not null,
    constraint quota_slots_pkey primary key (quota, unit, period, slot_at),
    constraint quota_slots_limit_fkey foreign key (quota, unit, period)
    references forebay.quota_limits (quota, unit, period) on delete cascade
) with (fillfactor = 50);
comment on table forebay.quota_slots is
'What the calls of a window used, in parts of its period; written under the quota''s lock.';

create table forebay.quota_settlements (
    settlement_id bigint generated always as identity,
    quota         text        not null,
    called_at     timestamptz not null,
    requests      integer     not null,
    input_tokens  bigint      not null,
    output_tokens bigint      not null,
    constraint quota_settlements_pkey primary key (settlement_id)
);
create index quota_settlements_quota on forebay.quota_settlements (quota);
comment on table forebay.quota_settlements is
'What calls used beyond what they were granted (negative: less), waiting for the next holder of the quota''s lock to fold it in.';

create table forebay.attempt_calls (
    attempt_id    bigint      not null,
    call_no       integer     not null,
    call_id       text,
    quotas        text[]      not null,
    granted_at    timestamptz not null,
    input_tokens  bigint      not null,
    output_tokens bigint      not null,
    is_over       boolean     not null default false,
    constraint attempt_calls_pkey primary key (attempt_id, call_no),
    constraint attempt_calls_attempt_fkey foreign key (attempt_id)
    references forebay.task_attempts (attempt_id) on delete cascade
);
comment on table forebay.attempt_calls is 'Calls that may_call granted, until their tokens are reported.';
comment on column forebay.attempt_calls.quotas is 'The quotas that were charged, which its usage settles.';
comment on column forebay.attempt_calls.is_over is
'It was reported, but not all of its tokens: those that are not known keep their grant, the others have none left.';

create table forebay.refusals (
    refusal_id   bigint generated always as identity,
    agent        text        not null,
    quota        text,
    in_flight    integer     not null,
    share        numeric     not null,
    lowered_at   timestamptz not null,
    paused_until timestamptz not null,
    constraint refusals_pkey primary key (refusal_id)
);
create index refusals_agent on forebay.refusals (agent, paused_until) where quota is null;
create index refusals_quota on forebay.refusals (quota, paused_until) where quota is not null;
comment on table forebay.refusals is
'A provider''s refusals, each written without any lock: pauses and lowered limits are worked out from them. A sweep removes old ones.';
comment on column forebay.refusals.share is 'What share of the limits it left, from lowered_at on.';
comment on column forebay.refusals.in_flight is
'How many tasks of the agent were processing: where an agent without a limit ramps up from.';

create table forebay.error_policies (
    kind           text     not null,
    is_final       boolean  not null,
    spends_attempt boolean  not null,
    pauses         text     not null,
    default_wait   interval,
    note           text     not null,
    constraint error_policies_pkey primary key (kind),
    constraint error_policies_pauses_known check (pauses in ('never', 'when told', 'always'))
);
comment on table forebay.error_policies is 'What follows from the kind of an error: the one table of it.';
comment on column forebay.error_policies.pauses is
'Whether the agent (and its quota) pauses: when told means only when the error came with a time to wait.';
comment on column forebay.error_policies.default_wait is
'How long the task waits when the error names no time; null: the agent''s backoff.';

create table forebay.customers (
    customer        text        not null,
    priority_boost  integer     not null,
    max_usd_per_day numeric,
    created_at      timestamptz not null,
    updated_at      timestamptz not null,
    constraint customers_pkey primary key (customer),
    constraint customers_name_length check (char_length(customer) between 1 and 200),
    constraint customers_boost_range check (priority_boost between -10000 and 10000),
    constraint customers_spend_not_negative check (max_usd_per_day >= 0)
) with (fillfactor = 50);
create index customers_capped on forebay.customers (customer) where max_usd_per_day is not null;
comment on table forebay.customers is
'Customers with terms of their own; a customer without a row has none. Its row is the lock of its spending.';

create table forebay.customer_turns (
    agent    text    not null,
    customer text    not null,
    served   numeric not null,
    constraint customer_turns_pkey primary key (agent, customer)
) with (fillfactor = 50);
comment on table forebay.customer_turns is
'How much of an agent that shares fairly each customer has had, in tokens; '''' stands for tasks without a customer.';

create table forebay.prices (
    model             text        not null,
    valid_from        timestamptz not null,
    valid_until       timestamptz not null default 'infinity',
    usd_per_m_input   numeric,
    usd_per_m_output  numeric,
    usd_per_m_cached  numeric,
    usd_per_page      numeric,
    usd_per_call      numeric,
    registered_at     timestamptz not null,
    constraint prices_pkey primary key (model, valid_from),
    constraint prices_valid_range check (valid_from < valid_until),
    constraint prices_not_negative check (
        usd_per_m_input >= 0 and usd_per_m_output >= 0 and usd_per_m_cached >= 0
        and usd_per_page >= 0 and usd_per_call >= 0
    )
);
comment on table forebay.prices is
'What a model costs, in US dollars: tokens by the million. Where ranges overlap, the later valid_from holds.';

create table forebay.spend_entries (
    entry_id   bigint generated always as identity,
    agent      text        not null,
    customer   text        not null,
    spent_at   timestamptz not null,
    usd        numeric     not null,
    constraint spend_entries_pkey primary key (entry_id)
);
create index spend_entries_agent on forebay.spend_entries (agent);
create index spend_entries_customer on forebay.spend_entries (customer) where customer <> '';
comment on table forebay.spend_entries is 'Changes of attempts'' costs, waiting to be added up in daily_spend.';

create table forebay.daily_spend (
    day      date    not null,
    agent    text    not null,
    customer text    not null,
    usd      numeric not null,
    constraint daily_spend_pkey primary key (day, agent, customer)
) with (fillfactor = 50);
create index daily_spend_customer on forebay.daily_spend (customer, day) where customer <> '';
comment on table forebay.daily_spend is
'What was spent on a day (UTC) for an agent and a customer ('''' for none), without what spend_entries still holds.';

create table forebay.spend_lifts (
    day       date        not null,
    agent     text        not null,
    customer  text        not null,
    extra_usd numeric     not null,
    lifted_at timestamptz not null,
    constraint spend_lifts_pkey primary key (day, agent, customer),
    constraint spend_lifts_of_one check ((agent = '') <> (customer = '')),
    constraint spend_lifts_not_negative check (extra_usd >= 0)
);
comment on table forebay.spend_lifts is
'What an operator allowed on a day (UTC) beyond a cap: of an agent, or of a customer, the other is
''''.';

insert into forebay.error_policies (kind, is_final, spends_attempt, pauses, default_wait, note) values
(
    'rate_limited', false, false, 'always', '60 seconds',
    'the provider refuses calls: nobody calls until the time it names'
),
(
    'overloaded', false, false, 'when told', null,
    'the provider is overloaded: the task waits, others only when it names a time'
),
('infrastructure', false, true, 'never', null, 'a machine or network failed'),
('timeout', false, true, 'never', null, 'it took longer than it may'),
('agent_bug', false, true, 'never', null, 'the agent''s code failed; unknown kinds count as this'),
('context_too_long', true, true, 'never', null, 'the same input would be too long again'),
('content_filtered', true, true, 'never', null, 'the same input would be refused again'),
('bad_input', true, true, 'never', null, 'the same input would be bad again');

create type forebay.agent_state as (
    agent text, launcher text, state text, waiting bigint, delayed bigint, in_use bigint, max_concurrent_tasks integer,
    max_tpm bigint, token_level numeric, token_burst numeric, in_flight_tokens bigint, max_rpm integer,
    request_level numeric, request_burst numeric, paused_until timestamptz, pause_reason text,
    oldest_waiting_at timestamptz, job_id bigint, entry_point text, lease interval, timeout interval,
    max_attempts integer,
    effective_share numeric, effective_concurrent_tasks integer, effective_tpm bigint, effective_rpm integer,
    projected_tpm bigint, starts_last_minute bigint, tokens_last_minute bigint,
    learned_samples integer, learned_ratio numeric, learned_input_ratio numeric, learned_output_ratio numeric,
    typical_tokens bigint, typical_calls numeric, tokens_per_second numeric,
    usd_today numeric, usd_projected numeric, max_usd_per_day numeric,
    max_waiting integer, aging interval, reserve_after interval, is_fair_by_customer boolean, quotas jsonb,
    tpm_burst numeric, max_releases integer, backoff_base interval, backoff_max interval, on_lost_lease text,
    late_results text, default_estimated_tokens bigint, retention interval, max_deferrals integer,
    max_deferral_time interval, quota_names text[], hindrance text
);
comment on type forebay.agent_state is
'agent_status: state is one word, levels are as of now; effective limits are the configured ones times effective_share; quotas is an array of quota_state objects; hindrance says what the first task that does not fit lacks.';

create type forebay.quota_state as (
    quota text, unit text, period interval, kind text, amount bigint, effective_amount numeric,
    used numeric, room numeric, projected numeric, open_calls bigint, waiting_calls bigint,
    paused_until timestamptz, agents text[], task_room numeric
);
comment on type forebay.quota_state is
'quota_status: one row a limit. used is what counts against it now, room what a call could take now, projected what tasks in flight will still use within its period, task_room what a new task could take.';

create type forebay.task_explanation as (
    task_id bigint, status text, reason text, explanation text, waiting_until timestamptz, ahead bigint,
    subject text, unit text, needs numeric, has numeric, amount numeric, period interval
);
comment on type forebay.task_explanation is
'explain_task: reason is the rule in one word, explanation a sentence; waiting_until is the earliest start, null when not known; ahead counts tasks before it; subject is the agent, quota or customer whose rule it is, which has so much left of amount, of which the task needs so much.';

create type forebay.customer_state as (
    customer text, priority_boost integer, max_usd_per_day numeric, extra_usd numeric, usd_today numeric,
    usd_projected numeric, waiting bigint, in_use bigint
);
comment on type forebay.customer_state is
'customer_status: one row a customer that has terms of its own; extra_usd is what was allowed today beyond the cap.';

create type forebay.price as (
    model text, valid_from timestamptz, valid_until timestamptz, usd_per_m_input numeric, usd_per_m_output numeric,
    usd_per_m_cached numeric, usd_per_page numeric, usd_per_call numeric
);
comment on type forebay.price is
'list_prices: one row a model and range of time, in US dollars; tokens by the million.';

create type forebay.spend_cap as (customer text, amount numeric, has numeric);
comment on type forebay.spend_cap is
'Inside: a cap of today and what is left of it; customer null means the agent''s own.';

create type forebay.task_detail as (
    task_id bigint, agent text, status text, priority integer, batch_id bigint, customer text, owner text,
    idempotency_key text, estimated_tokens bigint, max_attempts integer, available_at timestamptz, locked_by text,
    attempt_id bigint, attempt_no integer, attempt_count integer, release_count integer, deferral_count integer,
    deferred_since timestamptz, confidence numeric, error jsonb, reprocess_of bigint, reprocessed_by bigint[],
    created_at timestamptz, finished_at timestamptz, attempts jsonb, usage jsonb, audit jsonb
);
comment on type forebay.task_detail is
'task_detail: the task without payload and result; attempts, usage and audit are arrays of objects, oldest first.';

create type forebay.call_permit as (
    decision text, wait_until timestamptz, waits interval, quota text, unit text, needs numeric, has numeric,
    reason text
);
comment on type forebay.call_permit is
'may_call: decision is go, wait (and ask again after waits, which is at wait_until) or stop (the attempt holds its task no more).';

create type forebay.call_verdict as (permit forebay.call_permit, free_at timestamptz);
comment on type forebay.call_verdict is
'Inside may_call: its answer, and when the limit that hinders the call will have room; null when not known.';

create type forebay.learned as (
    samples integer, input_permille bigint, output_permille bigint, typical_input bigint, typical_output bigint,
    calls numeric, tokens_per_second numeric, asks_first boolean, usd_per_m_tokens numeric
);
comment on type forebay.learned is 'Inside: what an agent''s recent finished attempts say of the next ones.';

create type forebay.expected_use as (calls numeric, input_tokens bigint, output_tokens bigint, usd numeric);
comment on type forebay.expected_use is 'Inside: what one attempt is expected to use.';

create type forebay.throttle as (paused_until timestamptz, reason text, share numeric, in_flight integer);
comment on type forebay.throttle is
'Inside: what a provider''s refusals mean for an agent now; share is of its limits, in_flight where it was refused.';

create type forebay.quota_room as (
    quota text, unit text, period interval, amount double precision, takes_any boolean,
    seconds double precision, room double precision
);
comment on type forebay.quota_room is
'Inside: how much of a limit is left to new tasks within so many seconds from now.';

create type forebay.lined_up as (
    task_id bigint, priority integer, customer text, waited interval, estimated_tokens bigint,
    uses forebay.expected_use
);
comment on type forebay.lined_up is 'Inside: a task in line; priority has what it gained by waiting.';

create type forebay.fit as (
    places integer[], reason text, task_id bigint, subject text, unit text, needs numeric, has numeric, amount numeric,
    period interval
);
comment on type forebay.fit is
'Inside: which places of a line may start now, and what stopped the first that may not: needs more of unit than subject has.';

create type forebay.opened_line as (agent forebay.agents, moved integer, room integer);
comment on type forebay.opened_line is
'Inside dequeue: an agent that is locked, how many tasks joined its line just now, and how many may start.';

-- What was reported before this release counts as it would have since: costs of calls, what attempts in flight
-- use and may still use, and what was spent today (UTC).
update forebay.attempt_usage
set usd = cost_usd
where cost_usd is not null;

update forebay.task_attempts as a
set customer = t.customer,
    expected_input_tokens = pg_catalog.ceil(coalesce(a.charged_tokens, a.estimated_tokens) * 0.8),
    expected_output_tokens = coalesce(a.charged_tokens, a.estimated_tokens)
        - pg_catalog.ceil(coalesce(a.charged_tokens, a.estimated_tokens) * 0.8)
from forebay.tasks as t
where t.task_id = a.task_id and (a.finished_at is null or a.is_stop_pending);

with recent as (
    select
        a.attempt_id,
        a.agent,
        a.started_at,
        t.customer
    from forebay.task_attempts as a
    inner join forebay.tasks as t on a.task_id = t.task_id
    where a.finished_at is null or a.is_stop_pending
        or a.finished_at >= pg_catalog.date_trunc('day', pg_catalog.now(), 'UTC')
),

counting as (
    select distinct on (u.attempt_id)
        u.attempt_id,
        u.source
    from forebay.attempt_usage as u
    inner join recent as r on u.attempt_id = r.attempt_id
    group by u.attempt_id, u.source
    order by
        u.attempt_id asc,
        pg_catalog.count(*) filter (where u.input_tokens is not null and u.output_tokens is not null) desc,
        pg_catalog.count(u.usd) desc, u.source
),

calls as (
    update forebay.attempt_usage as u
    set counted_usd = u.usd
    from counting as c
    inner join recent as r on c.attempt_id = r.attempt_id
    where u.attempt_id = c.attempt_id and u.source = c.source
    returning
        u.*, r.agent, coalesce(r.customer, '') as customer,
        (
            greatest(r.started_at, least(u.recorded_at, coalesce(u.started_at, u.recorded_at))) at time zone 'UTC'
        )::date as day
),

measured as (
    update forebay.task_attempts as a
    set used_input_tokens = used.input_tokens, used_output_tokens = used.output_tokens, used_calls = used.calls,
        is_usage_known = used.is_known, cost_usd = used.usd, is_cost_known = used.is_cost_known
    from (
        select
            c.attempt_id,
            coalesce(pg_catalog.sum(c.input_tokens), 0)::bigint as input_tokens,
            coalesce(pg_catalog.sum(c.output_tokens), 0)::bigint as output_tokens,
            (pg_catalog.count(*) filter (where c.input_tokens + c.output_tokens is distinct from 0))::integer as calls,
            pg_catalog.bool_and(c.input_tokens is not null and c.output_tokens is not null) as is_known,
            pg_catalog.sum(c.usd) as usd,
            pg_catalog.bool_and(c.usd is not null) as is_cost_known
        from calls as c
        group by c.attempt_id
    ) as used
    where a.attempt_id = used.attempt_id
)

insert into forebay.daily_spend (day, agent, customer, usd)
select
    c.day,
    c.agent,
    c.customer,
    pg_catalog.sum(c.usd) as usd
from calls as c
where c.usd is not null
group by c.day, c.agent, c.customer;

do $verify$
begin
    if (select pg_catalog.count(*) from pg_catalog.pg_class as c
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'r' and c.relname <> 'schema_history') <> 25 then
        raise exception 'expected 25 tables in schema forebay';
    end if;
    if (select pg_catalog.count(*) from pg_catalog.pg_class as c
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'c') <> 33 then
        raise exception 'expected 33 row types in schema forebay';
    end if;
    if (select pg_catalog.count(*) from forebay.error_policies) <> 8 then
        raise exception 'expected a policy for each of the 8 kinds of errors';
    end if;
end;
$verify$;
