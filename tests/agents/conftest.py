"""Fixtures: the samples, printed once, and an agent run that takes a path."""

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from forebay.agent import Result
from forebay_lab.samples import Sample, write_samples
from support.scans import FakeTesseract

Parse = Callable[[Path], Result]


@dataclass
class RecordedAttempt:
    """Stand in for a launched attempt: remember what it says, be cancelled after some reports."""

    payload: dict[str, Any]
    cancel_after: int | None = None
    task_id: int = 1
    attempt_id: int = 1
    attempt_no: int = 1
    agent: str = "documents"
    reports: list[tuple[int, int]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    earlier: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    asked: list[tuple[int, int | None, str | None]] = field(default_factory=list)
    time_left: float = math.inf
    database: str = "a"
    is_away: bool = False

    @property
    def launch_key(self) -> str:
        return f"{self.database}{self.attempt_id}"

    def known(self, attempts: Collection[tuple[int, str]]) -> set[str] | None:
        own = {(attempt_id, f"{self.database}{attempt_id}") for attempt_id, _ in attempts}
        return None if self.is_away else {key for _, key in own.intersection(attempts)}

    def progress(self, done: int, total: int) -> None:
        self.reports.append((done, total))

    def usage(self, call: Mapping[str, Any], attempt_id: int | None = None) -> None:
        if attempt_id is None:
            self.calls.append(dict(call))
        else:
            self.earlier.append((attempt_id, dict(call)))

    def paid(self) -> list[dict[str, Any]]:
        """Return the calls that used something."""
        return [call for call in self.calls if call.get("input_tokens")]

    def wait_to_call(
        self, tokens: int, output_tokens: int | None = None, call_id: str | None = None
    ) -> None:
        self.asked.append((tokens, output_tokens, call_id))

    def cancelled(self) -> bool:
        return self.cancel_after is not None and len(self.reports) >= self.cancel_after

    def seconds_left(self) -> float:
        return self.time_left


def accepted(result: Result) -> Result:
    """Tell the result that it is stored, as who runs the agent does."""
    if result.accepted:
        result.accepted()
    return result


@pytest.fixture
def attempt() -> type[RecordedAttempt]:
    """Give the class, so that a test sets payload and cancellation."""
    return RecordedAttempt


@pytest.fixture
def parse(monkeypatch: pytest.MonkeyPatch) -> Parse:
    """Parse a file with its folder as the only storage root."""

    from forebay_agents.parse_document import run

    def parse(path: Path) -> Result:
        monkeypatch.setenv("FOREBAY_STORAGE_ROOTS", str(path.parent))
        return accepted(run(RecordedAttempt({"document": path.name, "name": path.name})))

    return parse


@pytest.fixture
def storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only storage root."""
    folder = tmp_path / "storage"
    folder.mkdir()
    monkeypatch.setenv("FOREBAY_STORAGE_ROOTS", str(folder))
    return folder


@pytest.fixture
def tesseract(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], FakeTesseract]:
    """Return a function that puts a tesseract of so many seconds a page before the real one."""

    def install(seconds: float) -> FakeTesseract:
        (tmp_path / "bin").mkdir()
        fake = FakeTesseract(tmp_path / "bin", seconds)
        monkeypatch.setenv("PATH", fake.path)
        return fake

    return install


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder that the samples are in."""
    return tmp_path_factory.mktemp("samples")


@pytest.fixture(scope="session")
def samples(folder: Path) -> dict[str, Sample]:
    """Print the samples; give their truth by file name."""
    return {sample.name: sample for sample in write_samples(folder)}
