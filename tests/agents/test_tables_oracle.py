"""Our tables of ruled pages are those of pdfplumber, an independent reader of the same lines."""

from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import pdfplumber
import pytest

from forebay_agents.reading.pdf import Pdf
from forebay_lab.samples import Sample

RULED = [
    *("de-angebot", "de-bestellung", "de-rechnung-rabatt", "es-albaran", "es-factura-caja"),
    *("facture", "fr-facture-taux", "gb-delivery-note", "gb-invoice-rates", "gb-invoice-wide"),
    *("gb-sideways", "it-fattura", "it-fattura-larga", "jp-mitsumori", "jp-seikyusho-hyo"),
    *("kontoauszug", "nl-factuur-tarieven", "pt-fatura-grelha", "statement", "us-quote"),
]

PAGES = 3
"""So many pages of each are compared."""

Cells = list[list[str]]


def squeezed(rows: Iterable[Iterable[str | None]]) -> Cells:
    """Return a table without spare space and without rows and columns that hold nothing."""
    texts = [[" ".join((cell or "").split()) for cell in row] for row in rows]
    filled = [column for column in zip(*texts, strict=True) if any(column)]
    return [list(row) for row in zip(*filled, strict=True) if any(row)]


def ours(path: Path) -> list[list[Cells]]:
    """Return the tables of each page as we read them."""
    pdf = Pdf(path)
    pages = range(1, min(len(pdf), PAGES) + 1)
    return [[squeezed(table.rows) for table in pdf.page(number).tables] for number in pages]


def theirs(path: Path) -> list[list[Cells]]:
    """Return those of pdfplumber, as far as they have two rows and two columns."""
    with pdfplumber.open(path) as pdf:
        found = [map(squeezed, page.extract_tables()) for page in islice(pdf.pages, PAGES)]
        return [[t for t in tables if len(t) > 1 and len(t[0]) > 1] for tables in found]


@pytest.mark.parametrize("name", RULED)
def test_tables_are_those_of_pdfplumber(
    name: str, folder: Path, samples: dict[str, Sample]
) -> None:
    """Each cell that lines enclose holds the same words, in the same table, row and column."""
    tables = ours(folder / samples[f"{name}.pdf"].name)
    assert any(tables)
    assert tables == theirs(folder / f"{name}.pdf")
