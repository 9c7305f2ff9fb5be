"""Fixtures of the tests that run daemons, and agents in processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support.cli import Cli
from support.daemon import install_fake_agents


@pytest.fixture
def cli(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    role_dsn: Callable[..., str],
    tmp_path: Path,
) -> Cli:
    """Run commands as a member of every caller's role."""
    monkeypatch.delenv("FOREBAY_DEBUG", raising=False)
    monkeypatch.setenv("FOREBAY_HOME", str(tmp_path))
    monkeypatch.setenv("FOREBAY_DATABASE_URL", role_dsn("all"))
    return Cli(capsys)


@pytest.fixture
def fake_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this process and its children find the entry point `fake`."""
    install_fake_agents(monkeypatch)


@pytest.fixture
def daemon_dsn(role_dsn: Callable[..., str]) -> str:
    """Return the DSN of a role that may do what a daemon does, and no more."""
    return role_dsn("worker", "agent")


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    """Return the file in which the fake agent notes what began and ended."""
    return tmp_path / "diary"
