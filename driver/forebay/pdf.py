"""What a file must begin with to be taken for a PDF: one rule for all who take files."""

HEADER_WINDOW = 1024
"""Bytes in which `%PDF-` must stand: readers accept junk before it."""


def header_problem(head: bytes) -> str | None:
    """Return why a file that begins so is no PDF, as a sentence without its subject, or None."""
    if not head:
        return "is empty (0 bytes): export it again."
    if b"%PDF-" not in head[:HEADER_WINDOW]:
        return "is not a PDF (it does not start with %PDF-): export it as PDF."
    return None
