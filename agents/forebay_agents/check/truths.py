"""Read truth files, which people write by hand, and say in a sentence what is wrong with one."""

import json
import re
from datetime import date
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from forebay_agents.findings import AMOUNTS, DATES, NAMES, Name


class TruthLine(BaseModel):
    """One line item; numbers that are left out are not compared."""

    model_config = ConfigDict(extra="ignore", strict=True)

    description: str
    quantity: str | None = None
    unit_price: str | None = None
    amount: str | None = None

    @field_validator("quantity", "unit_price", "amount")
    @classmethod
    def _is_number(cls, value: str | None) -> str | None:
        return value if value is None else _number(value)


class Truth(BaseModel):
    """What a truth file says; pages and lines that are left out are not compared.

    Keys that mean nothing here are passed over, but a field that does not exist is an error.
    """

    model_config = ConfigDict(extra="ignore")

    status: Literal["completed", "failed"] = "completed"
    pages: int | None = None
    fields: dict[Name, str] = {}
    lines: list[TruthLine] | None = None

    @field_validator("fields", mode="before")
    @classmethod
    def _are_said(cls, fields: Any) -> Any:
        """Leave out fields that are null: the document does not say them."""
        if not isinstance(fields, dict):
            return fields
        return {name: value for name, value in fields.items() if value is not None}

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

    Numbers may be written as numbers or as texts. Raises ValueError with what is wrong, where and
    why: "fields.total: …".
    """
    try:
        said = json.loads(content.decode("utf-8-sig"), parse_float=str, parse_int=str)
        if not isinstance(said, dict):
            raise ValueError("it is no JSON object")
        return Truth.model_validate(said).model_dump(exclude_none=True)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON in UTF-8 ({error})") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"] if part != "[key]")
        what = f"choose among {', '.join(NAMES)}" if "[key]" in first["loc"] else first["msg"]
        raise ValueError(f"{where}: {what}" if where else what) from error


def _number(value: str) -> str:
    if not re.fullmatch(r"-?\d{1,18}(\.\d{1,18})?", value):
        raise ValueError(f"{value} is no plain number, such as 1234.56")
    return value
