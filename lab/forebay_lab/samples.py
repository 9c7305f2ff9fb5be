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
    readable = [_print(folder, name, priority, story) for name, priority, story in _stories()]
    return [*readable, _encrypted(folder), _broken(folder)]


def _stories() -> list[tuple[str, Priority, Story]]:
    weir, harbour = "Weirside Pumps Ltd", "Harbour Bank"
    parties = ("Oberwasser GmbH", weir)
    return [
        (
            "invoice-urgent",
            "urgent",
            invoice(ENGLISH, weir, "INV-2026-0142", date(2026, 3, 4), "USD", 4),
        ),
        (
            "invoice-pounds",
            "normal",
            invoice(ENGLISH, weir, "INV-2026-0143", date(2026, 5, 12), "GBP", 60),
        ),
        (
            "rechnung",
            "normal",
            invoice(GERMAN, "Oberwasser GmbH", "RE-2026/0031", date(2026, 3, 2), "EUR", 5),
        ),
        (
            "rechnung-lang",
            "normal",
            invoice(GERMAN, "Oberwasser GmbH", "RE-2026/0032", date(2026, 11, 9), "EUR", 90),
        ),
        (
            "facture",
            "normal",
            invoice(FRENCH, "Les Vannes SARL", "F-2026-117", date(2026, 7, 31), "EUR", 6),
        ),
        (
            "seikyusho",
            "urgent",
            invoice(JAPANESE, "株式会社水門工業", "SK-2026-008", date(2026, 4, 30), "JPY", 5),
        ),
        (
            "receipt",
            "normal",
            receipt(ENGLISH, weir, "R-88120", date(2026, 6, 1), "GBP", Decimal("48.60")),
        ),
        ("agreement", "normal", contract(ENGLISH, parties, "SA-2026-07", date(2026, 1, 15), 40)),
        ("vertrag", "normal", contract(GERMAN, parties, "V-2026-19", date(2026, 2, 1), 25)),
        (
            "statement",
            "normal",
            statement(ENGLISH, harbour, "2026-03", date(2026, 3, 31), "USD", 3),
        ),
        (
            "kontoauszug",
            "bulk",
            statement(GERMAN, "Talbank eG", "7/2026", date(2026, 7, 31), "EUR", 12),
        ),
        (
            "statement-year",
            "bulk",
            statement(ENGLISH, harbour, "2025-Y", date(2025, 12, 31), "USD", 200),
        ),
    ]


def _print(folder: Path, name: str, priority: Priority, story: Story) -> Sample:
    pages = print_pdf(folder / f"{name}.pdf", story.blocks)
    return Sample(f"{name}.pdf", story.fields["kind"], pages, story.fields, priority)


def _encrypted(folder: Path) -> Sample:
    """Write an invoice that opens with a password only."""
    name = "invoice-encrypted.pdf"
    story = invoice(ENGLISH, "Weirside Pumps Ltd", "INV-2026-0144", date(2026, 5, 13), "USD", 3)
    pages = print_pdf(folder / name, story.blocks, password="weir")
    return Sample(name, "invoice", pages, {}, outcome="failed")


def _broken(folder: Path) -> Sample:
    """Write an invoice that was cut off on its way: its first kilobyte alone."""
    name = "invoice-broken.pdf"
    story = invoice(ENGLISH, "Weirside Pumps Ltd", "INV-2026-0145", date(2026, 5, 14), "USD", 3)
    pages = print_pdf(folder / name, story.blocks)
    with (folder / name).open("r+b") as file:
        file.truncate(1024)
    return Sample(name, "invoice", pages, {}, outcome="failed")
