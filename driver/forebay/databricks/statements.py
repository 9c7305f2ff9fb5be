"""SQL on a warehouse: one statement, sent, waited for in bounded time, and read whole.

The SDK sends a post again when its answer is lost, and a statement may then run twice: one that
costs money is begun inside of `sent_once`, and none changes anything.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from typing import TypeVar

from databricks.sdk import WorkspaceClient
from databricks.sdk.service.sql import (
    Disposition,
    ExecuteStatementRequestOnWaitTimeout,
    Format,
    ResultData,
    StatementParameterListItem,
    StatementResponse,
    StatementState,
)

from forebay.databricks.answers import FAILURES, NoAnswer, is_refusal

T = TypeVar("T")

SECONDS = 300
"""How long a statement may take, a warehouse that has to start included."""

WAIT = "5s"  # the least that the API takes: well below the client's bound for one request
FIRST_POLL, LONGEST_POLL = 0.2, 5.0

ENDED = {
    StatementState.SUCCEEDED,
    StatementState.FAILED,
    StatementState.CANCELED,
    StatementState.CLOSED,
}

Row = dict[str, str | None]
Parameter = str | int | Decimal | date | datetime | bool | None


class StatementFailed(Exception):
    """The warehouse could not carry a statement out: its sentence, `code` and `sql_state`."""

    def __init__(self, message: str, code: str | None = None, sql_state: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.sql_state = sql_state


def query(
    client: WorkspaceClient,
    warehouse_id: str,
    sql: str,
    parameters: Mapping[str, Parameter] | None = None,
    *,
    seconds: float = SECONDS,
) -> list[Row]:
    """Return all rows of a read-only statement: by column, each value as a string, or None.

    `sql` names its parameters `:name`. Raises StatementFailed when it failed, was cancelled or has
    more rows than an answer holds, TimeoutError when it took longer than `seconds`, and the SDK's
    errors. One that is given up is cancelled, as far as the workspace can be reached.
    """
    until = time.monotonic() + seconds
    return rows(client, begin(client, warehouse_id, sql, parameters), until)


def begin(
    client: WorkspaceClient,
    warehouse_id: str,
    sql: str,
    parameters: Mapping[str, Parameter] | None = None,
) -> StatementResponse:
    """Send a statement, and return what is known of it a moment later.

    Raises the SDK's errors, and NoAnswer where it is not said how the statement is called.
    """
    begun = client.statement_execution.execute_statement(
        sql,
        warehouse_id,
        wait_timeout=WAIT,
        on_wait_timeout=ExecuteStatementRequestOnWaitTimeout.CONTINUE,
        disposition=Disposition.INLINE,
        format=Format.JSON_ARRAY,
        parameters=[_parameter(name, value) for name, value in (parameters or {}).items()],
    )
    _id(begun)
    return begun


def rows(client: WorkspaceClient, begun: StatementResponse, until: float) -> list[Row]:
    """Return all rows of a statement that was begun, as `query` does; `until` is monotonic time."""
    ended = _ended(client, begun, until)
    _require_success(ended)
    return _read(client, ended, until)


def _ended(client: WorkspaceClient, response: StatementResponse, until: float) -> StatementResponse:
    if _has_ended(response):
        return response
    statement_id = _id(response)
    try:
        return _looked(
            lambda: client.statement_execution.get_statement(statement_id), until, _has_ended
        )
    except BaseException:
        with contextlib.suppress(Exception):  # what made us give up is what the caller has to know
            client.statement_execution.cancel_execution(statement_id)
        raise


def _has_ended(response: StatementResponse) -> bool:
    return bool(response.status and response.status.state in ENDED)


def _looked(
    look: Callable[[], T], until: float, is_enough: Callable[[T], bool] = lambda _: True
) -> T:
    """Return what a look shows that is enough. It is taken again where nothing answers it.

    Raises what the API itself refuses it with, and TimeoutError.
    """
    for _ in _pauses(until):
        try:
            seen = look()
        except FAILURES as error:
            if is_refusal(error):
                raise
        else:
            if is_enough(seen):
                return seen
    raise TimeoutError("The SQL warehouse did not answer in time.")


def _pauses(until: float) -> Iterator[None]:
    """Give a moment for each look: at once, after ever longer pauses, and when time is over."""
    pause = 0.0
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(pause, left))
        yield
        pause = min(2 * pause or FIRST_POLL, LONGEST_POLL)


def _require_success(response: StatementResponse) -> None:
    status = response.status
    assert status is not None
    assert status.state is not None
    if status.state is not StatementState.SUCCEEDED:
        code = status.error.error_code.value if status.error and status.error.error_code else None
        message = status.error.message if status.error else None
        told = message or f"The statement ended as {status.state.value}."
        raise StatementFailed(told, code, status.sql_state)
    if response.manifest and response.manifest.truncated:
        raise StatementFailed("The result is larger than what the warehouse may answer with.")


def _read(client: WorkspaceClient, response: StatementResponse, until: float) -> list[Row]:
    schema = response.manifest.schema if response.manifest else None
    names = [column.name or "" for column in (schema.columns if schema else None) or []]
    found: list[Row] = []
    chunk: ResultData | None = response.result
    while chunk is not None:
        found += [dict(zip(names, values, strict=True)) for values in chunk.data_array or []]
        if chunk.next_chunk_index is None:
            break
        chunk = _chunk(client, _id(response), chunk.next_chunk_index, until)
    expected = response.manifest.total_row_count if response.manifest else None
    if expected is not None and expected != len(found):
        raise StatementFailed(f"The warehouse told of {expected} rows and answered {len(found)}.")
    return found


def _chunk(client: WorkspaceClient, statement_id: str, index: int, until: float) -> ResultData:
    api = client.statement_execution
    return _looked(lambda: api.get_statement_result_chunk_n(statement_id, index), until)


def _id(response: StatementResponse) -> str:
    if not isinstance(response.statement_id, str):
        raise NoAnswer("the warehouse's answer names no statement")
    return response.statement_id


def _parameter(name: str, value: Parameter) -> StatementParameterListItem:
    """Return a parameter with its SQL type; a datetime is aware."""
    kinds: list[tuple[type, str]] = [
        (bool, "BOOLEAN"),
        (int, "BIGINT"),
        (Decimal, "DECIMAL(38,18)"),
        (datetime, "TIMESTAMP"),
        (date, "DATE"),
        (str, "STRING"),
    ]
    kind = next((sql for python, sql in kinds if isinstance(value, python)), "STRING")
    return StatementParameterListItem(name=name, value=_text(value), type=kind)


def _text(value: Parameter) -> str | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):
        return value.isoformat()
    return f"{value:f}" if isinstance(value, Decimal) else str(value)
