"""Branches: copies of the database to debug with, which are masked before anybody hears of them.

What a copy is, and what it may do, the database decides; here are the steps, and their order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol
from uuid import UUID

import psycopg

from forebay import schema
from forebay.calls import operator, upkeep
from forebay.connecting import RETRY_EVERY
from forebay.errors import BranchError, ConnectError, ForebayError
from forebay.pool import Database
from forebay.rows import BranchState, BranchWord

OWNER = "owner"
FIRST_SECONDS = 180
"""How long a new copy may take until it can be connected to."""

Note = Callable[[str], None]


class Copies(Protocol):
    """Where copies of one database are made and removed; `name` is what people call one."""

    def check(self, name: str, life: timedelta | None) -> None:
        """Raise BranchError for a name or a life that no copy here can have; asks nobody."""

    def make(self, name: str, life: timedelta | None) -> None:
        """Copy the database as it is. Raises BranchError, and then has left no copy, or says so."""

    def remove(self, name: str) -> None:
        """Remove a copy with all that is in it, whoever is connected. Raises BranchError."""

    def names(self) -> list[str]:
        """Return the names of all that may be copies of the database."""

    def url(self, name: str) -> str:
        """Return what connects to a copy, with a password if that of the database has one."""

    def shown(self, name: str) -> str:
        """Return the same without a password."""

    def is_surely_ours(self, name: str) -> bool:
        """Tell whether it is known without a connection that it was copied from the database."""


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


def copies_of(url: str) -> Copies:
    """Return where the copies of a database are made: branches of Lakebase, else clones."""
    from forebay.clones import Clones
    from forebay.databricks.lakebase import ENDPOINT, Address, is_lakebase

    if is_lakebase(url) and ENDPOINT.fullmatch(Address.read(url).place):
        from forebay.databricks.branches import LakebaseBranches

        return LakebaseBranches(url)
    return Clones(url)


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
            upkeep.prepare_branch(conn, name=name, actor=actor)
        note("copying the database")
        self._copies.make(name, life)
        try:
            with _connection(self._copies.url(name), FIRST_SECONDS) as conn:
                state = _finish(conn, name, actor, note)
            return self._as_branch(name, state)
        except BaseException as error:
            self._take_back(name, error)
            raise

    def all(self) -> list[Branch]:
        """Return all branches by name. Each is connected to, which wakes one of Lakebase."""
        source = self._source()
        found = (self._look(name, source) for name in sorted(self._copies.names()))
        return [branch for branch in found if branch]

    def get(self, name: str) -> Branch:
        """Return the branch of that name. Raises BranchError if there is none."""
        found = self._look(name, self._source()) if name in self._copies.names() else None
        if found is None:
            raise BranchError(f"There is no branch {name!r} of this database.")
        return found

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
        """Remove a branch. Raises BranchError for what is none, or may be none."""
        branch = self.get(name)
        if branch.state == "unknown" and not self._copies.is_surely_ours(name):
            raise BranchError(
                f"{name!r} cannot be asked whether it is a branch, so it was not deleted:"
                f" {branch.said}"
            )
        self._copies.remove(name)

    def _source(self) -> UUID:
        with _connection(self._url) as conn:
            return upkeep.branch_state(conn).installation_id

    def _look(self, name: str, source: UUID) -> Branch | None:
        """Return what is found under a name; None for what is no branch of the source."""
        try:
            with _connection(self._copies.url(name)) as conn:
                state = upkeep.branch_state(conn)
        except (ForebayError, psycopg.Error) as error:
            said = " ".join(str(error).split())
            return Branch(name, "unknown", self._copies.shown(name), said=said)
        of = state.installation_id if state.state == "copy" else state.branch_of
        return self._as_branch(name, state) if of == source else None

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

    def _take_back(self, name: str, error: BaseException) -> None:
        """Remove a copy that is not finished; raise BranchError if that fails too."""
        try:
            self._copies.remove(name)
        except Exception as left:
            raise BranchError(
                f"The branch {name!r} is NOT masked ({_first(error)}), and it could not be removed"
                f" ({_first(left)}): delete it with forebay branch delete."
            ) from error


def _finish(conn: psycopg.Connection[Any], name: str, actor: str | None, note: Note) -> BranchState:
    """Make a copy a branch, mask it, and rid its tables of what was there before."""
    upkeep.begin_branch(conn, name=name, actor=actor)
    part = None
    while not (masked := upkeep.mask_data(conn)).is_complete:
        if masked.part != part:
            part = masked.part
            note(f"masking {part}")
    note("removing the old rows")
    conn.add_notice_handler(lambda _: None)  # catalogs that are not ours are skipped
    conn.execute("vacuum (analyze)")
    return upkeep.branch_state(conn)


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
