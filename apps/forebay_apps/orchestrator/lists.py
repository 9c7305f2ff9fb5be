"""What the lists of the dashboard have in common: filters, pages, and the names to pick from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Request

from forebay.calls import viewer
from forebay_apps.orchestrator.filters import Filters, Pair
from forebay_apps.web.database import Access

PAGE_SIZE = 50


def _filters(request: Request) -> Filters:
    return Filters.read(request.query_params)


Filtered = Annotated[Filters, Depends(_filters)]


def agent_names(db: Access) -> list[str]:
    """Return the agents that a filter offers."""
    with db.viewer() as conn:
        return viewer.agent_names(conn)


def query(pairs: Iterable[Pair], before: int | None) -> str:
    """Return the query of a list, of its page that begins after that id."""
    return urlencode([*pairs, *([("before", str(before))] if before else [])])


def older(path: str, pairs: Iterable[Pair], found: Sequence[Any], name: str) -> str | None:
    """Return where the next page is when more rows were found than fit; `name` is that of the id.

    A list asks for one row more than PAGE_SIZE to know that.
    """
    if len(found) <= PAGE_SIZE:
        return None
    return f"{path}?{query(pairs, getattr(found[PAGE_SIZE - 1], name))}"
