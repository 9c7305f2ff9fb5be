"""What can be set of an agent: each parameter of register_agent in words, and as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, get_args

from forebay.rows import AgentState, Launcher
from forebay_apps.web import formats
from forebay_apps.web.errors import Refusal

Kind = Literal["text", "whole", "amount", "usd", "time", "names", "yes"]
UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}
TIME = re.compile(r"\d+(\.\d+)?( ?[dhms])?( \d+(\.\d+)? ?[dhms])*")
MOST_SECONDS = 10 * 365 * 86400


@dataclass(frozen=True, slots=True)
class Setting:
    """A parameter of register_agent; one with a word for `none` may be left empty, and means that.

    `column` is where agent_status tells it, if that has another name.
    """

    name: str
    word: str
    kind: Kind = "whole"
    none: str = ""
    hint: str = ""
    choices: tuple[str, ...] = ()
    column: str = ""

    def of(self, state: AgentState) -> Any:
        """Return what an agent is set to."""
        return getattr(state, self.column or self.name)


NO_LIMIT = "no limit"
GROUPS: dict[str, tuple[Setting, ...]] = {
    "Where its tasks run": (
        Setting("launcher", "Launcher", "text", choices=get_args(Launcher)),
        Setting("job_id", "Job", none="none", hint="for launcher lakeflow"),
        Setting("entry_point", "Entry point", "text", none="none", hint="for launcher local"),
    ),
    "How much it may do": (
        Setting("max_concurrent_tasks", "Tasks at once", none=NO_LIMIT),
        Setting("max_tpm", "Tokens a minute", none=NO_LIMIT, hint="MAX_TPM"),
        Setting("max_rpm", "Claims a minute", none=NO_LIMIT),
        Setting("tpm_burst", "Burst", "amount", hint="share of a minute's limit at once"),
        Setting("max_usd_per_day", "US dollars a day (UTC)", "usd", none=NO_LIMIT),
        Setting("quotas", "Quotas", "names", none="none", hint="with commas", column="quota_names"),
        Setting("max_waiting", "Most tasks that wait", none=NO_LIMIT),
    ),
    "Attempts": (
        Setting("max_attempts", "Attempts a task has"),
        Setting("timeout", "Timeout of an attempt", "time"),
        Setting("lease", "Lease", "time", hint="an attempt not renewed for this long is lost"),
        Setting("on_lost_lease", "After a lost lease", "text", choices=("retry", "fail")),
        Setting("late_results", "Late results", "text", choices=("accept", "reject")),
        Setting("max_releases", "Hand-backs that spend no attempt"),
        Setting("backoff_base", "Wait before a retry, at first", "time"),
        Setting("backoff_max", "Wait before a retry, at most", "time"),
    ),
    "Place in line": (
        Setting("default_estimated_tokens", "Tokens of a task without an estimate"),
        Setting("aging", "Priority grows by 1 every", "time", none="never"),
        Setting("reserve_after", "May be passed for", "time", hint="by tasks that fit better"),
        Setting("fair_by_customer", "Customers take turns", "yes", column="is_fair_by_customer"),
    ),
    "When a provider refuses": (
        Setting("max_deferrals", "Deferrals a task has"),
        Setting("max_deferral_time", "Deferred for at most", "time"),
    ),
    "Keeping": (Setting("retention", "Kept after the end", "time"),),
}
SETTINGS = tuple(setting for group in GROUPS.values() for setting in group)


def read(setting: Setting, said: str) -> Any:
    """Return what a form says of a setting; raise Refusal for what it cannot be."""
    if setting.kind == "yes":
        return bool(said)
    if setting.kind == "names":
        return [name.strip() for name in said.split(",") if name.strip()]
    if not said:
        if setting.none:
            return None
        raise Refusal(400, f"{setting.word} is missing.")
    try:
        return READERS[setting.kind](said)
    except (ValueError, OverflowError, InvalidOperation):
        raise Refusal(400, f"{setting.word} cannot be {said[:40]!r}.") from None


def written(value: Any) -> str:
    """Return a value as `read` takes it."""
    if value is None or value is False:
        return ""
    if isinstance(value, timedelta):
        return _time_words(value)
    if isinstance(value, list):
        return ", ".join(value)
    return "yes" if value is True else str(value)


def described(setting: Setting, value: Any) -> str:
    """Return a value as people read it."""
    if value is None or value == []:
        return setting.none
    if setting.kind == "whole" and setting.name != "job_id":
        return formats.number(value)
    if setting.kind == "usd":
        return formats.usd(value)
    if setting.kind == "yes":
        return "yes" if value else "no"
    return written(value)


def _time(said: str) -> timedelta:
    """Read `1 h 30 m`; a number without a unit is seconds."""
    if not TIME.fullmatch(said):
        raise ValueError(said)
    parts = re.findall(r"([\d.]+) ?([dhms]?)", said)
    seconds = sum(Decimal(number) * UNITS[unit or "s"] for number, unit in parts)
    if seconds > MOST_SECONDS:
        raise ValueError(said)
    return timedelta(seconds=float(seconds))


def _time_words(value: timedelta) -> str:
    """Return all of a time: `1 h 30 m`."""
    left = Decimal(value // timedelta(microseconds=1)) / 1_000_000
    parts = []
    for unit, seconds in UNITS.items():
        count = left if unit == "s" else left // seconds
        if count:
            parts.append(f"{count.normalize():f} {unit}")
        left -= count * seconds
    return " ".join(parts) or "0 s"


def _amount(said: str) -> Decimal:
    amount = Decimal(said)
    if not amount.is_finite():
        raise ValueError(said)
    return amount


READERS: dict[Kind, Callable[[str], Any]] = {
    "text": str,
    "whole": int,
    "amount": _amount,
    "usd": _amount,
    "time": _time,
}
