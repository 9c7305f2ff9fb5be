"""Branches: copies of the database to debug with, which are masked before anybody hears of them.

What a copy is, and what it may do, the database decides; here are the steps, and their order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
from forebay.pool import Database
from forebay.rows import BranchState, BranchWord

OWNER = "owner"
FIRST_SECONDS = 180
"""How long a new copy may take until it can be connected to."""

OTHER_SCHEMAS = """
select distinct n.nspname from pg_class as c inner join pg_namespace as n on n.oid = c.relnamespace
where c.relkind in ('r', 'p', 'm') and n.nspname !~ '^(pg_.*|information_schema|forebay)$'
order by 1
"""

Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch as it was found; `url` connects to it, without a password.

    unfinished: not all masked; unknown: it cannot be asked, and `said` is why.
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
        copy = self._copies.make(name, life)
        try:
            with _connection(self._copies.url(name), FIRST_SECONDS) as conn:
                _begin(conn, name, actor)
                copy = replace(copy, is_ours=True)
                state = _finish(conn, self._copies.cleaning, note)
            return self._as_branch(name, state)
        except _BegunByAnotherError:
            raise _taken(name) from None
        except BaseException as error:
            self._take_back(copy, error)
            if isinstance(error, psycopg.OperationalError):
                raise BranchError(f"The branch {name!r} was not made: {_first(error)}") from error
            raise

    def all(self) -> list[Branch]:
        """Return all branches by name. Each is connected to, which wakes one of Lakebase."""
        with _connection(self._url) as conn:
            copies = sorted(self._copies.found(conn), key=attrgetter("name"))
            found = [self._look(copy, conn) for copy in copies]
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
        with _connection(self._copies.url(name)) as conn:
            operator.open_installation(conn, reason=reason, actor=actor)
            return self._as_branch(name, upkeep.branch_state(conn))

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
        if branch.state in ("closed", "open") and (below := Branches(self._copies.url(name)).all()):
            raise BranchError(
                f"There are branches of the branch {name!r} ({', '.join(b.name for b in below)}):"
                " delete them first, with its FOREBAY_DATABASE_URL."
            )
        self._copies.remove(Copy(name))

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
            with _connection(self._copies.url(copy.name)) as conn:
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
        except Exception as failed:
            left = f"it could not be removed ({_first(failed)})"
        raise BranchError(
            f"The branch {copy.name!r} is NOT masked ({_first(error)}), and {left}: delete it with"
            " forebay branch delete."
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
        if upkeep.branch_state(conn).state == "original":
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
    state = upkeep.branch_state(conn)
    if others := [name for (name,) in conn.execute(OTHER_SCHEMAS).fetchall()]:
        note(f"not Forebay's, and so as they were: the tables of schema {', '.join(others)}")
    conn.add_notice_handler(lambda _: None)  # catalogs that are not ours are skipped
    for statement in cleaning:
        conn.execute(statement.encode())
    return state


@contextmanager
def _connection(url: str, patience: float = 0) -> Iterator[psycopg.Connection[Any]]:
    """Connect as the schema's owner, and try what may pass by itself again for so many seconds."""
    database = Database(url, application_name="forebay branch", role=OWNER)
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
        schema.check_compatible(conn)
        yield conn


def _not_the_owner(error: ConnectError) -> BranchError:
    if "does not exist" in str(error):
        return BranchError("The database has no Forebay: run 'forebay db upgrade'.")
    return BranchError(
        f"This login may not act as forebay_{OWNER}, which branches need: connect as the role that"
        f" installed the schema, or have it run: grant forebay_{OWNER} to the login."
    )


def _first(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return (str(error).strip() or type(error).__name__).split("\n")[0]
