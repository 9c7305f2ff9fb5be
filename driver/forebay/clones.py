"""Clones: a branch of a plain Postgres is a database beside the original, made as its template."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode

import psycopg
from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from forebay.calls import upkeep
from forebay.databricks.lakebase import is_lakebase
from forebay.errors import BranchError
from forebay.pool import Database

MARK = "_branch_"
LONGEST = 63  # bytes of a name in Postgres
MAINTENANCE = ("postgres", "template1")


class Clones:
    """Clones of the database of a URL. One is called like it, then _branch_, then its name."""

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

    def make(self, name: str, life: timedelta | None) -> None:
        clone, source = map(sql.Identifier, (self._clone(name), self.source))
        create = sql.SQL("create database {} template {}").format(clone, source)
        with self._maintenance() as conn:
            try:
                conn.execute(create)
            except psycopg.Error as error:
                raise BranchError(self._sentence(error, conn.info.user)) from error
            try:
                conn.execute(sql.SQL("revoke connect on database {} from public").format(clone))
            except BaseException:
                with suppress(psycopg.Error):
                    conn.execute(sql.SQL("drop database {} with (force)").format(clone))
                raise

    def remove(self, name: str) -> None:
        drop = sql.SQL("drop database {} with (force)").format(sql.Identifier(self._clone(name)))
        with self._maintenance() as conn:
            try:
                conn.execute(drop)
            except psycopg.Error as error:
                raise BranchError(f"{self._clone(name)!r} was not dropped: {error}") from error

    def names(self) -> list[str]:
        with Database(self._url, application_name="forebay branch", role="owner").connect() as conn:
            found = upkeep.list_clones(conn, mark=self.source + MARK)
        return [each.name.removeprefix(self.source + MARK) for each in found]

    def url(self, name: str) -> str:
        return with_dbname(self._url, self._clone(name))

    def shown(self, name: str) -> str:
        url = self.url(name)
        if is_lakebase(url):
            return url
        given = {k: v for k, v in conninfo_to_dict(url).items() if not k.endswith("password")}
        return make_conninfo("", **given)

    def is_surely_ours(self, name: str) -> bool:
        return False  # a name proves nothing

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
            case errors.DuplicateDatabase():
                return (
                    f"There is a database of that name ({said}): delete it, or take another name."
                )
            case errors.InsufficientPrivilege():
                return (
                    f"The role {user!r} may not clone databases ({said}): it has to own"
                    f" {self.source!r} and to have createdb, or be a superuser."
                )
        return f"The database was not cloned: {said}. {detail or ''}".strip()


def with_dbname(url: str, dbname: str) -> str:
    """Return what connects to another database of the same server."""
    if not is_lakebase(url):
        return make_conninfo(url, dbname=dbname)
    place, _, query = url.partition("?")
    return f"{place}?{urlencode(dict(parse_qsl(query)) | {'dbname': dbname})}"
