"""What an agent is set to, in words."""

from __future__ import annotations

from forebay.rows import AgentState
from forebay_apps.web import formats

NO_LIMIT = "no limit"


def definition(state: AgentState) -> list[tuple[str, str]]:
    """Return the settings of an agent, by name."""
    return [
        ("launcher", state.launcher),
        ("job", str(state.job_id) if state.job_id is not None else "none"),
        ("entry point", state.entry_point or "none"),
        ("tasks at once", _limit(state.max_concurrent_tasks)),
        ("tokens a minute", _limit(state.max_tpm)),
        ("claims a minute", _limit(state.max_rpm)),
        ("size of its token bucket", f"{state.tpm_burst} of a minute's tokens"),
        ("most waiting", _limit(state.max_waiting)),
        ("spend a day (UTC)", _cap(state)),
        ("quotas", ", ".join(state.quota_names) or "none"),
        ("lease", formats.duration(state.lease)),
        ("timeout of an attempt", formats.duration(state.timeout)),
        ("attempts", formats.number(state.max_attempts)),
        ("times handed back for free", formats.number(state.max_releases)),
        (
            "wait before a retry",
            f"{formats.duration(state.backoff_base)} to {formats.duration(state.backoff_max)}",
        ),
        ("after a lost lease", state.on_lost_lease),
        ("late results", state.late_results),
        ("estimate without one", f"{formats.number(state.default_estimated_tokens)} tokens"),
        ("tasks gain urgency with age", formats.duration(state.aging) if state.aging else "no"),
        ("nobody passes a task that waited", formats.duration(state.reserve_after)),
        ("turns by customer", "yes" if state.is_fair_by_customer else "no"),
        ("deferrals by a provider", formats.number(state.max_deferrals)),
        ("deferred for at most", formats.duration(state.max_deferral_time)),
        ("kept after the end", formats.duration(state.retention)),
        ("learned: share of the estimate used", _learned(state)),
    ]


def _limit(value: int | None) -> str:
    return NO_LIMIT if value is None else formats.number(value)


def _cap(state: AgentState) -> str:
    return NO_LIMIT if state.max_usd_per_day is None else formats.usd(state.max_usd_per_day)


def _learned(state: AgentState) -> str:
    if not state.learned_samples:
        return "nothing yet"
    return f"{state.learned_ratio:.2f}, of {formats.number(state.learned_samples)} attempts"
