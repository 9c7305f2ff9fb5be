"""pgTAP for tests/sql: its SQL, fetched once from a package and checked, and the role to run it as.

pgTAP is plain SQL, so it needs no extension; it is fetched where the tests run and never committed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

import psycopg
from psycopg import sql

from support.server import CALLERS

ROLE = "test_pgtap"
WORDS = Path(__file__).with_name("pgtap_words.sql")
NPM_PACKAGE = "@electric-sql/pglite-pgtap@0.0.15"
DEB_PACKAGE = "postgresql-15-pgtap"
KNOWN = {
    "92ee8ada9672e6201105a78614be8d07b8a76e5c17c85b42c279f6e48c84da68": "1.3.5",
    "203cc5839a143c567bd36ebfc93085fd124be46d0f990b5dba5399a51d6c75e9": "1.2.0",
}


def load(conn: psycopg.Connection) -> None:
    """Load pgTAP and our own words into schema tap, and create the role that runs the SQL tests.

    The role inherits nothing: a test says whose rights it uses, with `set local role`.
    """
    conn.execute("create schema tap")
    conn.execute("grant usage on schema tap to public")
    with conn.transaction():
        conn.execute("set local search_path = tap")
        conn.execute(source().encode())
        conn.execute(WORDS.read_bytes())
    role = sql.Identifier(ROLE)
    members = [sql.Identifier(f"forebay_{name}") for name in (*CALLERS, "owner")]
    conn.execute(sql.SQL("create role {} login noinherit").format(role))
    conn.execute(sql.SQL("grant {} to {}").format(sql.SQL(", ").join(members), role))
    conn.execute(sql.SQL("alter role {} set search_path = tap, public").format(role))


def source() -> str:
    """Return pgTAP's SQL, from the cache or else from a package."""
    cached = _cache() / "pgtap.sql"
    if not cached.exists() or _digest(cached) not in KNOWN:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            found = _fetch(Path(folder))
            draft = cached.with_suffix(f".{os.getpid()}")
            shutil.copyfile(found, draft)
            draft.replace(cached)
    return cached.read_text()


def _fetch(folder: Path) -> Path:
    """Unpack a package with pgTAP into folder and return its SQL file, one whose hash is known."""
    problems = []
    for fetch in (_from_npm, _from_debian):
        try:
            fetch(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            problems.append(str(error))
        for path in folder.rglob("pgtap--*.sql"):
            if _digest(path) in KNOWN:
                return path
    raise RuntimeError(
        f"pgTAP could not be fetched ({'; '.join(problems) or 'no known version'}): the SQL tests"
        f" need npm (package {NPM_PACKAGE}) or apt-get (package {DEB_PACKAGE})."
    )


def _from_npm(folder: Path) -> None:
    _run(folder, "npm", "pack", "--silent", NPM_PACKAGE)
    for archive in folder.glob("*.tgz"):
        _unpack(archive, folder)
    for archive in folder.rglob("pgtap.tar.gz"):
        _unpack(archive, folder)


def _from_debian(folder: Path) -> None:
    _run(folder, "apt-get", "download", DEB_PACKAGE)
    for archive in folder.glob("*.deb"):
        _run(folder, "dpkg-deb", "-x", str(archive), str(folder))


def _run(folder: Path, *command: str) -> None:
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _unpack(archive: Path, folder: Path) -> None:
    with tarfile.open(archive) as tar:
        if hasattr(tarfile, "data_filter"):  # Python 3.11.4 and newer; Debian 12 has 3.11.2
            tar.extraction_filter = tarfile.data_filter
        tar.extractall(folder)


def _cache() -> Path:
    root = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(root).expanduser() / "forebay-tests"


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
