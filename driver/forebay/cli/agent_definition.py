"""`forebay agent set`: define an agent, starting from its present definition."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from forebay.cli import output, words
from forebay.cli.database import connect, person
from forebay.cli.errors import Refused
from forebay.cli.options import (
    Dsn,
    Given,
    Json,
    Reason,
    duration_option,
    limit_option,
    parse_duration,
    parse_number,
    parse_usd,
)

if TYPE_CHECKING:
    import psycopg

    from forebay.rows import AgentState

LIMITS, LINE, ENDS = "Limits", "The line", "When things go wrong"
Duration = timedelta | None
Limit = Given[int] | None


def _limit(text: str, panel: str) -> Any:
    return limit_option(parse_number, "NUMBER", text, panel)


def _count(text: str, panel: str, default: str) -> Any:
    return typer.Option(metavar="NUMBER", help=text, rich_help_panel=panel, show_default=default)


def set_(
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.")],
    launcher: Annotated[
        Literal["pull", "local", "lakeflow"] | None,
        typer.Option(
            help="Who runs it: workers that pull, a local process, or a Lakeflow job.",
            show_default="pull",
        ),
    ] = None,
    job_id: Annotated[int | None, typer.Option(help="The Lakeflow job.")] = None,
    entry_point: Annotated[
        str | None, typer.Option(help="Its name in the entry-point group forebay.agents.")
    ] = None,
    max_concurrent_tasks: Annotated[Limit, _limit("Tasks at once.", LIMITS)] = None,
    max_tpm: Annotated[Limit, _limit("Tokens a minute.", LIMITS)] = None,
    max_rpm: Annotated[Limit, _limit("Claims a minute.", LIMITS)] = None,
    tpm_burst: Annotated[
        float | None,
        typer.Option(
            help="Share of max_tpm that may be spent at once.",
            rich_help_panel=LIMITS,
            show_default="0.8",
        ),
    ] = None,
    quota: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|none",
            help="A quota that it draws on; repeatable, all of them together.",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    max_usd_per_day: Annotated[
        Given[Decimal] | None,
        limit_option(parse_usd, "USD", "What it may spend on a day (UTC).", LIMITS),
    ] = None,
    default_estimated_tokens: Annotated[
        int | None, _count("What a task without an estimate counts as, at first.", LIMITS, "2000")
    ] = None,
    max_waiting: Annotated[Limit, _limit("Tasks that may wait; more are refused.", LINE)] = None,
    aging: Annotated[
        Given[timedelta] | None,
        limit_option(
            parse_duration, "5m", "A waiting task gains one priority each such time.", LINE
        ),
    ] = None,
    reserve_after: Annotated[
        Duration,
        duration_option("A task that does not fit is passed by others for so long.", LINE, "1m"),
    ] = None,
    fair_by_customer: Annotated[
        bool | None,
        typer.Option(
            "--fair-by-customer/--in-order",
            show_default=False,
            help="Whether customers take turns among tasks of equal priority.",
            rich_help_panel=LINE,
        ),
    ] = None,
    lease: Annotated[
        Duration, duration_option("How long a silent worker is waited for.", ENDS, "1m")
    ] = None,
    timeout: Annotated[
        Duration, duration_option("How long an attempt may run.", ENDS, "1h")
    ] = None,
    max_attempts: Annotated[int | None, _count("How often a task is tried.", ENDS, "3")] = None,
    max_releases: Annotated[
        int | None, _count("How often it is handed back at no expense.", ENDS, "20")
    ] = None,
    max_deferrals: Annotated[
        int | None, _count("How often a provider's refusal spends no attempt.", ENDS, "100")
    ] = None,
    max_deferral_time: Annotated[Duration, duration_option("And for how long.", ENDS, "1d")] = None,
    backoff_base: Annotated[
        Duration, duration_option("Wait after the first failure.", ENDS, "5s")
    ] = None,
    backoff_max: Annotated[Duration, duration_option("The longest wait.", ENDS, "1h")] = None,
    on_lost_lease: Annotated[
        Literal["retry", "fail"] | None,
        typer.Option(
            help="What follows when a worker is lost.", rich_help_panel=ENDS, show_default="retry"
        ),
    ] = None,
    late_results: Annotated[
        Literal["accept", "reject"] | None,
        typer.Option(
            help="Results of workers that were given up.",
            rich_help_panel=ENDS,
            show_default="accept",
        ),
    ] = None,
    retention: Annotated[
        Duration,
        duration_option(
            "How long finished tasks are to be kept; nothing removes them yet.", ENDS, "90d"
        ),
    ] = None,
    reset: Annotated[
        bool, typer.Option("--reset", help="What is left out takes its default.")
    ] = False,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Define an agent, or change what is given of it; of a new one the rest takes its default."""
    given: dict[str, Any] = {
        "launcher": launcher,
        "job_id": job_id,
        "entry_point": entry_point,
        "max_concurrent_tasks": max_concurrent_tasks,
        "max_tpm": max_tpm,
        "max_rpm": max_rpm,
        "tpm_burst": None if tpm_burst is None else Decimal(str(tpm_burst)),
        "quotas": [name for name in quota if name != "none"] if quota else None,
        "max_usd_per_day": max_usd_per_day,
        "default_estimated_tokens": default_estimated_tokens,
        "max_waiting": max_waiting,
        "aging": aging,
        "reserve_after": reserve_after,
        "fair_by_customer": fair_by_customer,
        "lease": lease,
        "timeout": timeout,
        "max_attempts": max_attempts,
        "max_releases": max_releases,
        "max_deferrals": max_deferrals,
        "max_deferral_time": max_deferral_time,
        "backoff_base": backoff_base,
        "backoff_max": backoff_max,
        "on_lost_lease": on_lost_lease,
        "late_results": late_results,
        "retention": retention,
    }
    from forebay.calls import operator, viewer

    with connect(dsn) as conn:
        definition = {} if reset else _present(conn, agent, list(given))
        definition |= {
            name: value.value if isinstance(value, Given) else value
            for name, value in given.items()
            if value is not None
        }
        if definition.get("launcher") == "lakeflow" and not definition.get("job_id"):
            raise Refused("An agent of the launcher lakeflow is a job: pass its id with --job-id.")
        operator.register_agent(conn, agent=agent, reason=reason, actor=person(), **definition)
        states = viewer.agent_status(conn, agents=[agent])
    if as_json:
        output.print_json(states)
    else:
        output.print_row(states[0], DEFINITION, as_json)


def _present(conn: psycopg.Connection[Any], agent: str, names: list[str]) -> dict[str, Any]:
    """Return the agent's definition as the arguments of register_agent; empty for a new agent."""
    from forebay.calls import viewer
    from forebay.errors import UnknownAgentError

    columns = {"fair_by_customer": "is_fair_by_customer", "quotas": "quota_names"}
    try:
        (state,) = viewer.agent_status(conn, agents=[agent])
    except UnknownAgentError:
        return {}
    return {name: getattr(state, columns.get(name, name)) for name in names}


def _line(state: AgentState) -> str:
    order = "by priority, then by age"
    if state.aging:
        order = f"one priority more each {words.duration(state.aging)} of waiting"
    return f"{order}; customers take turns" if state.is_fair_by_customer else order


DEFINITION: output.Columns = {
    "agent": "agent",
    "launcher": "launcher",
    "job": "job_id",
    "entry point": "entry_point",
    "tasks at once": lambda row: words.number(row.max_concurrent_tasks) or "unlimited",
    "tokens": lambda row: (
        f"{row.max_tpm:,} a minute, {row.token_burst:,.0f} at once"
        if row.max_tpm is not None
        else "unlimited"
    ),
    "claims": lambda row: f"{row.max_rpm:,} a minute" if row.max_rpm is not None else "unlimited",
    "quotas": lambda row: ", ".join(row.quota_names),
    "spending": lambda row: (
        f"{row.max_usd_per_day:.2f} US dollars a day" if row.max_usd_per_day is not None else None
    ),
    "no estimate": lambda row: f"counts as {row.default_estimated_tokens:,} tokens",
    "order": _line,
    "line": lambda row: (
        f"at most {row.max_waiting:,} tasks wait" if row.max_waiting is not None else None
    ),
    "reservation": lambda row: f"after {words.duration(row.reserve_after)} of waiting",
    "lease": lambda row: words.duration(row.lease),
    "timeout": lambda row: words.duration(row.timeout),
    "attempts": "max_attempts",
    "releases": "max_releases",
    "deferrals": lambda row: f"{row.max_deferrals} in {words.duration(row.max_deferral_time)}",
    "backoff": lambda row: (
        f"{words.duration(row.backoff_base)} to {words.duration(row.backoff_max)}"
    ),
    "lost lease": "on_lost_lease",
    "late results": "late_results",
    "kept for": lambda row: words.duration(row.retention),
}
