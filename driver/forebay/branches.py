"""Branches: copies of the database to debug with, which are masked before anybody hears of them.

What a copy is, and what it may do, the database decides; here are the steps, and their order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, Literal

import psycopg

from forebay import schema
from forebay.calls import operator, upkeep
from forebay.connecting import RETRY_EVERY
from forebay.copies import Copies, Copy, copies_of
from forebay.errors import BranchError, ConnectError, ForebayError, NotABranchError
from forebay.logs import first_line
from forebay.pool import Database
from forebay.rows import BranchState, BranchWord
from forebay.schema import SchemaError

OWNER = "owner"
FIRST_SECONDS = 180
"""How long a new copy may take until it can be connected to."""

OTHER_SCHEMAS = """
select distinct n.nspname from pg_class as c inner join pg_namespace as n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'm') and n.nspname !~ '^(pg_.*|information_schema|forebay)$'
order by 1
"""

DATABASES = """
select datname::text from pg_database where datallowconn and not datistemplate order by 1
"""

HAS_FOREBAY = "select to_regnamespace('forebay') is not null"

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as it was found; `url` connects to it, without a password.

    unfinished: not all masked and vacuumed; unknown: it cannot be asked, and `said` is why.
    """

    name: str
    state: Literal["unfinished", "closed", "open", "unknown"]
    url: str
    branched_at: datetime | None = None
    masked_at: datetime | None = None
    said: str | None = None


STATES: dict[BranchWord, Literal["unfinished", "closed", "open"]] = {
    "copy": "unfinished",
    "unfinished": "unfinished",
    "closed": "closed",
    "open": "open",
}


class Branches:
    """The branches of one database."""

    def __init__(self, url: str, copies: Copies | None = None) -> None:
        self._url = url
        self._copies = copies or copies_of(url)

    def create(
        self,
        name: str,
        *,
        life: timedelta | None = None,
        actor: str | None = None,
        note: Note = lambda _: None,
    ) -> Branch:
        """Make a branch, mask it, and only then return it. After an error it is gone, or it is said
        what is left. Raises BranchError, ConnectError, SchemaError.
        """
        self._copies.check(name, life)
        with _connection(self._url) as conn:
            if self._found(name, conn):
                raise _taken(name)
            upkeep.prepare_branch(conn, name=name, actor=actor)
        note("copying the database")
        try:
            copy = self._copies.make(name, life)
        except BaseException:
            with suppress(ForebayError, psycopg.Error):
                self._end_wait(name)
            raise
        try:
            self._end_wait(name)
            url = self._copies.url(name)
            with _connection(url, FIRST_SECONDS) as conn:
                _begin(conn, name, actor)
                copy = replace(copy, is_ours=True)
                if self._copies.brings_others:
                    _refuse_others(conn, url, note)
                state = _finish(conn, self._copies.cleaning, note)
            return self._as_branch(name, state)
        except _BegunByAnotherError:
            raise _taken(name) from None
        except BaseException as error:
            self._take_back(copy, error)
            if isinstance(error, psycopg.OperationalError):
                raise BranchError(
                    f"The branch {name!r} was not made: {first_line(error)}"
                ) from error
            raise

    def all(self) -> list[Branch]:
        """Return all branches by name. Each is connected to, which wakes one of Lakebase."""
        with _connection(self._url) as conn:
            return self._all(conn)

    def _all(self, source: psycopg.Connection[Any]) -> list[Branch]:
        copies = sorted(self._copies.found(source), key=attrgetter("name"))
        found = [self._look(copy, source) for copy in copies]
        return [branch for branch in found if branch]

    def get(self, name: str) -> Branch:
        """Return the branch of that name. Raises BranchError if there is none."""
        with _connection(self._url) as conn:
            copy = self._found(name, conn)
            if copy and (branch := self._look(copy, conn)):
                return branch
            here = upkeep.branch_state(conn)
        if here.branch_name == name and here.state in ("unfinished", "closed", "open"):
            raise BranchError(
                f"This database is the branch {name!r} itself: ask what it was made of, with"
                " that one's FOREBAY_DATABASE_URL."
            )
        raise BranchError(f"There is no branch {name!r} of this database.")

    def open(self, name: str, *, reason: str | None = None, actor: str | None = None) -> Branch:
        """Let a branch dispatch. Raises BranchError for one that is not finished."""
        branch = self.get(name)
        if branch.state == "unfinished":
            raise BranchError(
                f"The branch {name!r} is not finished: not everything in it is masked. Delete it,"
                " and create it anew."
            )
        try:
            with _connection(self._copies.url(name)) as conn:
                operator.open_installation(conn, reason=reason, actor=actor)
                return self._as_branch(name, upkeep.branch_state(conn))
        except SchemaError as error:
            raise BranchError(
                f"The branch {name!r} was not opened: {error} Do so with FOREBAY_DATABASE_URL set"
                f" to the branch's, or delete it and create it anew."
            ) from error

    def delete(self, name: str) -> None:
        """Remove a branch, whoever is connected. Raises BranchError for what is none, or may be
        none, and for one of which there are branches.
        """
        branch = self.get(name)
        if branch.state == "unknown" and not self._is_surely_ours(name):
            raise BranchError(
                f"{name!r} cannot be asked whether it is a branch, so it was not deleted:"
                f" {branch.said}"
            )
        if branch.state in ("closed", "open") and (below := self._below(name)):
            raise BranchError(
                f"There are branches of the branch {name!r} ({', '.join(b.name for b in below)}):"
                " delete them first, with its FOREBAY_DATABASE_URL."
            )
        self._copies.remove(Copy(name))
        self._end_wait(name)

    def _below(self, name: str) -> list[Branch]:
        url = self._copies.url(name)
        with _connection(url, of_any_release=True) as conn:
            return Branches(url)._all(conn)

    def _end_wait(self, name: str) -> None:
        """Have the original await no copy of that name: what may be begun is not here."""
        with _connection(self._url) as conn:
            upkeep.branch_copied(conn, name=name)

    def _found(self, name: str, source: psycopg.Connection[Any]) -> Copy | None:
        return next((copy for copy in self._copies.found(source) if copy.name == name), None)

    def _is_surely_ours(self, name: str) -> bool:
        with _connection(self._url) as conn:
            return self._copies.finding_is_proof and upkeep.was_prepared(conn, name=name)

    def _look(self, copy: Copy, source: psycopg.Connection[Any]) -> Branch | None:
        """Return what a copy is; None for what is no branch of the source.

        What nobody has begun is one if the source was to have one of that name: people copy it too.
        """
        is_prepared = upkeep.was_prepared(source, name=copy.name)
        if copy.is_shut and is_prepared:
            return Branch(copy.name, "unfinished", self._copies.shown(copy.name))
        try:
            with _connection(self._copies.url(copy.name), of_any_release=True) as conn:
                state = upkeep.branch_state(conn)
        except (ForebayError, psycopg.Error) as error:
            said = " ".join(str(error).split())
            return Branch(copy.name, "unknown", self._copies.shown(copy.name), said=said)
        here = upkeep.branch_state(source).installation_id
        is_of_here = (
            is_prepared and state.installation_id == here
            if state.state == "copy"
            else state.branch_of == here and state.state != "original"
        )
        return self._as_branch(copy.name, state) if is_of_here else None

    def _as_branch(self, name: str, state: BranchState) -> Branch:
        word = STATES[state.state]
        shown = self._copies.shown(name)
        is_begun = state.state != "copy"  # else these are what it was copied with
        return Branch(
            name,
            word,
            shown,
            state.branched_at if is_begun else None,
            state.masked_at if is_begun else None,
        )

    def _take_back(self, copy: Copy, error: BaseException) -> None:
        """Remove a copy that is not finished; raise BranchError if that fails or may not be."""
        left = "it may have been made by somebody else, who has to begin it"
        try:
            if copy.is_ours:
                return self._copies.remove(copy)
        except (Exception, KeyboardInterrupt) as failed:
            left = f"it could not be removed ({first_line(failed)})"
        raise BranchError(
            f"The branch {copy.name!r} is NOT masked ({first_line(error)}), and {left}: delete it"
            " with forebay branch delete."
        ) from error


class _BegunByAnotherError(BranchError):
    """Somebody else has begun the branch: it is theirs."""


def _taken(name: str) -> BranchError:
    return BranchError(
        f"There is a branch or another copy of that name ({name!r}): delete it, or take another"
        " name."
    )


def _begin(conn: psycopg.Connection[Any], name: str, actor: str | None) -> None:
    try:
        upkeep.begin_branch(conn, name=name, actor=actor)
    except NotABranchError as error:
        if upkeep.branch_state(conn).state in ("original", "copy"):
            raise
        raise _BegunByAnotherError(str(error)) from error


def _finish(conn: psycopg.Connection[Any], cleaning: Sequence[str], note: Note) -> BranchState:
    """Mask a branch, and rid its tables of what was there before."""
    part = None
    while not (masked := upkeep.mask_data(conn)).is_complete:
        if masked.part != part:
            part = masked.part
            note(f"masking {part}")
    note("removing what the masked rows were before from the tables' files")
    if others := [name for (name,) in conn.execute(OTHER_SCHEMAS).fetchall()]:
        note(f"not Forebay's, and so as they were: the tables of schema {', '.join(others)}")
    conn.add_notice_handler(lambda _: None)  # catalogs that are not ours are skipped
    for statement in cleaning:
        conn.execute(statement.encode())
    return upkeep.finish_branch(conn)


def _refuse_others(conn: psycopg.Connection[Any], url: str, note: Note) -> None:
    """Name the databases that have come along with a branch; raise BranchError where one of them
    has a Forebay that does not know there that it is a copy, and so would start tasks.
    """
    given = _database(url).parameters()
    others = {
        name: _other({**given, "dbname": name})
        for (name,) in conn.execute(DATABASES).fetchall()
        if name != conn.info.dbname
    }
    if open_ones := [name for name, word in others.items() if word == "open"]:
        raise BranchError(
            f"The branch would have the database {', '.join(open_ones)} too, with a Forebay that"
            " does not know there that it is a copy, and would start tasks. First call"
            " forebay.prepare_branch('-') and forebay.branch_copied('-') in it, over its"
            " lakebase: URL, as its owner."
        )
    if there := [name for name, word in others.items() if word == "there"]:
        note(f"not masked, and so as they were: the databases {', '.join(there)}")
    if dark := [name for name, word in others.items() if word == "dark"]:
        note(f"not looked into, and so as they were: the databases {', '.join(dark)}")


def _other(parameters: dict[str, Any]) -> Literal["none", "there", "open", "dark"]:
    """Return whether there is such a database, and whether a Forebay in it would start tasks."""
    try:
        with psycopg.connect(**parameters) as conn:
            if not (conn.execute(HAS_FOREBAY).fetchone() or (False,))[0]:
                return "there"
            return "open" if upkeep.branch_state(conn).state in ("original", "open") else "there"
    except psycopg.OperationalError as error:
        return "none" if "does not exist" in str(error) else "dark"
    except (ForebayError, psycopg.Error):  # of a release that knows no branches
        return "open"


def _database(url: str) -> Database:
    return Database(url, application_name="forebay branch", role=OWNER)


@contextmanager
def _connection(
    url: str, patience: float = 0, *, of_any_release: bool = False
) -> Iterator[psycopg.Connection[Any]]:
    """Connect as the schema's owner, and try what may pass by itself again for so many seconds."""
    database = _database(url)
    give_up_at = time.monotonic() + patience
    while True:
        try:
            conn = database.connect()
            break
        except ConnectError as error:
            if f"forebay_{OWNER}" in str(error):
                raise _not_the_owner(error) from error
            if not error.is_transient or time.monotonic() > give_up_at:
                raise
        time.sleep(RETRY_EVERY)
    with conn:
        if not of_any_release:
            schema.check_compatible(conn)
        yield conn


def _not_the_owner(error: ConnectError) -> BranchError:
    if "does not exist" in str(error):
        return BranchError("The database has no Forebay: run 'forebay db upgrade'.")
    return BranchError(
        f"This login may not act as forebay_{OWNER}, which branches need: connect as the role that"
        f" installed the schema, or have it run: grant forebay_{OWNER} to the login."
    )
