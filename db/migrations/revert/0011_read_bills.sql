-- Drop what 0011 added. The functions that use it must be gone, and those of the release before applied again after it.
--
-- Fails where compute_usage holds amounts below zero: corrections of a bill, which no older release can hold.

drop type
forebay.cost_line, forebay.bill_reading, forebay.run_to_bill, forebay.cost_summary, forebay.cost_basis,
forebay.cost_source, forebay.customer_cost, forebay.shared_cost;
drop index forebay.compute_usage_provisional, forebay.compute_usage_shared;
delete from forebay.compute_usage
where product is not null or usd is null;
alter table forebay.compute_usage
alter column usd set not null,
drop column product,
drop constraint compute_usage_seconds_not_negative,
drop constraint compute_usage_estimate_not_negative,
add constraint compute_usage_not_negative check (usd >= 0 and seconds >= 0);
delete from forebay.compute_sources
where as_of is null;
alter table forebay.compute_sources
alter column as_of set not null,
drop column read_at,
drop column settings;
alter table forebay.attempt_usage
drop column is_list_price;
alter table forebay.installation
drop column billing_latency;
create type forebay.cost_line as (
    key text, tasks bigint, ended_attempts bigint, measured_attempts bigint, priced_attempts bigint,
    costed_attempts bigint, input_tokens bigint, output_tokens bigint, cached_tokens bigint, llm_usd numeric,
    compute_usd numeric
);
