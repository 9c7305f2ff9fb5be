"""Where copies of a database are made and removed: what branches need of clones and Lakebase."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Protocol

import psycopg


@dataclass(frozen=True, slots=True)
class Copy:
    """A copy; `name` is what people call it.

    is_shut: nobody can connect to it. identity: what no other copy has that is called so; None is
    not known. is_ours: who has it made is known to have made it.
    """

    name: str
    is_shut: bool = False
    identity: str | None = None
    is_ours: bool = True


class Copies(Protocol):
    """Where copies of one database are made and removed."""

    finding_is_proof: bool
    """Whether what is found was copied from the database, be it that it cannot be asked."""

    brings_others: bool
    """Whether a copy has the databases too that are beside the one that it is made for."""

    cleaning: tuple[str, ...]
    """The statements that rid a copy of what was there before it was masked."""

    def check(self, name: str, life: timedelta | None) -> None:
        """Raise BranchError for a name or a life that no copy here can have; asks nobody."""

    def make(self, name: str, life: timedelta | None) -> Copy:
        """Copy the database as it is. Raises BranchError, and then has left no copy, or says so."""

    def remove(self, copy: Copy) -> None:
        """Remove a copy with all that is in it, whoever is connected. Raises BranchError.

        What is not there, or is called like it and is another, is left alone.
        """

    def found(self, source: psycopg.Connection[Any]) -> list[Copy]:
        """Return all that may be copies of the database, to which `source` is connected."""

    def url(self, name: str) -> str:
        """Return what connects to a copy, with a password if that of the database has one."""

    def shown(self, name: str) -> str:
        """Return the same without a password."""


def copies_of(url: str) -> Copies:
    """Return where the copies of a database are made: branches of Lakebase, else clones."""
    from forebay.clones import Clones
    from forebay.databricks.lakebase import ENDPOINT, Address, is_lakebase

    if is_lakebase(url) and ENDPOINT.fullmatch(Address.read(url).place):
        from forebay.databricks.branches import LakebaseBranches

        return LakebaseBranches(url)
    return Clones(url)
