"""Write a folder of sample documents, each with the truth about what it says.

The same bytes come out every time. People, firms and sums are made up.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal

from forebay_lab.paper import print_pdf
from forebay_lab.stories import Story, contract, invoice, receipt, statement
from forebay_lab.words import ENGLISH, FRENCH, GERMAN, JAPANESE

Priority = Literal["urgent", "normal", "bulk"]


@dataclass(frozen=True, slots=True)
class Sample:
    """Hold the truth about one document: what an agent ought to find, and how its task ends.

    One that is to fail has no fields; its pages are those that were written, seen or not.
    """

    name: str
    kind: str
    pages: int
    fields: dict[str, str]
    priority: Priority = "normal"
    outcome: Literal["completed", "failed"] = "completed"


def write_samples(folder: Path) -> list[Sample]:
    """Write all samples into `folder`, which is made if absent, and return their truth."""
    folder.mkdir(parents=True, exist_ok=True)
    return [
        *(_readable(folder / f"{name}.pdf", story) for name, story in _stories().items()),
        _encrypted(folder / "invoice-encrypted.pdf"),
        _broken(folder / "invoice-broken.pdf"),
    ]


PRIORITIES: dict[str, Priority] = {
    "invoice-pump": "urgent",
    "seikyusho": "urgent",
    "kontoauszug": "bulk",
    "statement-year": "bulk",
}
"""Those that are not normal."""

PUMPS, WATER, BANK = "Weirside Pumps Ltd", "Oberwasser GmbH", "Harbour Bank"


def _stories() -> dict[str, Story]:
    return {
        "invoice-pump": invoice(ENGLISH, PUMPS, "INV-2026-0142", date(2026, 3, 4), "USD", 4),
        "invoice-long": invoice(ENGLISH, PUMPS, "INV-2026-0143", date(2026, 5, 12), "GBP", 60),
        "rechnung": invoice(GERMAN, WATER, "RE-2026/0031", date(2026, 3, 2), "EUR", 5),
        "rechnung-lang": invoice(GERMAN, WATER, "RE-2026/0032", date(2026, 11, 9), "EUR", 90),
        "facture": invoice(FRENCH, "Les Vannes SARL", "F-2026-117", date(2026, 7, 31), "EUR", 6),
        "seikyusho": invoice(JAPANESE, "水門工業", "SK-2026-008", date(2026, 4, 30), "JPY", 5),
        "receipt": receipt(ENGLISH, PUMPS, "R-88120", date(2026, 6, 1), "GBP", Decimal("48.60")),
        "agreement": contract(ENGLISH, (WATER, PUMPS), "SA-2026-07", date(2026, 1, 15), 40),
        "vertrag": contract(GERMAN, (WATER, PUMPS), "V-2026-19", date(2026, 2, 1), 25),
        "statement": statement(ENGLISH, BANK, "2026-03", date(2026, 3, 31), "USD", 3),
        "kontoauszug": statement(GERMAN, "Talbank eG", "7/2026", date(2026, 7, 31), "EUR", 12),
        "statement-year": statement(ENGLISH, BANK, "2025-Y", date(2025, 12, 31), "USD", 200),
    }


def _readable(path: Path, story: Story) -> Sample:
    pages = print_pdf(path, story.blocks)
    priority = PRIORITIES.get(path.stem, "normal")
    return Sample(path.name, story.fields["kind"], pages, story.fields, priority)


def _encrypted(path: Path) -> Sample:
    """Write an invoice that opens with a password only."""
    story = invoice(ENGLISH, PUMPS, "INV-2026-0144", date(2026, 5, 13), "USD", 3)
    pages = print_pdf(path, story.blocks, password="weir")
    return Sample(path.name, "invoice", pages, {}, outcome="failed")


def _broken(path: Path) -> Sample:
    """Write an invoice that was cut off on its way: its first kilobyte alone."""
    story = invoice(ENGLISH, PUMPS, "INV-2026-0145", date(2026, 5, 14), "USD", 3)
    pages = print_pdf(path, story.blocks)
    with path.open("r+b") as file:
        file.truncate(1024)
    return Sample(path.name, "invoice", pages, {}, outcome="failed")
