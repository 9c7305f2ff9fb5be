"""Rid the storage of uploads that nobody submitted, and of what tasks left beside their documents.

Which these are is the database's matter: it gives a file up for good before it names it here. A
clean-up that dies in between is done again; several may run at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from forebay.calls import upkeep
from forebay.logs import EventLog
from forebay.rows import UploadToClean
from forebay.settings import number
from forebay.storage import StorageError
from forebay_agents import checkpoints
from forebay_apps.intake.settings import IntakeSettings
from forebay_apps.web.database import Connections
from forebay_apps.web.loop import Loop

log = EventLog(__name__)

HOURS = "FOREBAY_UPLOAD_HOURS"
AT_A_TIME = 100


class Cleaner(Loop):
    """Clean up after uploads older than `older_than`; what is cut off, the next one removes."""

    name = "cleaner"
    every = 600.0
    after_an_error = 60.0

    def __init__(
        self, connections: Connections, settings: IntakeSettings, older_than: timedelta
    ) -> None:
        super().__init__()
        self._connections = connections
        self._settings = settings
        self._older_than = older_than

    @classmethod
    def of(
        cls, environment: Mapping[str, str], connections: Connections, settings: IntakeSettings
    ) -> Cleaner:
        """Return the cleaner that is set up. Raises SettingError."""
        hours = number(environment, HOURS, 24, least=0.1, most=24 * 365)
        return cls(connections, settings, timedelta(hours=hours))

    def step(self) -> int:
        """Remove what can go by now, and return of how many uploads something went."""
        cleaned = 0
        while not self.is_stopping:
            found, removed = self._page()
            cleaned += removed
            if found < AT_A_TIME or not removed:
                break
        unfinished = self._remove_unfinished()
        if cleaned or unfinished:
            log.info("uploads_cleaned", uploads=cleaned, unfinished=unfinished)
        return cleaned

    def _remove_unfinished(self) -> int:
        """Remove what uploads left that died, and return how many files."""
        with self._connections.as_role("upkeep") as connection:
            folder = upkeep.folder_to_clean(connection)
        if folder is None:
            return 0
        return self._settings.storage.delete_unfinished(folder, older_than=self._older_than)

    def _page(self) -> tuple[int, int]:
        """Clean up after some uploads; return how many there were, and how many were cleaned."""
        with self._connections.as_role("upkeep") as connection:
            found = upkeep.uploads_to_clean(
                connection, older_than=self._older_than, limit=AT_A_TIME
            )
        removed = [each.upload_id for each in found if self._remove(each)]
        if removed:
            with self._connections.as_role("upkeep") as connection:
                upkeep.uploads_cleaned(connection, upload_ids=removed)
        return len(found), len(removed)

    def _remove(self, each: UploadToClean) -> bool:
        """Remove what a row names, and tell whether that worked."""
        try:
            storage, name = self._settings.locate(each.document)
            if each.what == "file":
                storage.delete(name)
            else:
                checkpoints.remove(storage, name)
        except StorageError as error:
            log.warning("upload_not_cleaned", upload_id=str(each.upload_id), reason=str(error))
            return False
        return True
