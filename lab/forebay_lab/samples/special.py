"""Samples that something happens to after printing: scans, odd pages, e-invoices."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from pathlib import Path

from pypdf import PdfReader, PdfWriter
from pypdf.generic import NameObject

from forebay_lab.samples import cii, ubl
from forebay_lab.samples.bill import Bill
from forebay_lab.samples.paging import lay_sideways, part_with_blank, scan, stamp
from forebay_lab.samples.plan import Plan
from forebay_lab.samples.printing import Printed, print_bill, print_plan

Finish = Callable[[Plan, Path, Printed], int | None]
"""Does to a printed file what makes it special; returns its pages where they are others now."""


def _scanned(plan: Plan, path: Path, printed: Printed) -> None:
    scan(path)


def _scanned_sideways(plan: Plan, path: Path, printed: Printed) -> None:
    scan(path, turn=90)


def _last_page_scanned(plan: Plan, path: Path, printed: Printed) -> None:
    scan(path, [printed.pages - 1])


def _blank_inside(plan: Plan, path: Path, printed: Printed) -> int:
    return part_with_blank(path)


def _sideways(plan: Plan, path: Path, printed: Printed) -> None:
    lay_sideways(path)


def _stamped(plan: Plan, path: Path, printed: Printed) -> None:
    stamp(path, "COPY")


def _comfort(plan: Plan, path: Path, printed: Printed) -> None:
    attach(path, "factur-x.xml", cii.write(plan.bill()))


def _basic(plan: Plan, path: Path, printed: Printed) -> None:
    profile = "#compliant#urn:factur-x.eu:1p0:basic"
    attach(path, "factur-x.xml", cii.write(plan.bill(), profile))


def _old(plan: Plan, path: Path, printed: Printed) -> None:
    attach(path, "ZUGFeRD-invoice.xml", cii.write_old(plan.bill()))


def _ubl(plan: Plan, path: Path, printed: Printed) -> None:
    attach(path, "xrechnung.xml", ubl.write(plan.bill()))


def _at_odds(plan: Plan, path: Path, printed: Printed) -> None:
    """Let the page say one item fewer and a later day than the XML, which holds the truth."""
    bill = plan.bill()
    print_bill(plan, _altered(bill), path)
    attach(path, "factur-x.xml", cii.write(bill))


def _altered(bill: Bill) -> Bill:
    assert bill.due is not None
    return replace(bill, items=bill.items[:-1], due=bill.due + timedelta(days=16))


def attach(path: Path, name: str, xml: bytes) -> None:
    """Put XML into a PDF as e-invoices carry it: an associated file that says the same."""
    writer = PdfWriter(clone_from=PdfReader(BytesIO(path.read_bytes())))
    file = writer.add_attachment(name, xml)
    file.associated_file_relationship = NameObject("/Alternative")
    file.subtype = NameObject("/text/xml")
    writer.write(path)


SPECIAL: tuple[tuple[Plan, Finish], ...] = (
    (Plan("us-scan-invoice", "us", "two_columns", font="vera", days="MMMM d, yyyy"), _scanned),
    (Plan("de-scan-rechnung", "de", "window", font="vera", days="dd.MM.yyyy"), _scanned),
    (Plan("fr-scan-facture", "fr", "header_grid", font="vera", days="dd/MM/yyyy"), _scanned),
    (Plan("nl-scan-factuur", "nl", "centred", font="vera", days="d MMMM yyyy"), _scanned),
    (Plan("pt-scan-recibo", "pt", "online", "receipt", font="vera"), _scanned),
    (Plan("es-scan-girada", "es", "plain", font="vera", days="dd/MM/yyyy"), _scanned_sideways),
    (Plan("gb-scan-last-page", "gb", "header_grid", font="vera", count=36), _last_page_scanned),
    (Plan("it-pagina-bianca", "it", "window", count=34), _blank_inside),
    (Plan("gb-sideways", "gb", "wide", count=5, days="d MMMM yyyy"), _sideways),
    (Plan("gb-copy", "gb", "two_columns", count=5, days="dd/MM/yyyy"), _stamped),
    (Plan("de-zugferd", "de", "window", font="vera", rates=2), _comfort),
    (Plan("de-zugferd-gutschrift", "de", "centred", "credit_note", font="vera"), _comfort),
    (Plan("fr-facturx-basic", "fr", "tax_table", font="vera"), _basic),
    (Plan("fr-facturx-autre", "fr", "two_columns", font="vera"), _at_odds),
    (Plan("de-zugferd-eins", "de", "two_columns", font="vera"), _old),
    (Plan("de-xrechnung", "de", "header_grid", font="vera"), _ubl),
)


def print_special(plan: Plan, finish: Finish, path: Path) -> Printed:
    """Print what is planned and finish it."""
    printed = print_plan(plan, path)
    return replace(printed, pages=finish(plan, path, printed) or printed.pages)
