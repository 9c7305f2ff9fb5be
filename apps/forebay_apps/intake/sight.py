"""A batch as the person who asks may see it: its owner, or an admin, who may read all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from forebay.calls import reader, submitter
from forebay.errors import UnknownBatchError, UnknownTaskError
from forebay.rows import BatchOutlook, BatchResult, BatchTask, TaskExplanation, TaskStatus
from forebay_apps.web.database import Access
from forebay_apps.web.errors import Refusal

NOT_THERE = "This batch does not exist, or is somebody else's."
ROWS = 20
"""How many results are read at a time: each may have 1 MiB."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Sight:
    """A batch that the person may see, as it was when it was looked for."""

    batch: BatchOutlook
    is_own: bool
    db: Access

    @classmethod
    def of(cls, db: Access, batch_id: int) -> Sight:
        """Look for a batch; raises Refusal for what is not the person's to see."""
        try:
            with db.submitter() as conn:
                own = submitter.batch_outlook(conn, batch_id=batch_id, actor=db.person.name)
                return cls(own, True, db)
        except UnknownBatchError as error:
            if not db.person.may("admin"):
                raise Refusal(404, NOT_THERE) from error
        with db.reader() as conn:
            return cls(reader.read_batch_outlook(conn, batch_id=batch_id), False, db)

    def tasks(
        self,
        *,
        statuses: Sequence[TaskStatus] | None = None,
        after_task_id: int | None = None,
        limit: int,
    ) -> list[BatchTask]:
        """Return its tasks after that one, by id."""
        return self._ask(
            submitter.batch_tasks,
            reader.read_batch_tasks,
            statuses=statuses,
            after_task_id=after_task_id,
            limit=limit,
        )

    def least_sure(self, *, after_task_id: int | None = None, limit: int) -> list[BatchTask]:
        """Return its completed tasks after that one, the least sure first.

        Raises UnknownTaskError where that one is none of them.
        """
        return self._ask(
            submitter.batch_tasks_by_confidence,
            reader.read_batch_tasks_by_confidence,
            after_task_id=after_task_id,
            limit=limit,
        )

    def task(self, task_id: int) -> BatchTask:
        """Return one of its tasks; raises UnknownTaskError for one that is not in it."""
        found = self.tasks(after_task_id=task_id - 1, limit=1)
        if not found or found[0].task_id != task_id:
            raise UnknownTaskError("This batch has no such document.")
        return found[0]

    def explanations(self, tasks: Sequence[BatchTask], most: int = 1) -> dict[int, TaskExplanation]:
        """Return why the first of these tasks wait that do, by their ids."""
        waiting = [task.task_id for task in tasks if task.status == "enqueued"][:most]
        if not waiting:
            return {}
        found = self._ask(
            submitter.batch_explanations, reader.read_batch_explanations, task_ids=waiting
        )
        return {each.task_id: each for each in found}

    def results(self) -> Iterator[BatchResult]:
        """Yield all of its results, by id, a few at a time; no connection is held in between."""
        last: int | None = None
        while rows := self._results(after_task_id=last, limit=ROWS):
            yield from rows
            last = rows[-1].task_id

    def result(self, task_id: int) -> BatchResult:
        """Return one of its results; raises UnknownTaskError for a task that is not in it."""
        found = self._results(task_ids=[task_id], limit=1)
        if not found:
            raise UnknownTaskError("This batch has no such document.")
        return found[0]

    def _results(self, **arguments: Any) -> list[BatchResult]:
        return self._ask(submitter.batch_results, reader.read_batch_results, **arguments)

    def _ask(
        self, own: Callable[..., list[T]], read: Callable[..., list[T]], **arguments: Any
    ) -> list[T]:
        batch_id = self.batch.batch_id
        if self.is_own:
            with self.db.submitter() as conn:
                return own(conn, batch_id=batch_id, actor=self.db.person.name, **arguments)
        with self.db.reader() as conn:
            return read(conn, batch_id=batch_id, **arguments)
