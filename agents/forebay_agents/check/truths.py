"""Read truth files, which people write by hand, and say in a sentence what is wrong with one."""

from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from forebay_agents.findings import AMOUNTS, DATES, Name


class TruthLine(BaseModel):
    """One line item; numbers that are left out are not compared."""

    model_config = ConfigDict(extra="forbid", strict=True)

    description: str
    quantity: str | None = None
    unit_price: str | None = None
    amount: str | None = None

    @field_validator("quantity", "unit_price", "amount")
    @classmethod
    def _is_number(cls, value: str | None) -> str | None:
        return value if value is None else _number(value)


class Truth(BaseModel):
    """What a truth file says; pages and lines that are left out are not compared."""

    model_config = ConfigDict(extra="forbid")

    status: Literal["completed", "failed"]
    pages: int | None = None
    fields: dict[Name, str] = {}
    lines: list[TruthLine] | None = None

    @field_validator("fields")
    @classmethod
    def _are_plain(cls, fields: dict[Name, str]) -> dict[Name, str]:
        for name in AMOUNTS:
            if name in fields:
                _number(fields[name])
        for name in DATES:
            if name in fields:
                date.fromisoformat(fields[name])
        return fields


def read_truth(content: bytes) -> dict[str, Any]:
    """Return a truth file's content; what it leaves out is left out.

    Raises ValueError with what is wrong, where and why: "fields.total: …".
    """
    try:
        return Truth.model_validate_json(content).model_dump(exclude_none=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from error


def _number(value: str) -> str:
    try:
        Decimal(value)
    except InvalidOperation:
        raise ValueError(f"{value} is no plain number, such as 1234.56") from None
    return value
