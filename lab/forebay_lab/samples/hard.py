"""Samples that are there to be doubted: pages hard to read, and documents at odds with themselves.

Their truth is what was printed and meant, whoever can still tell.
"""

from datetime import date
from decimal import Decimal
from pathlib import Path

from forebay_lab.samples.paging import Wear, add_line, photograph
from forebay_lab.samples.plan import Plan
from forebay_lab.samples.printing import Printed
from forebay_lab.samples.special import Finish
from forebay_lab.samples.wear import (
    blurred,
    cut,
    faded,
    faxed,
    grained,
    shaded,
    skewed,
    speckled,
    stained,
    tilted,
)

DAY = date(2026, 3, 11)
"""It and the nine days before it can all be read in two ways when only numbers tell them."""

ARREARS = Decimal("218.40")
"""What the second total has more than the first."""


def _worn(*wears: Wear, dots: int = 150) -> Finish:
    """Return what puts a worn picture in the place of the page."""

    def finish(plan: Plan, path: Path, printed: Printed) -> None:
        assert printed.pages == 1
        photograph(path, wears, dots)

    return finish


def _two_totals(plan: Plan, path: Path, printed: Printed) -> None:
    """Let a slip at the foot of the page ask for another sum under the same name."""
    voice = plan.voice()
    add_line(path, 110, 262, f"{voice['total']}: {voice.money(plan.bill().total + ARREARS)}")


def _as_printed(plan: Plan, path: Path, printed: Printed) -> None:
    """Leave the page as it is."""


HARD: tuple[tuple[Plan, Finish], ...] = (
    (
        Plan("gb-hard-fax", "gb", "two_columns", font="vera", days="dd/MM/yyyy"),
        _worn(cut(bottom=0.3), faxed(150), speckled(600, 3), dots=100),
    ),
    (
        Plan("de-hard-fax", "de", "window", font="vera", days="dd.MM.yyyy", count=3),
        _worn(skewed(2.2), faxed(140), speckled(500, 3), dots=100),
    ),
    (
        Plan("jp-hard-fax", "jp", "framed", font="gothic", count=3, days="yyyy/MM/dd"),
        _worn(cut(bottom=0.3), faxed(150), speckled(300, 3), dots=110),
    ),
    (
        Plan("fr-hard-skewed", "fr", "tax_table", font="vera", count=3),
        _worn(cut(bottom=0.3), skewed(-2.6), grained(0.25)),
    ),
    (
        Plan("it-hard-photo", "it", "sidebar", font="vera", days="dd/MM/yyyy", count=3),
        _worn(cut(bottom=0.3), tilted(0.05), shaded(110), blurred(0.8), grained(0.1)),
    ),
    (
        Plan("us-hard-photo", "us", "centred", font="vera", count=3),
        _worn(skewed(2), tilted(0.06), shaded(90), blurred(1.0)),
    ),
    (
        Plan("nl-hard-stained", "nl", "header_grid", font="vera", count=3),
        _worn(cut(bottom=0.3), stained(4), grained(0.2), dots=130),
    ),
    (
        Plan("pt-hard-copied", "pt", "plain", font="vera", count=3),
        _worn(cut(bottom=0.3), blurred(0.9), faxed(160), speckled(1000, 3), dots=140),
    ),
    (
        Plan("es-hard-faded", "es", "till_roll", "receipt", taxes="included", font="mono"),
        _worn(skewed(-2), faded(150, 230), grained(0.09)),
    ),
    (
        Plan("gb-hard-cut-off", "gb", "sentence", font="vera", days="d MMMM yyyy"),
        _worn(cut(right=0.14, bottom=0.1)),
    ),
    (
        Plan("es-hard-jotted", "es", "unlabelled", font="serif", days="d/M/yy", count=3),
        _worn(skewed(1.5), blurred(0.8)),
    ),
    (Plan("de-hard-sums", "de", "two_columns", slip=Decimal("-90.00")), _as_printed),
    (
        Plan("gb-hard-date", "gb", "plain", days="MM/dd/yyyy", day=DAY, due="none"),
        _as_printed,
    ),
    (Plan("fr-hard-two-totals", "fr", "centred", count=3), _two_totals),
)
