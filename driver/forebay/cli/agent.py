"""Agents: define, list, pause and resume them."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal

import typer

from forebay.cli import output
from forebay.cli.database import connect, person
from forebay.cli.options import Dsn, Json, Reason, parse_duration, parse_time

app = typer.Typer(help="Define, list, pause and resume agents.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.")]
Duration = Annotated[timedelta | None, typer.Option(parser=parse_duration, metavar="90s|5m|1h|2d")]


@app.command("set")
def set_(
    agent: Name,
    launcher: Annotated[
        Literal["pull", "local", "lakeflow"] | None,
        typer.Option(help="Who runs it: workers that pull, a local process, or a Lakeflow job."),
    ] = None,
    job_id: Annotated[int | None, typer.Option(help="The Lakeflow job.")] = None,
    entry_point: Annotated[
        str | None, typer.Option(help="Its name in the entry-point group forebay.agents.")
    ] = None,
    max_concurrent_tasks: Annotated[
        int | None, typer.Option(help="Tasks at once; unlimited when left out.")
    ] = None,
    max_tpm: Annotated[
        int | None, typer.Option(help="Tokens a minute; unlimited when left out.")
    ] = None,
    max_rpm: Annotated[
        int | None, typer.Option(help="Claims a minute; unlimited when left out.")
    ] = None,
    tpm_burst: Annotated[
        float | None, typer.Option(help="Share of max_tpm that may be spent at once.")
    ] = None,
    lease: Duration = None,
    timeout: Duration = None,
    max_attempts: Annotated[int | None, typer.Option()] = None,
    max_releases: Annotated[int | None, typer.Option()] = None,
    backoff_base: Duration = None,
    backoff_max: Duration = None,
    on_lost_lease: Annotated[Literal["retry", "fail"] | None, typer.Option()] = None,
    late_results: Annotated[Literal["accept", "reject"] | None, typer.Option()] = None,
    default_estimated_tokens: Annotated[
        int | None, typer.Option(help="What a task is charged that has no estimate.")
    ] = None,
    retention: Duration = None,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Define an agent, whole: what is left out takes its default."""
    if launcher == "local" and entry_point is None:
        raise typer.BadParameter("--launcher local needs --entry-point, such as parse_document.")
    from forebay.calls import operator, viewer

    definition: dict[str, Any] = {
        "launcher": launcher,
        "job_id": job_id,
        "entry_point": entry_point,
        "max_concurrent_tasks": max_concurrent_tasks,
        "max_tpm": max_tpm,
        "max_rpm": max_rpm,
        "tpm_burst": None if tpm_burst is None else Decimal(str(tpm_burst)),
        "lease": lease,
        "timeout": timeout,
        "max_attempts": max_attempts,
        "max_releases": max_releases,
        "backoff_base": backoff_base,
        "backoff_max": backoff_max,
        "on_lost_lease": on_lost_lease,
        "late_results": late_results,
        "default_estimated_tokens": default_estimated_tokens,
        "retention": retention,
    }
    given = {name: value for name, value in definition.items() if value is not None}
    with connect(dsn) as conn:
        operator.register_agent(conn, agent=agent, reason=reason, actor=person(), **given)
        states = viewer.agent_status(conn, agents=[agent])
    output.print_rows(states, STATE, as_json)


@app.command("list")
def list_(
    agents: Annotated[
        list[str] | None, typer.Argument(metavar="[AGENT]...", help="Only these.")
    ] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List agents with their limits, what they use of them, and what waits."""
    from forebay.calls import viewer

    with connect(dsn) as conn:
        states = viewer.agent_status(conn, agents=agents or None)
    output.print_rows(states, STATE, as_json)


@app.command()
def pause(
    agent: Annotated[str | None, typer.Argument(metavar="AGENT")] = None,
    all_agents: Annotated[bool, typer.Option("--all", help="Every agent.")] = False,
    until: Annotated[
        datetime | None,
        typer.Option(
            parser=parse_time, metavar="TIME", show_default="resumed", help="When it goes on."
        ),
    ] = None,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Start nothing more of an agent; what runs goes on."""
    from forebay.calls import operator

    name = _one_or_all(agent, all_agents)
    with connect(dsn) as conn:
        changed = operator.pause_agent(conn, agent=name, until=until, reason=reason, actor=person())
    _print_changed("paused", changed, as_json)


@app.command()
def resume(
    agent: Annotated[str | None, typer.Argument(metavar="AGENT")] = None,
    all_agents: Annotated[bool, typer.Option("--all", help="Every agent.")] = False,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Let a paused agent start tasks again."""
    from forebay.calls import operator

    name = _one_or_all(agent, all_agents)
    with connect(dsn) as conn:
        changed = operator.resume_agent(conn, agent=name, reason=reason, actor=person())
    _print_changed("resumed", changed, as_json)


def _one_or_all(agent: str | None, all_agents: bool) -> str | None:
    if (agent is None) is not all_agents:
        raise typer.BadParameter("name one agent, or pass --all.", param_hint="AGENT")
    return agent


def _print_changed(word: str, changed: int, as_json: bool) -> None:
    if as_json:
        output.print_json({"agents": changed})
    else:
        print(f"{changed} agent{'' if changed == 1 else 's'} {word}.")


def _of(level: int | Decimal | None, limit: int | None) -> str | None:
    if level is None:
        return None
    return f"{level:.0f}" if limit is None else f"{level:.0f} of {limit}"


STATE: output.Columns = {
    "agent": "agent",
    "launcher": "launcher",
    "state": "state",
    "in use": lambda row: _of(row.in_use, row.max_concurrent_tasks),
    "waiting": "waiting",
    "delayed": "delayed",
    "tokens": lambda row: _of(row.token_level, row.max_tpm),
    "requests": lambda row: _of(row.request_level, row.max_rpm),
    "paused until": "paused_until",
    "why": "pause_reason",
}
