"""Show a comparison with the truth as tables, for a terminal and for a page of Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from forebay_agents.check import Report, Tally, Verdict, accuracy

VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
Rows = Sequence[Sequence[str]]


def as_text(report: Report) -> str:
    """Return the tables in columns, and below them what is not right, document by document."""
    parts = [_columns(rows) for rows in _tables(report)]
    misses = [
        f"{each.document}\n" + "\n".join(f"  {miss}" for miss in each.misses)
        for each in report.documents
        if each.misses
    ]
    return "\n\n".join([*parts, "\n".join(_sentences(report)), *misses])


def as_markdown(report: Report) -> str:
    """Return the tables, and the sentences about confidence."""
    return "\n\n".join([*map(_piped, _tables(report)), *_sentences(report)])


def _tables(report: Report) -> Iterator[Rows]:
    groups: dict[str, Mapping[str, Tally]] = {
        "field": {**report.by_field, "all fields": report.fields, "lines": report.lines},
        "kind": report.tallies(lambda each: each.kind),
        "language": report.tallies(lambda each: each.language),
        "read from": report.tallies(lambda each: each.read),
    }
    for title, tallies in groups.items():
        rows = [[name, *_counts(tally)] for name, tally in tallies.items() if tally]
        yield [[title, *VERDICTS, "accuracy"], *rows]


def _counts(tally: Tally) -> list[str]:
    return [*(str(tally[verdict]) for verdict in VERDICTS), _percent(accuracy(tally))]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _sentences(report: Report) -> list[str]:
    right, count = report.statuses
    whole = sum(each.share == 1 for each in report.documents if each.fields)
    said = [
        f"{right} of {count} documents ended as they were to: read, or refused.",
        f"{whole} have all their fields right.",
    ]
    if report.rank_correlation is not None:
        said.append(
            "Spearman's rank correlation of confidence with the share of right fields:"
            f" {report.rank_correlation:.2f}."
        )
    if report.separation is not None:
        said.append(
            "A document with a wrong field has less confidence than one without in"
            f" {_percent(report.separation)} of all pairs."
        )
    return said


def _columns(rows: Rows) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def _piped(rows: Rows) -> str:
    head, *body = ["| " + " | ".join(row) + " |" for row in rows]
    rule = "|---" + "|---:" * (len(rows[0]) - 1) + "|"
    return "\n".join([head, rule, *body])
