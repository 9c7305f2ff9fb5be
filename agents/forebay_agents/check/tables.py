"""Show tallies as tables, for a terminal and for a page of Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from forebay_agents.check.judging import Tally, Verdict

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Groups = Mapping[str, Mapping[str, Tally]]
"""Tallies by the name of their group, in tables by what the groups are of."""


def as_text(groups: Groups) -> str:
    """Return the tables in columns."""
    return "\n\n".join(_columns(rows) for rows in _tables(groups))


def as_markdown(groups: Groups) -> str:
    """Return the tables as Markdown has them."""
    return "\n\n".join(_piped(rows) for rows in _tables(groups))


def accuracy(tally: Tally) -> float | None:
    """Return the share that is right, from 0 to 1; None where there is nothing to judge."""
    return tally["right"] / tally.total() if tally else None


def percent(share: float | None) -> str:
    """Write a share as people read it."""
    return "-" if share is None else f"{100 * share:.1f} %"


def _tables(groups: Groups) -> Iterator[Sequence[Sequence[str]]]:
    for title, tallies in groups.items():
        rows = [[name, *_counts(tally)] for name, tally in tallies.items() if tally]
        yield [[title, *VERDICTS, "accuracy"], *rows]


def _counts(tally: Tally) -> list[str]:
    return [*(str(tally[verdict]) for verdict in VERDICTS), percent(accuracy(tally))]


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _piped(rows: Sequence[Sequence[str]]) -> str:
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    rule = "|---" + "|---:" * (len(rows[0]) - 1) + "|"
    return "\n".join([head, rule, *body])
