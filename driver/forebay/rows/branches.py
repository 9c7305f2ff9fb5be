"""The rows of branches: what a database is, and how far its masking has come."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

BranchWord = Literal["original", "copy", "unfinished", "closed", "open"]


@dataclass(frozen=True, slots=True)
class BranchState:
    """The row of `branch_state`, `begin_branch` and `finish_branch`.

    A copy was not begun as a branch; an unfinished one is not masked, or not vacuumed since; a
    closed one starts nothing.
    A copy that an operator opened to take over is an original.
    """

    installation_id: UUID
    state: BranchWord
    branch_name: str | None
    branch_of: UUID | None
    branched_at: datetime | None
    masked_at: datetime | None


@dataclass(frozen=True, slots=True)
class MaskState:
    """The row of `mask_data`: the part that it got to, None when everything is masked."""

    part: str | None
    is_complete: bool


@dataclass(frozen=True, slots=True)
class Clone:
    """A row of `list_clones`: a database of the same server; nobody can connect to a shut one."""

    name: str
    is_shut: bool
