"""SQL that DuckDB carries out, translated from the dialect of Databricks.

The dialect is what sqlglot translates of it, and tables hold what a test puts there.
"""

from __future__ import annotations

import base64
import itertools
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp

INLINE_BYTES = 25 * 1024 * 1024

TableFunction = Callable[[Sequence[Any], Mapping[str, Any]], Sequence[Mapping[str, Any]]]


class SqlError(Exception):
    """Why a statement failed, as its status tells it."""

    def __init__(self, message: str, sql_state: str = "42000", code: str = "BAD_REQUEST") -> None:
        super().__init__(message)
        self.sql_state = sql_state
        self.code = code


class Engine:
    """A database with tables and functions of a test's, which reads what a warehouse would."""

    def __init__(self) -> None:
        import duckdb

        self._table_functions: dict[str, TableFunction] = {}
        self._database: duckdb.DuckDBPyConnection = duckdb.connect(":memory:")
        self._database.execute("SET TimeZone = 'UTC'")
        self._lock = threading.Lock()
        self._names = itertools.count(1)

    def execute(self, sql: str, rows: Sequence[Sequence[Any]] | None = None) -> None:
        """Carry out DuckDB's own SQL, as a test's fixture: schemas are named `"catalog.schema"`.

        With `rows` it is carried out for each.
        """
        with self._lock:
            cursor = self._database.cursor()
            if rows is None:
                cursor.execute(sql)
            elif rows:
                cursor.executemany(sql, rows)

    def register(
        self, name: str, function: Callable[..., Any], takes: Sequence[str], returns: str
    ) -> None:
        """Have a scalar function be there, such as ai_parse_document; types are DuckDB's.

        A null argument makes a null; JSON stands for a VARIANT.
        """
        with self._lock:
            self._database.create_function(name.lower(), function, list(takes), returns)

    def register_table(self, name: str, function: TableFunction) -> None:
        """Have a table function be there, such as read_files: from its arguments to its rows.

        Arguments are literals or parameters; every row has the same columns, and there is one row.
        """
        self._table_functions[name.lower()] = function

    def run(
        self, sql: str, parameters: Sequence[Mapping[str, Any]], check: Callable[[str], None]
    ) -> tuple[list[tuple[str, str]], list[list[str | None]]]:
        """Carry out a SELECT: columns with DuckDB's types, and rows of strings or None.

        `check` is given the name of each table in a catalog, and raises SqlError for one that may
        not be read.
        """
        import duckdb
        import sqlglot
        from sqlglot import exp

        try:
            tree = sqlglot.parse_one(sql, read="databricks")
        except sqlglot.errors.ParseError as error:
            raise SqlError(f"[PARSE_SYNTAX_ERROR] {error}", "42601") from None
        if not isinstance(tree, exp.Query):
            raise SqlError("This stand-in only reads: send a SELECT.", "0A000")
        with self._lock:
            cursor = self._database.cursor()
            try:
                tree = tree.transform(_bound(parameters))
                self._place_tables(tree, cursor, check)
                cursor.execute(tree.sql("duckdb"))
                columns = [(one[0], str(one[1])) for one in cursor.description or []]
                rows = [[_value(cell) for cell in row] for row in cursor.fetchall()]
            except duckdb.Error as error:
                raise SqlError(f"[STAND_IN] {error}") from None
            finally:
                cursor.close()
        if sum(len(cell or "") for row in rows for cell in row) > INLINE_BYTES:
            raise SqlError("Inline byte limit exceeded.", "54000")
        return columns, rows

    def _place_tables(
        self, tree: exp.Expression, cursor: duckdb.DuckDBPyConnection, check: Callable[[str], None]
    ) -> None:
        """Have three-part names mean our schemas, and table functions the rows that they give."""
        from sqlglot import exp

        for table in list(tree.find_all(exp.Table)):
            called = table.this
            function = self._table_functions.get(str(called.name).lower())
            if isinstance(called, exp.Anonymous) and function is not None:
                table.set("this", exp.to_identifier(self._filled(function, called, cursor)))
                continue
            if not table.catalog:
                continue
            name = f"{table.catalog}.{table.db}.{table.name}".lower()
            check(name)
            table.set("db", exp.to_identifier(f"{table.catalog}.{table.db}".lower(), quoted=True))
            table.set("catalog", None)

    def _filled(
        self, function: TableFunction, called: exp.Anonymous, cursor: duckdb.DuckDBPyConnection
    ) -> str:
        from sqlglot import exp

        named, placed = {}, []
        for argument in called.expressions:
            if isinstance(argument, exp.Kwarg | exp.PropertyEQ):
                named[argument.this.name] = _literal(argument.expression)
            else:
                placed.append(_literal(argument))
        rows = function(placed, named)
        name = f"function_{next(self._names)}"
        columns = list(rows[0])
        picked = ", ".join(f'? AS "{column}"' for column in columns)
        for place, row in enumerate(rows):
            begins = f"INSERT INTO {name}" if place else f"CREATE TEMP TABLE {name} AS"
            cursor.execute(f"{begins} SELECT {picked}", [row[column] for column in columns])
        return name


def _bound(parameters: Sequence[Mapping[str, Any]]) -> Callable[[Any], Any]:
    """Return what puts a parameter's value, cast to its type, in the place of its marker."""
    from sqlglot import exp

    given = {one["name"]: (one.get("value"), one.get("type") or "STRING") for one in parameters}

    def bind(node: Any) -> Any:
        if not isinstance(node, exp.Placeholder):
            return node
        if node.name not in given:
            message = f"[UNBOUND_SQL_PARAMETER] Found the unbound parameter: {node.name}."
            raise SqlError(message, "42P02")
        value, kind = given[node.name]
        literal = exp.null() if value is None else exp.Literal.string(value)
        return exp.cast(literal, exp.DataType.build(kind, dialect="databricks"))

    return bind


def _literal(node: Any) -> Any:
    """Return the value of a literal, or of a parameter in its place."""
    from sqlglot import exp

    if isinstance(node, exp.Cast):
        return _literal(node.this)
    if isinstance(node, exp.Null):
        return None
    if not isinstance(node, exp.Literal):
        raise SqlError("This stand-in takes literals and parameters there.", "0A000")
    return node.this if node.is_string else int(node.this)


def _value(cell: Any) -> str | None:
    """Return a value as the API writes it in JSON_ARRAY."""
    if cell is None or isinstance(cell, str):
        return cell
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime):
        moment = cell.astimezone(UTC).replace(tzinfo=None) if cell.tzinfo else cell
        return moment.isoformat(timespec="milliseconds") + "Z"
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        return f"{cell:f}"
    if isinstance(cell, bytes):
        return base64.b64encode(cell).decode()
    if isinstance(cell, dict | list):
        return json.dumps(cell, default=_value)
    return str(cell)
