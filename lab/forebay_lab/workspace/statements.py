"""SQL warehouses: statements that DuckDB carries out, translated from the dialect of Databricks.

Simulated: no warehouse is behind it. The dialect is what sqlglot translates of it, and tables hold
what a test puts there.
"""

from __future__ import annotations

import base64
import itertools
import json
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from forebay_lab.workspace.routing import Answer, ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace

if TYPE_CHECKING:
    import duckdb
    from sqlglot import exp

INLINE_BYTES = 25 * 1024 * 1024
LONGEST_STATEMENT = 16 * 1024 * 1024

TableFunction = Callable[[Sequence[Any], Mapping[str, Any]], Sequence[Mapping[str, Any]]]


class SqlError(Exception):
    """Why a statement failed, as its status tells it."""

    def __init__(self, message: str, sql_state: str = "42000", code: str = "BAD_REQUEST") -> None:
        super().__init__(message)
        self.sql_state = sql_state
        self.code = code


@dataclass(slots=True)
class Statement:
    """One statement: `columns` are names and DuckDB's types, `rows` already strings or None."""

    statement_id: str
    sql: str
    parameters: list[dict[str, Any]]
    warehouse_id: str
    owner: str
    state: str = "PENDING"
    error: SqlError | None = None
    columns: list[tuple[str, str]] = field(default_factory=list)
    rows: list[list[str | None]] = field(default_factory=list)
    is_cancelled: threading.Event = field(default_factory=threading.Event)
    has_ended: threading.Event = field(default_factory=threading.Event)


class Statements(Area):
    """The statement execution API over warehouses that are added, with real SQL behind it.

    Permissions: `sql/warehouses/ID` with CAN_USE, and `tables/NAME` with SELECT for the tables that
    `protect` names. `starting_seconds` is how long a statement waits for its warehouse,
    `running_seconds` how long it then takes; `rows_per_chunk` is how many rows an answer holds.
    """

    def __init__(self, workspace: Workspace) -> None:
        import duckdb

        self.statements: dict[str, Statement] = {}
        self.warehouses: dict[str, dict[str, Any]] = {}
        self.starting_seconds = 0.0
        self.running_seconds = 0.0
        self.rows_per_chunk = 10_000
        self._workspace = workspace
        self._protected: set[str] = set()
        self._table_functions: dict[str, TableFunction] = {}
        self._database: duckdb.DuckDBPyConnection = duckdb.connect(":memory:")
        self._database.execute("SET TimeZone = 'UTC'")
        self._lock = threading.Lock()
        self._names = itertools.count(1)

    def add_warehouse(self, warehouse_id: str, name: str = "forebay") -> str:
        """Have a warehouse be there, and return its id."""
        self.warehouses[warehouse_id] = {"id": warehouse_id, "name": name, "state": "RUNNING"}
        return warehouse_id

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

    def protect(self, table: str) -> None:
        """Have a table, such as `system.billing.usage`, need a permission."""
        self._protected.add(table)

    @route("POST", "/api/2.0/sql/statements")
    @route("POST", "/api/2.0/sql/statements/")
    def post(self, request: Request) -> dict[str, Any]:
        asked = request.json()
        warehouse_id = str(asked.get("warehouse_id") or "")
        wait = _wait_seconds(str(asked.get("wait_timeout") or "10s"))
        sql = str(asked.get("statement") or "")
        if not sql or len(sql.encode()) > LONGEST_STATEMENT:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", "A statement has 1 to 16 MiB.")
        assert request.principal is not None
        self._require_warehouse(request, warehouse_id)
        statement = Statement(
            str(uuid.uuid4()),
            sql,
            list(asked.get("parameters") or []),
            warehouse_id,
            request.principal.name,
        )
        self.statements[statement.statement_id] = statement
        threading.Thread(target=self._run, args=[statement, request], daemon=True).start()
        if not statement.has_ended.wait(wait) and asked.get("on_wait_timeout") == "CANCEL":
            self._cancel(statement)
        return self._answer(statement, 0)

    @route("GET", "/api/2.0/sql/statements/{statement_id}")
    def get(self, request: Request) -> dict[str, Any]:
        return self._answer(self._own(request), 0)

    @route("GET", "/api/2.0/sql/statements/{statement_id}/result/chunks/{chunk_index}")
    def chunk(self, request: Request) -> dict[str, Any]:
        statement = self._own(request)
        if statement.state != "SUCCEEDED":
            raise ApiError(400, "INVALID_STATE", f"The statement is {statement.state}.")
        return self._chunk(statement, int(request.params["chunk_index"]))

    @route("POST", "/api/2.0/sql/statements/{statement_id}/cancel")
    def cancel(self, request: Request) -> Answer:
        self._cancel(self._own(request))
        return Answer({})

    @route("GET", "/api/2.0/sql/warehouses/{warehouse_id}")
    def warehouse(self, request: Request) -> dict[str, Any]:
        warehouse_id = request.params["warehouse_id"]
        self._require_warehouse(request, warehouse_id)
        return self.warehouses[warehouse_id]

    def _require_warehouse(self, request: Request, warehouse_id: str) -> None:
        if warehouse_id not in self.warehouses:
            message = f"SQL warehouse {warehouse_id} does not exist."
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)
        thing = f"sql/warehouses/{warehouse_id}"
        if not self._workspace.access.may(request.principal, thing, "CAN_USE"):
            message = f"You do not have permission to use SQL warehouse {warehouse_id}."
            raise ApiError(403, "PERMISSION_DENIED", message)

    def _own(self, request: Request) -> Statement:
        statement = self.statements.get(request.params["statement_id"])
        who = request.principal
        if statement is None or who is None or statement.owner != who.name:
            raise ApiError(404, "NOT_FOUND", "The statement was not found.")
        return statement

    def _cancel(self, statement: Statement) -> None:
        if statement.state in ("PENDING", "RUNNING"):
            statement.state = "CANCELED"
            statement.is_cancelled.set()
            statement.has_ended.set()

    def _run(self, statement: Statement, request: Request) -> None:
        if statement.is_cancelled.wait(self.starting_seconds):
            return
        statement.state = "RUNNING"
        if statement.is_cancelled.wait(self.running_seconds):
            return
        try:
            columns, rows = self._carry_out(statement, request)
            ended = "SUCCEEDED"
        except SqlError as error:
            columns, rows, ended = [], [], "FAILED"
            statement.error = error
        if not statement.is_cancelled.is_set():
            statement.columns, statement.rows, statement.state = columns, rows, ended
            statement.has_ended.set()

    def _carry_out(
        self, statement: Statement, request: Request
    ) -> tuple[list[tuple[str, str]], list[list[str | None]]]:
        import duckdb
        import sqlglot
        from sqlglot import exp

        try:
            tree = sqlglot.parse_one(statement.sql, read="databricks")
        except sqlglot.errors.ParseError as error:
            raise SqlError(f"[PARSE_SYNTAX_ERROR] {error}", "42601") from None
        if not isinstance(tree, exp.Query):
            raise SqlError("This stand-in only reads: send a SELECT.", "0A000")
        with self._lock:
            cursor = self._database.cursor()
            try:
                tree = tree.transform(_bound(statement.parameters))
                self._place_tables(tree, cursor, request)
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
        self, tree: exp.Expression, cursor: duckdb.DuckDBPyConnection, request: Request
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
            who = request.principal
            may = self._workspace.access.may(who, f"tables/{name}", "SELECT")
            if name in self._protected and not may:
                raise SqlError(
                    "[INSUFFICIENT_PERMISSIONS] Insufficient privileges: "
                    f"User does not have SELECT on Table '{name}'.",
                    "42501",
                )
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

    def _answer(self, statement: Statement, chunk_index: int) -> dict[str, Any]:
        status: dict[str, Any] = {"state": statement.state}
        answer: dict[str, Any] = {"statement_id": statement.statement_id, "status": status}
        if statement.error is not None:
            status["error"] = {
                "error_code": statement.error.code,
                "message": str(statement.error),
            }
            status["sql_state"] = statement.error.sql_state
        if statement.state == "SUCCEEDED":
            answer["manifest"] = self._manifest(statement)
            answer["result"] = self._chunk(statement, chunk_index)
        return answer

    def _manifest(self, statement: Statement) -> dict[str, Any]:
        columns = [
            {"name": name, "position": place, "type_name": _type_name(kind), "type_text": kind}
            for place, (name, kind) in enumerate(statement.columns)
        ]
        return {
            "format": "JSON_ARRAY",
            "schema": {"column_count": len(columns), "columns": columns},
            "total_chunk_count": -(-len(statement.rows) // self.rows_per_chunk),
            "total_row_count": len(statement.rows),
            "truncated": False,
        }

    def _chunk(self, statement: Statement, index: int) -> dict[str, Any]:
        start = index * self.rows_per_chunk
        rows = statement.rows[start : start + self.rows_per_chunk]
        if index and not rows:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"There is no chunk {index}.")
        answer = {
            "chunk_index": index,
            "row_offset": start,
            "row_count": len(rows),
            "data_array": rows,
        }
        if start + self.rows_per_chunk < len(statement.rows):
            path = f"/api/2.0/sql/statements/{statement.statement_id}/result/chunks/{index + 1}"
            answer |= {"next_chunk_index": index + 1, "next_chunk_internal_link": path}
        return answer


def _wait_seconds(text: str) -> float:
    seconds = int(text.removesuffix("s")) if text.removesuffix("s").isdecimal() else -1
    if seconds != 0 and not 5 <= seconds <= 50:
        message = f"wait_timeout must be 0s, or from 5s to 50s, not {text}."
        raise ApiError(400, "INVALID_PARAMETER_VALUE", message)
    return float(seconds)


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


def _type_name(kind: str) -> str:
    """Return the API's name of a DuckDB type."""
    named = {
        "VARCHAR": "STRING",
        "BIGINT": "LONG",
        "HUGEINT": "DECIMAL",
        "INTEGER": "INT",
        "BLOB": "BINARY",
        "JSON": "STRING",
        "TIMESTAMP WITH TIME ZONE": "TIMESTAMP",
    }
    return named.get(kind, kind.partition("(")[0])


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
