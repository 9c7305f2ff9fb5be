"""What a deliberate fault is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

INTERNAL = "functions/internal"


class Fault(NamedTuple):
    """One piece of a file of db/ replaced, and the test that must fail then."""

    name: str
    file: str
    piece: str
    replacement: str
    check: Callable[..., Any]
    arguments: tuple[Any, ...] = ()
