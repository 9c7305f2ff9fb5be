"""What is on disk: the SQL files of db/ in the order in which they are applied."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from forebay.errors import ForebayError

Kind = Literal["versioned", "repeatable", "release"]

GRANTS = "grants.sql"
FUNCTION_FOLDERS = (
    "internal",
    "submitter",
    "worker",
    "agent",
    "operator",
    "viewer",
    "reader",
    "upkeep",
)
FOLDERS = ("migrations", *(f"functions/{folder}" for folder in FUNCTION_FOLDERS), "triggers")

_MIGRATION = re.compile(r"migrations/\d{4}_[a-z0-9_]+\.sql")
_OPAQUE = re.compile(
    r"""--[^\n]* | /\*.*?\*/ | '(?:[^']|'')*' | "[^"]*" | (?P<tag>\$\w*\$).*?(?P=tag)""",
    re.DOTALL | re.VERBOSE,
)
_TRANSACTION_CONTROL = re.compile(
    r"(?:^|;)\s*(begin|start\s+transaction|commit|rollback|abort|savepoint)\b", re.IGNORECASE
)


class SchemaError(ForebayError):
    """Say in one sentence why the schema cannot be used or changed as asked, and what to do."""


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One file: its path below db/ with forward slashes, its text, and the sha256 of the text."""

    name: str
    kind: Kind
    sql: str
    sha256: str


def sql_root() -> Path:
    """Return the folder of SQL files: inside an installed package, else the checkout's db/."""
    packaged = Path(str(resources.files("forebay"))) / "db"
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "db"


def load(root: Path | None = None) -> list[SqlFile]:
    """Return the files of root in load order: migrations, functions, triggers, grants.

    Raises SchemaError for a file that would never be applied, is misnamed, or ends the transaction.
    """
    root = root or sql_root()
    if not (root / "migrations").is_dir():
        raise SchemaError(f"{root} holds no folder migrations: pass the db folder of Forebay.")
    _refuse_strays(root)
    files = [_read(root, path) for path in _paths(root)]
    numbers = [file.name[:15] for file in files if file.kind == "versioned"]
    for number in numbers:
        if numbers.count(number) > 1:
            raise SchemaError(f"Two files begin with {number}: give one of them the next number.")
    return files


def _paths(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((root / folder).glob("*.sql"))
    if (root / GRANTS).exists():
        yield root / GRANTS


def _refuse_strays(root: Path) -> None:
    for top in ("functions", "triggers"):
        for path in (root / top).rglob("*.sql"):
            folder = path.parent.relative_to(root).as_posix()
            if folder not in FOLDERS:
                raise SchemaError(f"{folder}/{path.name} is in no folder that is loaded: move it.")


def _read(root: Path, path: Path) -> SqlFile:
    name = path.relative_to(root).as_posix()
    sql = path.read_text(encoding="utf-8")
    is_migration = name.startswith("migrations/")
    if is_migration and not _MIGRATION.fullmatch(name):
        raise SchemaError(f"{name} is no name of a migration: call it like 0001_verb_noun.sql.")
    if found := _TRANSACTION_CONTROL.search(_OPAQUE.sub(_blank, sql)):
        line = sql.count("\n", 0, found.start(1)) + 1
        raise SchemaError(
            f"{name}:{line}: remove {found[1].upper()}: all files are applied in one transaction."
        )
    sha256 = hashlib.sha256(sql.encode()).hexdigest()
    return SqlFile(name, "versioned" if is_migration else "repeatable", sql, sha256)


def _blank(opaque: re.Match[str]) -> str:
    """Keep the length and the lines of a comment or literal, not its text."""
    return re.sub(r"[^\n]", " ", opaque[0])
