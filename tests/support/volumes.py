"""A Volume for tests: one of a stand-in workspace, and the storage that speaks with it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from databricks.sdk.clock import RealClock

from forebay.databricks.client import workspace_client
from forebay.storage.volume import VolumeStorage
from forebay_lab.workspace import Workspace
from forebay_lab.workspace.files import Files

VOLUME = "main.docs.inbox"
ROOT = "/Volumes/main/docs/inbox"


class QuickClock(RealClock):
    """A clock for the SDK that goes forward instead of waiting."""

    def __init__(self) -> None:
        self._skipped = 0.0

    def time(self) -> float:
        return time.time() + self._skipped

    def sleep(self, seconds: float) -> None:
        self._skipped += seconds
        time.sleep(0.01)


@dataclass(frozen=True, slots=True)
class Volume:
    """A Volume: the workspace that serves it, and the folder of this machine that has its files."""

    workspace: Workspace
    files: Files
    folder: Path

    def storage(self, root: str = ROOT, **options: Any) -> VolumeStorage:
        """Return a storage for it, with a client of its own; the SDK waits for nothing."""
        own = {"host": self.workspace.url, "token": self.workspace.token, "clock": QuickClock()}
        client = workspace_client(**(own | options))
        return VolumeStorage(root, lambda: client)

    def environment(self) -> dict[str, str]:
        """Return the variables by which the package finds it."""
        return {
            "DATABRICKS_HOST": self.workspace.url,
            "DATABRICKS_TOKEN": self.workspace.token,
            "FOREBAY_STORAGE_ROOTS": ROOT,
        }

    def calls(self, method: str, part: str) -> list[int]:
        """Return how each request of a method to a path that holds `part` was answered."""
        return [
            one.status for one in self.workspace.log if one.method == method and part in one.path
        ]


@contextmanager
def served_volume(folder: Path) -> Iterator[Volume]:
    """Serve a workspace whose only Volume has its files below `folder`."""
    with Workspace() as workspace:
        files = Files(workspace)
        files.add_volume(VOLUME, folder / "inbox")
        workspace.add(files)
        yield Volume(workspace, files, folder / "inbox")
