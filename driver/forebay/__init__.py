"""Forebay: the control plane of long-running agent work in one Postgres database.

The names below are loaded when they are first used, so that importing the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from forebay.agent import Attempt, Reject, Result, Retry
    from forebay.errors import ForebayError
    from forebay.listen import Listener
    from forebay.pool import Database
    from forebay.worker import Task, Worker

__version__ = "0.5.1"

__all__ = [
    "Attempt",
    "Database",
    "ForebayError",
    "Listener",
    "Reject",
    "Result",
    "Retry",
    "Task",
    "Worker",
    "__version__",
]

_HOMES = {
    "Attempt": "agent",
    "Database": "pool",
    "ForebayError": "errors",
    "Listener": "listen",
    "Reject": "agent",
    "Result": "agent",
    "Retry": "agent",
    "Task": "worker",
    "Worker": "worker",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"forebay.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
