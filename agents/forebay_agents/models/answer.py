"""The shapes that a model's answers must have, and how an endpoint is asked for them."""

import json
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from forebay_agents.findings import Kind
from forebay_agents.models.settings import Structured


class _Shape(BaseModel):
    """What all shapes share: a number may come where its text is asked for, nothing is kept."""

    model_config = ConfigDict(coerce_numbers_to_str=True)


class Stated(_Shape):
    """A value, the words of the document that state it, and their page."""

    value: str
    quote: str
    page: int


class StatedKind(Stated):
    """The kind of document, and the title that says so."""

    value: Kind


class StatedLine(_Shape):
    """One line item; its numbers are plain decimals."""

    description: str
    quantity: str | None = None
    unit_price: str | None = None
    amount: str | None = None
    page: int


class Answer(_Shape):
    """What a model says about a document; what it does not find is null."""

    kind: StatedKind | None = None
    number: Stated | None = None
    date: Stated | None = None
    due_date: Stated | None = None
    currency: Stated | None = None
    total: Stated | None = None
    total_net: Stated | None = None
    tax: Stated | None = None
    seller: Stated | None = None
    buyer: Stated | None = None
    lines: list[StatedLine] = []


class Transcript(_Shape):
    """What a page shown as a picture says, row by row from top to bottom."""

    rows: list[str]


Shape = TypeVar("Shape", Answer, Transcript)


class InvalidAnswer(Exception):
    """The answer is not of the shape; the text says where, for the repair."""


def read(shape: type[Shape], text: str) -> Shape:
    """Return the answer in `text`, which may stand in a fenced block; raise InvalidAnswer."""
    if not text.lstrip().startswith("{"):
        _, fence, rest = text.partition("```")
        text = rest.partition("```")[0].removeprefix("json") if fence else text
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        raise InvalidAnswer(_complaint(error)) from None


def response_format(shape: type[BaseModel], structured: Structured) -> dict[str, Any] | None:
    """Return what the request carries for the shape; None where only the prompt tells it."""
    match structured:
        case "json_schema":
            name = shape.__name__.lower()
            form = {"name": name, "strict": True, "schema": schema(shape)}
            return {"type": "json_schema", "json_schema": form}
        case "json_object":
            return {"type": "json_object"}
        case "prompt":
            return None


@cache
def schema(shape: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a shape in the strict form: all keys required, no others.

    Titles, descriptions and defaults are left out: they would be paid with every call.
    """
    tidied: dict[str, Any] = _strict(shape.model_json_schema())
    return tidied


def schema_text(shape: type[BaseModel]) -> str:
    """Return the schema as compact JSON text."""
    return json.dumps(schema(shape), separators=(",", ":"))


def _strict(part: Any) -> Any:
    if isinstance(part, list):
        return [_strict(one) for one in part]
    if not isinstance(part, dict):
        return part
    kept = {key: part[key] for key in part if key not in ("title", "description", "default")}
    tidied = {
        key: _strict_each(value) if key in ("properties", "$defs") else _strict(value)
        for key, value in kept.items()
    }
    if "properties" in tidied:
        tidied |= {"required": list(tidied["properties"]), "additionalProperties": False}
    return tidied


def _strict_each(named: dict[str, Any]) -> dict[str, Any]:
    return {name: _strict(part) for name, part in named.items()}


LONGEST_COMPLAINT = 1000
"""Characters of the errors that the repair quotes."""


def _complaint(error: ValidationError) -> str:
    found = [
        f"{'.'.join(str(step) for step in one['loc']) or 'answer'}: {one['msg']}"
        for one in error.errors(include_url=False, include_input=False)
    ]
    return "\n".join(found)[:LONGEST_COMPLAINT]
