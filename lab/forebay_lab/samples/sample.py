"""The samples: written to a folder, the truth about each beside it."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from forebay_lab.samples.damaged import DAMAGED
from forebay_lab.samples.hard import HARD
from forebay_lab.samples.plan import Plan
from forebay_lab.samples.plans import PLANS
from forebay_lab.samples.printing import Printed, print_plan
from forebay_lab.samples.special import SPECIAL, Finish, print_special

Priority = Literal["urgent", "normal", "bulk"]
MOST_LINES = 1000
"""Of more lines results hold the beginning only."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Hold the truth about one document: what an agent ought to find, and how its task ends.

    One that is to fail has no fields; its pages are those that were written, seen or not.
    """

    name: str
    pages: int
    fields: dict[str, str] = field(default_factory=dict)
    lines: list[dict[str, str]] = field(default_factory=list)
    priority: Priority = "normal"
    outcome: Literal["completed", "failed"] = "completed"

    def truth(self) -> dict[str, Any]:
        """Return what the truth file says; its lines only where a result has room for them."""
        if self.outcome == "failed":
            return {"status": "failed"}
        lines = {"lines": self.lines} if 0 < len(self.lines) <= MOST_LINES else {}
        return {"status": "completed", "pages": self.pages, "fields": self.fields} | lines


PRIORITIES: dict[str, Priority] = {
    "invoice-pump": "urgent",
    "seikyusho": "urgent",
    "kontoauszug": "bulk",
    "statement-year": "bulk",
}
"""Those that are not normal."""

DEMO = (
    *("invoice-pump", "invoice-long", "rechnung", "rechnung-lang", "facture", "seikyusho"),
    *("us-receipt-till", "agreement", "vertrag", "statement", "kontoauszug"),
    *("de-zugferd", "invoice-encrypted", "invoice-broken"),
)
"""A few of each kind, for the demo; none of them long."""


def names() -> list[str]:
    """Return the name of every sample, without its suffix."""
    return list(_writers())


def write_samples(
    folder: Path, only: Iterable[str] | None = None, *, draw: int = 0
) -> list[Sample]:
    """Write all samples, or those that are named, into `folder` and return their truth.

    The folder is made if absent. Another `draw` gives documents of the same plans with other words,
    firms, dates and sums, to see how rules fare on what they were not made for. Beside each
    NAME.pdf stands NAME.json with the truth.
    """
    folder.mkdir(parents=True, exist_ok=True)
    writers = _writers(draw)
    return [
        _write(folder / f"{name}.pdf", writers[name])
        for name in (writers if only is None else only)
    ]


def _write(path: Path, writer: Callable[[Path], Sample]) -> Sample:
    sample = writer(path)
    text = json.dumps(sample.truth(), ensure_ascii=False, indent=1)
    path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    return sample


def _writers(draw: int = 0) -> Mapping[str, Callable[[Path], Sample]]:
    planned = {plan.name: partial(_planned, replace(plan, draw=draw)) for plan in PLANS}
    damaged = {name: partial(_damaged, writer) for name, writer in DAMAGED.items()}
    special, hard = (
        {plan.name: partial(_special, replace(plan, draw=draw), finish) for plan, finish in some}
        for some in (SPECIAL, HARD)
    )
    return planned | special | damaged | hard


def _planned(plan: Plan, path: Path) -> Sample:
    return readable(path, print_plan(plan, path))


def _special(plan: Plan, finish: Finish, path: Path) -> Sample:
    return readable(path, print_special(plan, finish, path))


def _damaged(writer: Callable[[Path], int], path: Path) -> Sample:
    return Sample(path.name, writer(path), outcome="failed")


def readable(path: Path, printed: Printed) -> Sample:
    """Return the sample of what was printed."""
    priority = PRIORITIES.get(path.stem, "normal")
    return Sample(path.name, printed.pages, **printed.truth, priority=priority)
