"""What `forebay agent list` shows: a table of agents, one of their quotas, and a line a pause."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from forebay.cli import output, words
from forebay.cli.quota import QUOTA

if TYPE_CHECKING:
    import psycopg
    from rich.console import Group

    from forebay.rows import AgentState, QuotaState

WATCH_SECONDS = 2.0
STATES = {
    "held_up": "launches fail",
    "out_of_tokens": "out of tokens",
    "out_of_requests": "out of claims",
    "spend_cap": "spend cap",
}


def look(conn: psycopg.Connection[Any], agents: Sequence[str] | None) -> Group:
    """Return what the agents (None: all) and their quotas are like now."""
    from rich.console import Group
    from rich.text import Text

    from forebay.calls import viewer

    states = viewer.agent_status(conn, agents=agents)
    now = viewer.server_time(conn)
    shown: list[Any] = [output.table(states, output.filled(states, _columns(now)))]
    if quotas := _quotas(states):
        shown.append(output.table(quotas, output.filled(quotas, QUOTA)))
    return Group(*shown, *(Text(output.show(line)) for line in _remarks(states)))


def watch(conn: psycopg.Connection[Any], agents: Sequence[str] | None) -> None:
    """Show the agents anew every WATCH_SECONDS until Ctrl-C, on a terminal in one place."""
    from rich.live import Live

    console = output.console()
    try:
        if not sys.stdout.isatty():
            while True:
                console.print(look(conn, agents))
                time.sleep(WATCH_SECONDS)
        with Live(console=console, auto_refresh=False) as live:
            while True:
                live.update(look(conn, agents), refresh=True)
                time.sleep(WATCH_SECONDS)
    except KeyboardInterrupt:
        return


def _quotas(states: Sequence[AgentState]) -> list[QuotaState]:
    """Return the limits of all quotas that the agents draw on, each once."""
    from forebay.rows import QuotaState

    rows = [row for state in states for row in state.quotas]
    limits = {(row["quota"], row["unit"] or "", row["period"] or 0): row for row in rows}
    return [
        QuotaState(
            **row
            | {
                "period": None if row["period"] is None else timedelta(seconds=row["period"]),
                "paused_until": row["paused_until"] and datetime.fromisoformat(row["paused_until"]),
            }
        )
        for _, row in sorted(limits.items(), key=itemgetter(0))
    ]


def _remarks(states: Sequence[AgentState]) -> Iterator[str]:
    for state in states:
        if state.paused_until is not None:
            until = output.show(state.paused_until)
            until = "it is resumed" if until == output.FOR_EVER else until
            why = f": {state.pause_reason}" if state.pause_reason else ""
            yield f"{state.agent} is paused until {until}{why}"
        if state.hindrance is not None:
            yield f"{state.agent}: {state.hindrance}"
        if state.effective_share < 1:
            yield (
                f"{state.agent} works at {state.effective_share:.0%} of its limits after refusals"
                f"{_lowered(state)}"
            )
        if state.typical_tokens is not None:
            yield (
                f"{state.agent} has learned that a task uses {state.learned_ratio:.2f} of its"
                f" estimate ({state.learned_input_ratio:.2f} input,"
                f" {state.learned_output_ratio:.2f} output): {state.typical_tokens:,} tokens,"
                f" calls: {state.typical_calls:g}"
            )
        if state.usd_today or state.max_usd_per_day is not None:
            cap = words.usd(state.max_usd_per_day)
            yield (
                f"{state.agent} has spent {words.usd(state.usd_today)}"
                f"{f' of {cap}' if cap else ''} US dollars today (UTC), and tasks in flight,"
                f" or that never told their cost, may spend {words.usd(state.usd_projected)}"
            )


def _lowered(state: AgentState) -> str:
    """Return what is left of each limit that refusals have lowered, beside what it is set to."""
    limits = (
        (state.effective_concurrent_tasks, state.max_concurrent_tasks, "tasks at once"),
        (state.effective_tpm, state.max_tpm, "tokens a minute"),
        (state.effective_rpm, state.max_rpm, "claims a minute"),
    )
    said = [
        f"{now:,} of {'unlimited' if set_to is None else f'{set_to:,}'} {unit}"
        for now, set_to, unit in limits
        if now is not None and now != set_to
    ]
    return f": {', '.join(said)}" if said else ""


def _columns(now: datetime) -> output.Columns:
    return {
        "agent": "agent",
        "state": lambda row: STATES.get(row.state, row.state),
        "running": lambda row: words.of(row.in_use, row.effective_concurrent_tasks),
        "waiting": "waiting",
        "later": lambda row: row.delayed or None,
        "oldest": lambda row: (
            words.duration(now - row.oldest_waiting_at) if row.oldest_waiting_at else None
        ),
        "in flight /min": lambda row: words.number(row.projected_tpm or None),
        "tokens left": lambda row: words.of(row.token_level, row.effective_tpm),
        "claims left": lambda row: words.of(row.request_level, row.effective_rpm),
        "starts /min": lambda row: words.number(row.starts_last_minute or None),
        "tokens /min": lambda row: words.number(row.tokens_last_minute or None),
    }
