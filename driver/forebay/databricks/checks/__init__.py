"""The doctor's checks: each group gives its findings, the good ones too; one line each."""

from __future__ import annotations

from dataclasses import dataclass

from forebay.databricks.checks import callback, database, documents, jobs, others
from forebay.databricks.findings import Group
from forebay.databricks.principals import Part

READERS: tuple[Part, ...] = ("agent", "person")


@dataclass(frozen=True, slots=True)
class Check:
    """A group of checks, and the parts that need what it looks at."""

    group: Group
    parts: tuple[Part, ...] = ("orchestrator", "intake", "agent", "person")


GROUPS: dict[str, Check] = {
    "database": Check(database.database),
    "job": Check(jobs.jobs, ("orchestrator", "person")),
    "permission": Check(others.others, ("person",)),
    "documents": Check(documents.documents, ("intake", *READERS)),
    "warehouse": Check(documents.warehouse, ("orchestrator", *READERS)),
    "serving endpoint": Check(documents.endpoints, READERS),
    "experiment": Check(documents.experiment, ("orchestrator", *READERS)),
    "secret": Check(callback.kept_secrets),
    "callback": Check(callback.callback, READERS),
}
