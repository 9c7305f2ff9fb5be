-- What a bill tells: corrections, what has no price, costs that no run has to itself, and rows of what work cost.
--
-- requires  0007_act_and_announce
-- locks     compute_usage, compute_sources, attempt_usage and installation, while the first one's rows are checked
-- rewrites  no table
-- breaks    drivers before 0.4.0: cost_by has other columns
-- revert    revert/0011_read_bills.sql

-- squawk-ignore-file ban-drop-type, ban-drop-function, ban-drop-constraint, constraint-missing-not-valid
-- squawk-ignore-file ban-drop-not-null
-- What is dropped comes back in the same transaction. The rows of compute_usage are few: they are checked at once.

alter table forebay.compute_usage
drop constraint compute_usage_not_negative,
alter column usd drop not null,
add column product text,
add constraint compute_usage_seconds_not_negative check (seconds >= 0),
add constraint compute_usage_estimate_not_negative check (usd >= 0 or source <> 'local'),
add constraint compute_usage_unpriced_not_final check (usd is not null or not is_final),
add constraint compute_usage_product_length check (char_length(product) between 1 and 200),
add constraint compute_usage_shared_or_attributed check (product is null or attempt_id is null);
comment on column forebay.compute_usage.product is
'What was paid for, as the source calls it, where no run has the cost to itself; null: it was for a run.';
comment on column forebay.compute_usage.usd is
'Below zero where a bill took back more than it has told of; null: what was used has no known price.';

alter table forebay.compute_sources
alter column as_of drop not null,
add column read_at timestamptz,
add column settings text,
add constraint compute_sources_settings_length check (char_length(settings) between 1 and 1000);
comment on column forebay.compute_sources.as_of is 'Null: it was never read to its end.';
comment on column forebay.compute_sources.read_at is 'When the reading of a bill began that recorded last.';
comment on column forebay.compute_sources.settings is 'How the bill was read when it was read to its end: with others, all of it is read again.';

create index compute_usage_provisional on forebay.compute_usage (source, attempt_id)
where not is_final and attempt_id is not null;
create index compute_usage_shared on forebay.compute_usage (started_at) where product is not null;

alter table forebay.attempt_usage
add column is_list_price boolean not null default false;
comment on column forebay.attempt_usage.is_list_price is
'usd is list_usd: nothing else tells what the call cost.';

alter table forebay.installation
add column billing_latency interval not null default '24 hours',
add constraint installation_billing_latency_positive check (billing_latency >= interval '0');
comment on column forebay.installation.billing_latency is
'How long after something ran its bill may still lack rows: until then what it cost is provisional.';

drop function if exists forebay.cost_by(
    text, timestamptz, timestamptz, text[], text[], text[], integer
);
drop function if exists forebay._cost_in_rollups(text, timestamptz, timestamptz, text[], text[], text[]);
drop function if exists forebay._cost_of_models(timestamptz, timestamptz, text[], text[], text[]);
drop type forebay.cost_line;

create type forebay.cost_line as (
    key text, tasks bigint, running_attempts bigint, ended_attempts bigint, measured_attempts bigint,
    priced_attempts bigint, costed_attempts bigint, provisional_attempts bigint, input_tokens bigint,
    output_tokens bigint, cached_tokens bigint, llm_usd numeric, compute_usd numeric
);
comment on type forebay.cost_line is
'cost_by: one row a task, agent, customer, batch, model, day or try; key is null for tasks without one. Tokens and amounts are null where nothing is known of any attempt; compute_usd is null by model. Of costed_attempts, provisional ones may still change.';

create type forebay.bill_reading as (
    day date, began_at timestamptz, settled_until timestamptz, shared_days date[], batch_size integer
);
comment on type forebay.bill_reading is
'begin_bill: rows that came on that day (UTC) or later have to be read, null for none, and what is shared of shared_days; what ran until settled_until is final. batch_size records may be recorded at once.';

create type forebay.run_to_bill as (
    attempt_id bigint, run_id text, started_at timestamptz, finished_at timestamptz, is_settled boolean
);
comment on type forebay.run_to_bill is
'runs_to_bill: an attempt whose run a bill may tell of; is_settled: it ended so long ago that all rows should be there.';

create type forebay.cost_summary as (
    tasks bigint, running_attempts bigint, ended_attempts bigint, measured_attempts bigint, priced_attempts bigint,
    costed_attempts bigint, provisional_attempts bigint, input_tokens bigint, output_tokens bigint,
    cached_tokens bigint, pages numeric, llm_usd numeric, compute_usd numeric, provisional_usd numeric,
    is_final boolean, first_tries bigint, first_llm_usd numeric, first_compute_usd numeric,
    retries bigint, retry_llm_usd numeric, retry_compute_usd numeric,
    llm_tasks bigint, llm_median numeric, llm_p95 numeric,
    compute_tasks bigint, compute_median numeric, compute_p95 numeric,
    whole_tasks bigint, whole_median numeric, whole_p95 numeric, as_of timestamptz
);
comment on type forebay.cost_summary is
'cost_summary: one row. Sums are of what is known, and null where nothing is; medians and 95th percentiles are those of a task, over the llm, compute and whole tasks that are over and whose cost is known.';

create type forebay.cost_basis as (attempt_id bigint, model text, source text, basis text, usd numeric);
comment on type forebay.cost_basis is
'Where a figure of an attempt is from: its source, and how that knows it. usd is null where it is unknown.';

create type forebay.cost_source as (
    key text, part text, source text, basis text, attempts bigint, usd numeric
);
comment on type forebay.cost_source is
'cost_sources: how much of a part (llm, trace, compute) came from which source, and on what basis. usd is null where it is unknown.';

create type forebay.customer_cost as (
    customer text, agent text, tasks bigint, running_attempts bigint, ended_attempts bigint, retries bigint,
    measured_attempts bigint, priced_attempts bigint, costed_attempts bigint, provisional_attempts bigint,
    input_tokens bigint, output_tokens bigint, cached_tokens bigint, pages numeric,
    llm_usd numeric, retry_llm_usd numeric, compute_usd numeric, retry_compute_usd numeric,
    provisional_usd numeric, retry_provisional_usd numeric,
    llm_sources text[], compute_sources text[], compute_as_of timestamptz
);
comment on type forebay.customer_cost is
'customer_costs: one row a customer and agent. The six amounts hold nothing twice: calls and machines (final, provisional) of first tries and of retries; each is null where nothing was told. Sources are those that the amounts are from.';

create type forebay.shared_cost as (
    source text, product text, usd numeric, is_final boolean, from_at timestamptz, to_at timestamptz,
    as_of timestamptz
);
comment on type forebay.shared_cost is
'shared_costs: what no run has to itself, by product as the bill calls it; usd is null where something of it has no known price, as_of is when that was read.';

do $verify$
declare
    v_name text;
begin
    foreach v_name in array array[
        'cost_line', 'bill_reading', 'run_to_bill', 'cost_summary', 'cost_basis', 'cost_source', 'customer_cost', 'shared_cost'
    ] loop
        if pg_catalog.to_regtype('forebay.' || v_name) is null then
            raise exception 'expected a row type forebay.%', v_name;
        end if;
    end loop;
    if exists (
        select from pg_catalog.pg_constraint as c
        where c.conrelid = 'forebay.compute_usage'::pg_catalog.regclass and c.conname = 'compute_usage_not_negative'
    ) then
        raise exception 'expected compute_usage to take corrections below zero';
    end if;
    if (select i.billing_latency from forebay.installation as i) is null then
        raise exception 'expected the installation to know the latency of bills';
    end if;
end;
$verify$;
