"""SQL warehouses and their statements, which DuckDB carries out: no warehouse is behind them."""

from __future__ import annotations

import threading
import uuid
from dataclasses import dataclass, field
from typing import Any

from forebay_lab.workspace.routing import Answer, ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace
from forebay_lab.workspace.sql_engine import Engine, SqlError

LONGEST_STATEMENT = 16 * 1024 * 1024


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
    `execute`, `register` and `register_table` are those of the engine, by which a test fills it.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.statements: dict[str, Statement] = {}
        self.warehouses: dict[str, dict[str, Any]] = {}
        self.starting_seconds = 0.0
        self.running_seconds = 0.0
        self.rows_per_chunk = 10_000
        self._workspace = workspace
        self._protected: set[str] = set()
        self._engine = Engine()
        self.execute = self._engine.execute
        self.register = self._engine.register
        self.register_table = self._engine.register_table

    def add_warehouse(self, warehouse_id: str, name: str = "forebay") -> str:
        """Have a warehouse be there, and return its id."""
        self.warehouses[warehouse_id] = {"id": warehouse_id, "name": name, "state": "RUNNING"}
        return warehouse_id

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
            columns, rows = self._engine.run(
                statement.sql,
                statement.parameters,
                lambda table: self._require_select(request, table),
            )
            ended = "SUCCEEDED"
        except SqlError as error:
            columns, rows, ended = [], [], "FAILED"
            statement.error = error
        if not statement.is_cancelled.is_set():
            statement.columns, statement.rows, statement.state = columns, rows, ended
            statement.has_ended.set()

    def _require_select(self, request: Request, table: str) -> None:
        may = self._workspace.access.may(request.principal, f"tables/{table}", "SELECT")
        if table in self._protected and not may:
            raise SqlError(
                "[INSUFFICIENT_PERMISSIONS] Insufficient privileges: "
                f"User does not have SELECT on Table '{table}'.",
                "42501",
            )

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
