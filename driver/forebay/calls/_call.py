"""The one way in which Python calls a stored function.

`stored` turns a signature into a call of the function of that name in schema forebay: the arguments
go by name, each cast to the SQL type of its annotation, and the return annotation says what to make
of the answer. Given an AsyncConnection the call returns an awaitable.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, is_dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial, wraps
from inspect import Signature, signature
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Concatenate,
    Generic,
    ParamSpec,
    Protocol,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)
from uuid import UUID

from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.abc import Buffer
from psycopg.rows import BaseRowFactory, class_row, scalar_row
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import set_json_loads

from forebay import jsonb
from forebay.errors import on_writable, translated

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

AnyConnection = Connection[Any] | AsyncConnection[Any]
Integer = Annotated[int, "integer"]
Json = Annotated[dict[str, Any], "jsonb", jsonb.dump]
JsonList = Annotated[Sequence[dict[str, Any]], "jsonb", jsonb.dump]
JsonOrList = Annotated[dict[str, Any] | Sequence[dict[str, Any]], "jsonb", jsonb.dump]
SafeJson = Annotated[dict[str, Any], "jsonb", jsonb.dump_safe]
SafeJsons = Annotated[Sequence[dict[str, Any]], "jsonb[]", jsonb.dump_all_safe]

SQL_TYPES = {
    str: "text",
    int: "bigint",
    bool: "boolean",
    Decimal: "numeric",
    datetime: "timestamptz",
    date: "date",
    timedelta: "interval",
    UUID: "uuid",
}


class StoredFunction(Protocol[P, R_co]):
    """A stored function as Python sees it; the caller owns the transaction."""

    __name__: str

    @overload
    def __call__(
        self, connection: Connection[Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> R_co: ...

    @overload
    def __call__(
        self, connection: AsyncConnection[Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[R_co]: ...


def stored(function: Callable[Concatenate[AnyConnection, P], R]) -> StoredFunction[P, R]:
    """Make the call of forebay.<name of function> from its signature; its body is empty.

    `list[Row]` returns all rows, `list[str]` their one value each, a dataclass the one row, None
    nothing, the rest the one value.
    """
    call = _Call.of(function)

    @wraps(function)
    def run(connection: AnyConnection, /, **arguments: Any) -> Any:
        call.signature.bind(connection, **arguments)
        parameters = call.parameters(arguments)
        if isinstance(connection, AsyncConnection):
            return call.run_async(connection, parameters)
        return call.run(connection, parameters)

    return cast(StoredFunction[P, R], run)


@dataclass(frozen=True, slots=True)
class _Call(Generic[R]):
    """What is known of a stored function before it is called."""

    signature: Signature
    query: str
    defaults: dict[str, Any]
    dumpers: dict[str, Callable[[str, Any], Any]]
    row_factory: BaseRowFactory[Any]
    answer: Callable[[list[Any]], R]
    is_exact: bool  # money in the JSON of its rows keeps its digits

    @classmethod
    def of(cls, function: Callable[..., R]) -> "_Call[R]":
        hints = get_type_hints(function, include_extras=True)
        returned = hints.pop("return")
        row_factory, answer = _shape(returned)
        hints.pop("connection")
        arguments = ", ".join(
            f"p_{name.rstrip('_')} => %({name})s::{sql_type(hint)}" for name, hint in hints.items()
        )
        return cls(
            signature=signature(function),
            query=f"select * from forebay.{function.__name__}({arguments})",
            defaults=function.__kwdefaults__ or {},
            dumpers={name: dump for name, hint in hints.items() if (dump := _dumper(hint))},
            row_factory=row_factory,
            answer=answer,
            is_exact=getattr(returned, "IS_EXACT", False),
        )

    def parameters(self, arguments: dict[str, Any]) -> dict[str, Any]:
        parameters = self.defaults | arguments
        for name, dump in self.dumpers.items():
            if parameters[name] is not None:
                parameters[name] = dump(name, parameters[name])
        return parameters

    def run(self, connection: Connection[Any], parameters: dict[str, Any]) -> R:
        cursor = connection.cursor(row_factory=self.row_factory)
        self._set_loaders(cursor)
        with translated(), on_writable(connection), cursor:
            return self.answer(cursor.execute(self.query, parameters).fetchall())

    async def run_async(self, connection: AsyncConnection[Any], parameters: dict[str, Any]) -> R:
        with translated(), on_writable(connection):
            async with connection.cursor(row_factory=self.row_factory) as cursor:
                self._set_loaders(cursor)
                await cursor.execute(self.query, parameters)
                return self.answer(await cursor.fetchall())

    def _set_loaders(self, cursor: Cursor[Any] | AsyncCursor[Any]) -> None:
        cursor.adapters.register_loader("timestamptz", _TimestamptzLoader)
        if self.is_exact:
            set_json_loads(
                partial(json.loads, parse_float=Decimal, object_hook=_with_exact_money), cursor
            )


def sql_type(hint: Any) -> str:
    """Return the SQL type that an annotation stands for."""
    hint = _without_none(hint)
    if get_origin(hint) is Annotated:
        return str(hint.__metadata__[0])
    if get_origin(hint) is Sequence:
        return f"{sql_type(get_args(hint)[0])}[]"
    return SQL_TYPES[hint]


def _dumper(hint: Any) -> Callable[[str, Any], Any] | None:
    hint = _without_none(hint)
    if get_origin(hint) is Sequence:
        return lambda name, value: list(value)  # psycopg takes a tuple for a row
    metadata: tuple[Any, ...] = hint.__metadata__ if get_origin(hint) is Annotated else ()
    return metadata[1] if len(metadata) > 1 else None


def _without_none(hint: Any) -> Any:
    if get_origin(hint) in (Union, UnionType):
        (hint,) = (part for part in get_args(hint) if part is not NoneType)
    return hint


def _shape(returned: Any) -> tuple[BaseRowFactory[Any], Callable[[list[Any]], Any]]:
    """Return how to read a row, and what to make of all of them."""
    if get_origin(returned) is list:
        (row,) = get_args(returned)
        return _row_factory(row), lambda rows: rows
    if is_dataclass(returned):
        return _row_factory(returned), lambda rows: rows[0]
    if returned is NoneType:
        return scalar_row, lambda rows: None
    return scalar_row, lambda rows: rows[0]


def _row_factory(row: Any) -> BaseRowFactory[Any]:
    return class_row(cast(type[Any], row)) if is_dataclass(row) else scalar_row


def _with_exact_money(found: dict[str, Any]) -> dict[str, Any]:
    """Return an object of JSON with Decimals for money alone; other numbers are floats."""
    return {
        name: float(value) if isinstance(value, Decimal) and not name.endswith("usd") else value
        for name, value in found.items()
    }


class _TimestamptzLoader(TimestamptzLoader):
    """Read 'infinity', which Postgres has and Python has not, as the last moment of Python."""

    def load(self, data: Buffer) -> datetime:
        if bytes(data) == b"infinity":
            return datetime.max.replace(tzinfo=UTC)
        return super().load(data)
