"""The database that all walks of a test share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import psycopg
import pytest

pytest.register_assert_rewrite("model.compare", "model.machine")

from model.stage import Stage  # noqa: E402


@pytest.fixture
def stage(superuser: psycopg.Connection, role_dsn: Callable[..., str]) -> Iterator[Stage]:
    """Return the one database that all walks of a test use, emptied before each."""
    stage = Stage(superuser, role_dsn("all"))
    yield stage
    stage.close()
