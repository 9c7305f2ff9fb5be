"""Run the document agent on files of this machine, without a queue and without a database."""

import math
import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forebay import jsonb
from forebay.agent import Reject, Result, Retry
from forebay.storage import FolderStorage, StorageError
from forebay.storage.sentences import translated_errors
from forebay_agents.parse_document import Place, parse

CUT = "Only the beginning of the {} is here: all of it is longer than a result may be."


@dataclass
class StandaloneAttempt:
    """An attempt that nobody launched: `on_progress` hears how far it is."""

    payload: dict[str, Any] = field(default_factory=dict)
    on_progress: Callable[[int, int], None] = lambda done, total: None
    is_stopped: Callable[[], bool] = lambda: False
    task_id: int = 0
    attempt_id: int = 0
    attempt_no: int = 1
    agent: str = "parse_document"
    launch_key: str = "standalone"

    def progress(self, done: int, total: int) -> None:
        self.on_progress(done, total)

    def usage(self, call: Mapping[str, Any], attempt_id: int | None = None) -> None:
        """Nobody counts."""

    def known(self, attempts: Collection[tuple[int, str]]) -> set[str] | None:
        """Know no attempt of any queue."""
        return set()

    def wait_to_call(
        self, tokens: int, output_tokens: int | None = None, call_id: str | None = None
    ) -> None:
        """Go on: nobody shares a quota."""

    def cancelled(self) -> bool:
        return self.is_stopped()

    def seconds_left(self) -> float:
        return math.inf


def parse_file(path: Path, attempt: StandaloneAttempt, *, keep: bool = False) -> dict[str, Any]:
    """Return what came of one file, as JSON: whatever is wrong with it is said in `reason`.

    Keys: document, status, reason, pages (a number), fields, confidence, result. Nothing is left
    beside the file, unless `keep` asks for what does not fit into a result.
    """
    row: dict[str, Any] = {
        "document": os.fsencode(path).decode("utf-8", "replace"),
        "status": "failed",
        "reason": None,
        "pages": None,
        "fields": {},
        "confidence": None,
        "result": None,
    }
    try:
        with _places(path, keep=keep) as (place, beside):
            result = parse(attempt, place, beside)
            if result.accepted:
                result.accepted()
            return row | _success(result, keep=keep)
    except (Reject, Retry) as refusal:
        reason = refusal.reason
    except StorageError as error:
        reason = str(error)
    except Exception as error:  # one document must not end the others
        reason = f"The agent failed on it ({type(error).__name__}: {error}): this is its bug."
    return row | {"reason": jsonb.mended(reason)}


@contextmanager
def _places(path: Path, *, keep: bool) -> Iterator[tuple[Place, Place]]:
    """Give the place of a file, and where to keep what is made of it."""
    with translated_errors(str(path)):
        real = Path(os.path.realpath(path, strict=True))
    place = FolderStorage(real.parent), real.name
    if keep:
        yield place, place
    else:
        with tempfile.TemporaryDirectory(prefix="forebay-parse-") as folder:
            yield place, (FolderStorage(Path(folder)), "document")


def _success(result: Result, *, keep: bool) -> dict[str, Any]:
    data = result.data
    if not keep:
        _forget_files(data)
    return {
        "status": "completed",
        "pages": data["page_count"],
        "fields": data["fields"],
        "confidence": None if result.confidence is None else float(result.confidence),
        "result": data,
    }


def _forget_files(data: dict[str, Any]) -> None:
    """Say of each part that is cut that the rest is gone: nothing was kept beside the file."""
    for key in [key for key in data if key.endswith("_file")]:
        del data[key]
        data["notes"].append(CUT.format(key.removesuffix("_file")))
