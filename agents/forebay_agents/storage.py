"""Find a document below the storage roots, and nowhere else."""

import os
from pathlib import Path

from forebay.agent import Reject, Retry

ROOTS = "FOREBAY_STORAGE_ROOTS"
"""The setting: folders that documents are read from, separated as in PATH."""


def locate(document: object) -> Path:
    """Return the path of `document`, which a payload gives relative to a storage root or below one.

    The first root that holds it wins; a file that does not exist is located in the first root.
    Raises Reject for what is no path or leads outside, links included, and Retry without roots.
    """
    if not isinstance(document, str) or not document.strip() or "\0" in document:
        raise Reject('The payload needs "document": the path of a PDF below a storage root.')
    paths = [(root, (root / document).resolve()) for root in _roots()]
    inside = [path for root, path in paths if path.is_relative_to(root)]
    if not inside:
        raise Reject(f"{document!r} lies outside the storage roots; move it into one of them.")
    return next((path for path in inside if path.exists()), inside[0])


def _roots() -> list[Path]:
    roots = [Path(root).resolve() for root in os.environ.get(ROOTS, "").split(os.pathsep) if root]
    if not roots:
        raise Retry(f"{ROOTS} is not set; name the folders that documents may be read from.")
    return roots
