"""Clones: a branch of a plain Postgres is a database beside the original, made as its template."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from forebay.calls import upkeep
from forebay.copies import Copy
from forebay.databricks.lakebase import is_lakebase
from forebay.errors import BranchError, ConnectError, ForebayError
from forebay.logs import first_line
from forebay.pool import Database

MARK = "_branch_"
LONGEST = 63  # bytes of a name in Postgres
MAINTENANCE = ("postgres", "template1")
SECRETS = ("password", "secret")
OIDS = (1 << 31, 1 << 32)
"""From where up to where we choose those of clones: the server is slow to come that far."""

PATIENCE = 10.0
"""Seconds in which somebody who may not be cut off can leave a clone that is dropped."""

CREATE = sql.SQL("create database {} template {} allow_connections false oid {}")
DROP = sql.SQL("drop database {} with (force)")


class Clones:
    """Clones of the database of a URL. One is called like it, then _branch_, then its name."""

    finding_is_proof = False  # whoever makes a database may call it so
    brings_others = False
    cleaning: tuple[str, ...] = (
        "vacuum (full, analyze)",
        "set role none",  # who made the clone owns it
        "vacuum (full) pg_catalog.pg_statistic",
    )

    def __init__(self, url: str) -> None:
        self._url = url
        self._source: str | None = None

    @property
    def source(self) -> str:
        """Return the name of the database that is cloned; asked of it, as it may be a default."""
        if self._source is None:
            with Database(self._url, application_name="forebay branch").connect() as conn:
                self._source = conn.info.dbname
        return self._source

    def check(self, name: str, life: timedelta | None) -> None:
        if life is not None:
            raise BranchError("Only a branch of Lakebase can have a time to live.")
        if not name.strip() or "\0" in name or not name.isprintable():
            raise BranchError(f"{name!r} is no name for a branch: use letters, digits and hyphens.")
        if len(self._clone(name).encode()) > LONGEST:
            raise BranchError(
                f"The name {name!r} is too long: {self._clone(name)!r} would be a database's, which"
                f" has {LONGEST} bytes at most."
            )

    def make(self, name: str, life: timedelta | None) -> Copy:
        """Make it shut, as its first moment is open to everybody; then let in its owner alone.

        It is known by an oid that is chosen before: so it can be taken back whatever ends this.
        """
        copy = Copy(name, identity=str(secrets.choice(range(*OIDS))))
        try:
            self._make(copy)
        except ConnectError:  # nothing was begun
            raise
        except BaseException as error:
            self._take_back(copy, error)
            raise
        return copy

    def _make(self, copy: Copy) -> None:
        clone, source = map(sql.Identifier, (self._clone(copy.name), self.source))
        with self._maintenance() as conn:
            try:
                conn.execute(CREATE.format(clone, source, sql.Literal(int(copy.identity or 0))))
            except psycopg.Error as error:
                raise BranchError(self._sentence(error, conn.info.user)) from error
            conn.execute(sql.SQL("revoke connect on database {} from public").format(clone))
            conn.execute(sql.SQL("alter database {} allow_connections true").format(clone))

    def _take_back(self, copy: Copy, error: BaseException) -> None:
        try:
            self.remove(copy)
        except (ForebayError, psycopg.Error, KeyboardInterrupt) as failed:
            raise BranchError(
                f"{first_line(error)} What was made of {self._clone(copy.name)!r} may be there, and"
                f" is NOT masked: it could not be removed ({first_line(failed)})."
            ) from error

    def remove(self, copy: Copy) -> None:
        clone = self._clone(copy.name)
        with self._maintenance() as conn:
            if copy.identity is not None and _oid(conn, clone) != copy.identity:
                return
            try:
                _drop(conn, sql.Identifier(clone))
            except errors.InvalidCatalogName:
                return
            except psycopg.Error as error:
                raise BranchError(f"{clone!r} was not dropped: {error}") from error

    def found(self, source: psycopg.Connection[Any]) -> list[Copy]:
        mark = source.info.dbname + MARK
        found = upkeep.list_clones(source, mark=mark)
        return [Copy(each.name.removeprefix(mark), each.is_shut) for each in found]

    def url(self, name: str) -> str:
        return with_dbname(self._url, self._clone(name))

    def shown(self, name: str) -> str:
        url = self.url(name)
        if is_lakebase(url):
            return url
        given = {k: v for k, v in conninfo_to_dict(url).items() if not k.endswith(SECRETS)}
        return make_conninfo("", **given)

    def _clone(self, name: str) -> str:
        return f"{self.source}{MARK}{name}"

    @contextmanager
    def _maintenance(self) -> Iterator[psycopg.Connection[Any]]:
        """Connect to a database of the server beside ours, which has to be left alone."""
        beside = next(each for each in MAINTENANCE if each != self.source)
        where = Database(with_dbname(self._url, beside), application_name="forebay branch")
        with where.connect() as conn:
            yield conn

    def _sentence(self, error: psycopg.Error, user: str) -> str:
        said = error.diag.message_primary or str(error)
        detail = error.diag.message_detail
        match error:
            case errors.ObjectInUse():
                return (
                    f"The database {self.source!r} is in use ({detail or said}): a clone needs it"
                    " for itself, so stop what is connected to it (forebay run, the web apps), and"
                    " start it again afterwards."
                )
            case errors.DuplicateDatabase() | errors.UniqueViolation():  # two at once
                return (
                    f"There is a database of that name ({said}): delete it, or take another name."
                )
            case errors.InsufficientPrivilege():
                return (
                    f"The role {user!r} may not clone databases ({said}): it has to own"
                    f" {self.source!r} and to have createdb, or be a superuser."
                )
        return f"The database was not cloned: {said}. {detail or ''}".strip()


def _drop(conn: psycopg.Connection[Any], clone: sql.Identifier) -> None:
    """Drop a database, whoever is connected to it.

    A superuser's session there, as one of autovacuum is, may not be cut off by another role: where
    it does not end soon, Postgres says so.
    """
    give_up_at = time.monotonic() + PATIENCE
    while True:
        try:
            conn.execute(DROP.format(clone))
            return
        except errors.InsufficientPrivilege:
            if time.monotonic() > give_up_at:
                raise
        time.sleep(0.2)


def _oid(conn: psycopg.Connection[Any], dbname: str) -> str | None:
    row = conn.execute("select oid::text from pg_database where datname = %s", [dbname]).fetchone()
    return row[0] if row else None


def with_dbname(url: str, dbname: str) -> str:
    """Return what connects to another database of the same server."""
    if not is_lakebase(url):
        return make_conninfo(url, dbname=dbname)
    place, _, query = url.partition("?")
    return f"{place}?{urlencode(dict(parse_qsl(query)) | {'dbname': dbname})}"
