"""Make one answer of those about a document's parts; the same parts give the same answer."""

from collections.abc import Sequence

from forebay_agents.findings import AMOUNTS, Findings, Found, Name
from forebay_agents.models.verify import TOLD, at_most
from forebay_agents.sums import sums, total_miss

AGREED = 0.95
"""Sums that make each other."""


def merged(parts: Sequence[Findings]) -> Findings:
    """Return the findings of the parts, in their order, as one.

    Names and days come from the first part that states them, as a document begins with them; sums
    from the last, since those before it may be carried forward.
    """
    fields: dict[Name, Found] = {}
    for part in parts:
        for name, found in part.fields.items():
            if name in AMOUNTS or name not in fields:
                fields[name] = found
    notes = [note for part in parts for note in part.notes]
    for name in ("kind", "number", "currency"):
        values = {part.fields[name].value for part in parts if name in part.fields}
        if len(values) > 1:
            notes.append(f"The model read {len(values)} values of {name} in different parts.")
            fields[name] = at_most(fields[name], TOLD)
    _compare_sums(fields)
    unanswered = sum(part.unanswered for part in parts) / max(len(parts), 1)
    return Findings(fields, [line for part in parts for line in part.lines], notes, unanswered)


def _compare_sums(fields: dict[Name, Found]) -> None:
    """Trust sums more that make each other, and those less that do not."""
    miss = total_miss(sums(fields))
    if miss is None:
        return
    for name in AMOUNTS:
        if miss:
            fields[name] = at_most(fields[name], TOLD)
        elif fields[name].confidence > TOLD:
            fields[name] = fields[name].with_confidence(AGREED)
