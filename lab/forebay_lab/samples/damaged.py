"""Files that nobody can read: locked, cut off, empty, or no PDF at all."""

from pathlib import Path

from forebay_lab.samples.plan import Plan
from forebay_lab.samples.printing import print_plan

PLAN = Plan("invoice-damaged", "gb", "two_columns")


def encrypted(path: Path) -> int:
    """Write an invoice that opens with a password only; returns its pages."""
    return print_plan(PLAN, path, password="weir").pages


def broken(path: Path) -> int:
    """Write an invoice that was cut off on its way: its first kilobyte alone."""
    pages = print_plan(PLAN, path).pages
    with path.open("r+b") as file:
        file.truncate(1024)
    return pages


def empty(path: Path) -> int:
    """Write a file without a byte in it."""
    path.write_bytes(b"")
    return 0


def no_pdf(path: Path) -> int:
    """Write a web page under the name of a PDF, as a failed download leaves it."""
    path.write_text("<!doctype html><title>Please log in</title><p>Your session has ended.</p>\n")
    return 0


DAMAGED = {
    "invoice-encrypted": encrypted,
    "invoice-broken": broken,
    "invoice-empty": empty,
    "invoice-login-page": no_pdf,
}
"""What writes each, by the name of its sample."""
