"""What the command line says when it cannot do what was asked: one sentence, and exit code 1."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psycopg


COMMANDS = {
    "register_agent": "agent set",
    "agent_status()": "agent list",
    "resume_agent": "agent resume",
    "register_quota": "quota set",
    "quota_status()": "quota list",
    "register_customer": "customer set",
    "lift_spend_cap": "agent lift",
}
ROLES = ("submitter", "viewer", "operator", "reader", "worker", "agent", "upkeep")


class Refused(Exception):
    """Stop the command; the text is one sentence that names what is wrong and how to fix it."""


def sentence(error: Exception) -> str:
    """Return what to tell the person about error, on one line."""
    return " ".join(_sentence(error).split())


def _sentence(error: Exception) -> str:
    import psycopg

    from forebay.embedded import EmbeddedPostgresError
    from forebay.errors import ForebayError
    from forebay.schema import SchemaError
    from forebay.storage import StorageError

    match error:
        case Refused() | EmbeddedPostgresError() | SchemaError() | StorageError():
            return str(error)
        case ForebayError():
            return _joined(_as_typed(str(error)), error.detail, _as_typed(error.hint))
        case psycopg.Error():
            return _of_the_database(error)
        case UnicodeEncodeError():
            return f"{error.object!r} is not UTF-8: write it in UTF-8."
        case OSError(strerror=str(what), filename=str(name)):
            return f"{name}: {what}.{_of_home(name)}"
        case OSError(strerror=str(what)):
            return f"The system refused to go on: {what}."
    return (
        f"Unexpected {type(error).__name__}: {error}."
        " This is a bug: run it again with FOREBAY_DEBUG=1 and report what that shows."
    )


def _of_home(name: str) -> str:
    """Return what to do where FOREBAY_HOME says that a file or a folder is to be there."""
    if not (said := os.environ.get("FOREBAY_HOME")):
        return ""
    path, home = os.path.abspath(name), os.path.abspath(said)
    is_its = os.path.commonpath([path, home]) in (path, home)  # within it, or above it
    return " Correct FOREBAY_HOME, which names it." if is_its else ""


def _of_the_database(error: psycopg.Error) -> str:
    from psycopg import errors

    said = (error.diag.message_primary or str(error)).rstrip()
    match error:
        case errors.InvalidSchemaName() | errors.UndefinedFunction():
            return (
                f"The database has no Forebay, or another version of it ({said}):"
                " run 'forebay db upgrade'."
            )
        case errors.InsufficientPrivilege():
            return f"The database refuses this login ({said}): grant it {_role_for(said)}."
        case _ if error.sqlstate is None:
            return f"Cannot reach the database ({said}): check --dsn or FOREBAY_DATABASE_URL."
    hint = _as_typed(error.diag.message_hint)
    return _joined(_as_typed(said), error.diag.message_detail, hint)


def _as_typed(text: str | None) -> str | None:
    """Return the database's text with the names that a person types here in place of SQL's."""
    for function, command in COMMANDS.items():
        text = text and text.replace(f"forebay.{function}", f"'forebay {command}'")
    return text and re.sub(r"\bp_(?=[a-z_]+ (must|may) )|(?<=needs )p_", "", text)


def _role_for(refusal: str) -> str:
    """Return the role that may call the function which the refusal names at its end."""
    function = refusal.rsplit(" ", 1)[-1]
    for role in ROLES:
        if hasattr(import_module(f"forebay.calls.{role}"), function):
            return f"forebay_{role}"
    return "the forebay_* role for that"


def _joined(*parts: str | None) -> str:
    """Return the parts as sentences."""
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts if part)
