"""The logins that docs/operating.md creates may do all that the apps do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import psycopg
import pytest

from apps.conftest import ClientOf, Serve
from apps.support.busy import Busy
from apps.support.serving import Served, Which
from forebay_apps.web.pages import PageRoute
from support.server import TestServer

OPERATING = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
QUERIES = {"/act": "?act=cancel&task={task_id}", "/agents/one": "?agent=classify"}
"""What pages cannot be without."""


@pytest.fixture
def documented_login(server: TestServer, superuser: psycopg.Connection) -> Iterator[None]:
    """Create the logins as the document says."""
    block = OPERATING[OPERATING.index("create role forebay_app_intake") :].split("```")[0]
    names = re.findall(r"create role (\w+)", block)
    with superuser.transaction():
        superuser.execute(block.encode())
    yield
    superuser.execute(f"drop role {', '.join(names)}".encode())


@pytest.mark.usefixtures("documented_login")
@pytest.mark.parametrize("which", ["intake", "orchestrator"])
def test_every_page_is_whole(
    serve: Serve,
    server: TestServer,
    superuser: psycopg.Connection,
    client: ClientOf,
    busy: Busy,
    which: Which,
) -> None:
    """No page, and no live part of one, lacks a right or stumbles over what is in the database."""
    dsn = server.dsn(f"forebay_app_{which}", superuser.info.dbname)
    app = serve(which, FOREBAY_DATABASE_URL=dsn)
    admin = client(app, "root")
    paths = pages(app)
    assert len(paths) > 3
    for path in paths:
        address = (path + QUERIES.get(path, "")).format(
            task_id=busy.retried, batch_id=busy.done_batch
        )
        answer = admin.get(address, headers={"Accept": "text/html"})
        assert answer.status_code == 200, f"{address}: {answer.text[-600:]}"
        assert "Something is broken" not in answer.text, address


def pages(app: Served) -> list[str]:
    """Return the paths of an app's pages."""
    routes = chain.from_iterable(router.routes for router in app.app.state.site.routers)
    return [route.path for route in routes if isinstance(route, PageRoute)]
