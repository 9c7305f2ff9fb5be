"""Ids in addresses: numbers as the database has them, a bigint from 1."""

from typing import Annotated

from fastapi import Path, Query

MAX_ID = 2**63 - 1
Id = Annotated[int, Path(ge=1, le=MAX_ID)]
OptionalId = Annotated[int | None, Query(ge=1, le=MAX_ID)]
