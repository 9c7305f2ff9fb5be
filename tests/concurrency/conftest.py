"""The stage: a database of the test's own, as a member of every caller's role sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

from concurrency.stage import Stage


@pytest.fixture
def stage(superuser: psycopg.Connection, role_dsn: Callable[..., str]) -> Iterator[Stage]:
    """Return the test's stage, whose sessions close with it."""
    stage = Stage(superuser, role_dsn("all"))
    yield stage
    stage.close()
