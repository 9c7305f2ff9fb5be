"""Agents: list, pause and resume them, and lift their spend cap; agent_definition defines them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Annotated

import typer

from forebay.cli import agent_definition, agent_view, output
from forebay.cli.database import connect, person
from forebay.cli.options import Dsn, Json, Reason, parse_time, parse_usd

app = typer.Typer(help="Define, list, pause and resume agents.", no_args_is_help=True)
app.command("set")(agent_definition.set_)

Name = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.")]
HOW_MUCH = typer.Option(
    "--usd",
    parser=parse_usd,
    metavar="USD",
    show_default="without end",
    help="How much more than its cap.",
)


@app.command("list")
def list_(
    agents: Annotated[
        list[str] | None, typer.Argument(metavar="[AGENT]...", help="Only these.")
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Look again every 2 seconds, until Ctrl-C.")
    ] = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List agents and their quotas: what runs and waits, and how much room is left."""
    from forebay.calls import viewer

    with connect(dsn) as conn:
        if as_json:
            output.print_json(viewer.agent_status(conn, agents=agents or None))
        elif watch:
            agent_view.watch(conn, agents or None)
        else:
            output.console().print(agent_view.look(conn, agents or None))


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
    """Let a paused agent start tasks again, also before the time that a provider named."""
    from forebay.calls import operator

    name = _one_or_all(agent, all_agents)
    with connect(dsn) as conn:
        changed = operator.resume_agent(conn, agent=name, reason=reason, actor=person())
    _print_changed("resumed", changed, as_json)


@app.command()
def lift(
    agent: Name,
    usd: Annotated[Decimal | None, HOW_MUCH] = None,
    reason: Reason = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Let an agent spend more than its cap, for the rest of the day (UTC)."""
    from forebay.calls import operator

    with connect(dsn) as conn:
        cap = operator.lift_spend_cap(
            conn, agent=agent, extra_usd=usd, reason=reason, actor=person()
        )
    print_cap(agent, cap, as_json)


def print_cap(name: str, cap: Decimal, as_json: bool) -> None:
    """Say what a lifted cap allows today; in JSON null is without end."""
    if as_json:
        output.print_json({"cap_usd": cap if cap.is_finite() else None})
    else:
        allows = f"up to {cap:.2f} US dollars" if cap.is_finite() else "without end"
        print(f"{output.show(name)} may spend {allows} until midnight (UTC).")


def _one_or_all(agent: str | None, all_agents: bool) -> str | None:
    if (agent is None) is not all_agents:
        raise typer.BadParameter("name one agent, or pass --all.", param_hint="AGENT")
    return agent


def _print_changed(word: str, changed: int, as_json: bool) -> None:
    if as_json:
        output.print_json({"agents": changed})
    else:
        print(f"{changed} agent{'' if changed == 1 else 's'} {word}.")
