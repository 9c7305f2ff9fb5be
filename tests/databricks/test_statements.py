"""SQL on a warehouse: what `query` answers, when it gives up, and what the stand-in makes of it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
import requests
from databricks.sdk import WorkspaceClient
from databricks.sdk.errors import NotFound, PermissionDenied
from databricks.sdk.errors.base import DatabricksError

from forebay.databricks import statements
from forebay.databricks.answers import was_not_done
from forebay.databricks.client import sent_once
from forebay.databricks.statements import StatementFailed, query
from forebay_lab.workspace import Fault, Principal, Workspace
from forebay_lab.workspace.statements import Statements

PATH = "/api/2.0/sql/statements"


@pytest.fixture
def area(workspace: Workspace) -> Statements:
    """Return the stand-in's warehouses, with one named w1."""
    area = Statements(workspace)
    area.add_warehouse("w1")
    workspace.add(area)
    return area


@pytest.fixture
def sdk(area: Statements, client: Callable[..., WorkspaceClient]) -> WorkspaceClient:
    """Return the SDK's client of a workspace with warehouses."""
    return client()


def test_values_come_as_strings_with_their_digits(sdk: WorkspaceClient) -> None:
    """No value is cast: a decimal keeps its digits, a null is None."""
    sql = (
        "SELECT CAST(1.50 AS DECIMAL(38,18)) AS amount, NULL AS missing, true AS yes, 7 AS n, "
        "DATE '2026-11-30' AS day, TIMESTAMP '2026-11-30T10:00:00Z' AS at, 'x' AS name"
    )
    assert query(sdk, "w1", sql) == [
        {
            "amount": "1.500000000000000000",
            "missing": None,
            "yes": "true",
            "n": "7",
            "day": "2026-11-30",
            "at": "2026-11-30T10:00:00.000Z",
            "name": "x",
        }
    ]


def test_parameters_have_types_and_are_never_text_of_the_statement(sdk: WorkspaceClient) -> None:
    """A value that looks like SQL stays a value; numbers and times compare as such."""
    given = {
        "name": "it's' OR 1=1 --",
        "amount": Decimal("0.00000001"),
        "at": datetime(2026, 11, 30, 10, tzinfo=UTC),
        "day": date(2026, 11, 30),
        "none": None,
    }
    sql = (
        "SELECT :name AS name, :amount * 2 AS twice, :at < TIMESTAMP '2026-11-30T11:00:00Z' AS is, "
        "date_add(:day, 1) AS next, :none IS NULL AS none"
    )
    [row] = query(sdk, "w1", sql, given)
    assert row["name"] == given["name"]
    assert Decimal(row["twice"] or "") == Decimal("0.00000002")
    assert (row["is"], row["none"]) == ("true", "true")
    assert (row["next"] or "").startswith("2026-12-01")


def test_every_chunk_is_read(sdk: WorkspaceClient, area: Statements) -> None:
    """A result of several chunks comes whole, and in its order."""
    area.rows_per_chunk = 3
    rows = query(sdk, "w1", "SELECT explode(sequence(1, 10)) AS n")
    assert [row["n"] for row in rows] == [str(n) for n in range(1, 11)]
    assert query(sdk, "w1", "SELECT 1 AS n WHERE 1 = 0") == []


def test_a_slow_warehouse_is_polled_until_it_answers(
    sdk: WorkspaceClient, area: Statements, workspace: Workspace
) -> None:
    """What is not there after the first wait is asked for again."""
    area.starting_seconds = 5.5
    assert query(sdk, "w1", "SELECT 1 AS n") == [{"n": "1"}]
    [statement] = area.statements.values()
    assert workspace.calls("GET", f"{PATH}/{statement.statement_id}")


def test_what_is_given_up_is_cancelled(
    sdk: WorkspaceClient, area: Statements, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of time, the statement ends in the workspace too, and the caller hears of it."""
    monkeypatch.setattr(statements, "WAIT", "0s")
    area.running_seconds = 60
    begun = time.monotonic()
    with pytest.raises(TimeoutError, match="did not answer in time"):
        query(sdk, "w1", "SELECT 1", seconds=1)
    assert time.monotonic() - begun < 5
    assert [one.state for one in area.statements.values()] == ["CANCELED"]


def test_an_error_while_waiting_cancels_too(
    sdk: WorkspaceClient, area: Statements, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the workspace refuses to say how it is, the statement is not left running."""
    monkeypatch.setattr(statements, "WAIT", "0s")
    area.running_seconds = 60
    workspace.faults.add(Fault("status", on=f"GET {PATH}/", status=403, code="PERMISSION_DENIED"))
    with pytest.raises(PermissionDenied):
        query(sdk, "w1", "SELECT 1")
    assert [one.state for one in area.statements.values()] == ["CANCELED"]


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", on=f"GET {PATH}/", status=500, code="INTERNAL_ERROR", times=2),
        Fault("status", on=f"GET {PATH}/", status=502, page="<html>Bad gateway</html>", times=2),
        Fault("status", on=f"GET {PATH}/", status=404, page="<html>Nothing</html>", times=2),
        Fault("status", on=f"GET {PATH}/", status=403, page="<html>Forbidden</html>", times=2),
        Fault("status", on=f"GET {PATH}/", status=404, code="ENDPOINT_NOT_FOUND", times=2),
        Fault("status", on=f"GET {PATH}/", status=401, code="UNAUTHENTICATED", times=2),
    ],
    ids=lambda fault: f"{fault.status} {'page' if fault.page else fault.code}",
)
def test_no_answer_to_a_look_is_no_refusal(
    fault: Fault,
    sdk: WorkspaceClient,
    area: Statements,
    workspace: Workspace,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a gateway says, and an API that fails, concerns the look alone: it is taken again."""
    monkeypatch.setattr(statements, "WAIT", "0s")
    area.running_seconds = 0.3
    workspace.faults.add(replace(fault))
    assert query(sdk, "w1", "SELECT 1 AS n") == [{"n": "1"}]
    assert [one.state for one in area.statements.values()] == ["SUCCEEDED"]


def test_a_part_of_the_result_that_is_not_answered_is_asked_for_again(
    sdk: WorkspaceClient, area: Statements, workspace: Workspace
) -> None:
    """The statement is over, and its result whole all the same."""
    area.rows_per_chunk = 3
    workspace.faults.add(Fault("status", on="/chunks/", status=502, page="<html></html>", skip=1))
    rows = query(sdk, "w1", "SELECT explode(sequence(1, 10)) AS n")
    assert [row["n"] for row in rows] == [str(n) for n in range(1, 11)]


def test_looks_without_an_answer_come_to_an_end(
    sdk: WorkspaceClient, area: Statements, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of time the statement is cancelled, whatever the gateway says."""
    monkeypatch.setattr(statements, "WAIT", "0s")
    area.running_seconds = 60
    workspace.faults.add(Fault("status", on=f"GET {PATH}/", status=502, page="", times=None))
    with pytest.raises(TimeoutError, match="did not answer in time"):
        query(sdk, "w1", "SELECT 1", seconds=1)
    assert [one.state for one in area.statements.values()] == ["CANCELED"]


def test_a_lost_answer_is_asked_for_again(sdk: WorkspaceClient, workspace: Workspace) -> None:
    """The SDK posts again: the statement ran twice, which only a reading one may."""
    workspace.faults.add(Fault("lost", on=f"POST {PATH}"))
    assert query(sdk, "w1", "SELECT 1 AS n") == [{"n": "1"}]
    assert len(workspace.calls("POST", PATH)) == 2


@pytest.mark.parametrize(
    "fault",
    [
        Fault("lost", on=f"POST {PATH}"),
        Fault("reset", on=f"POST {PATH}"),
        Fault("status", on=f"POST {PATH}", status=503, page="<html>Away</html>", retry_after=1),
        Fault("status", on=f"POST {PATH}", status=400, page="Please try again later", code=""),
    ],
    ids=lambda fault: f"{fault.kind} {fault.status}",
)
def test_what_is_sent_once_is_not_sent_again(
    fault: Fault, sdk: WorkspaceClient, workspace: Workspace
) -> None:
    """The error is the one of the only try, of which nobody knows whether it was carried out."""
    workspace.faults.add(replace(fault))
    with pytest.raises((DatabricksError, requests.ConnectionError)) as error, sent_once():
        query(sdk, "w1", "SELECT 1 AS n")
    assert not was_not_done(error.value)
    assert len(workspace.calls("POST", PATH)) == 1


@pytest.mark.parametrize(
    ("status", "code"), [(429, "REQUEST_LIMIT_EXCEEDED"), (503, "TEMPORARILY_UNAVAILABLE")]
)
def test_what_was_not_carried_out_is_sent_again(
    status: int, code: str, sdk: WorkspaceClient, workspace: Workspace
) -> None:
    """The API's own word that it is away or asked too often."""
    workspace.faults.add(Fault("status", on=f"POST {PATH}", status=status, code=code))
    with sent_once():
        assert query(sdk, "w1", "SELECT 1 AS n") == [{"n": "1"}]
    assert len(workspace.calls("POST", PATH)) == 2


def test_what_was_never_sent_was_not_carried_out(client: Callable[..., WorkspaceClient]) -> None:
    """Nobody listens at the address: it is tried again, until the time for that is over."""
    with Workspace() as closed:
        sdk = client(host=closed.url, retry_seconds=1)
    with pytest.raises(TimeoutError) as error, sent_once():
        query(sdk, "w1", "SELECT 1 AS n")
    assert was_not_done(error.value)


def test_failures_say_why(sdk: WorkspaceClient) -> None:
    """An error of the SQL, which comes as a 200, and a missing parameter or warehouse."""
    with pytest.raises(StatementFailed, match="nothing_there") as failed:
        query(sdk, "w1", "SELECT nothing_there")
    assert failed.value.code == "BAD_REQUEST"
    with pytest.raises(StatementFailed, match="UNBOUND_SQL_PARAMETER") as failed:
        query(sdk, "w1", "SELECT :x")
    assert failed.value.sql_state == "42P02"
    with pytest.raises(StatementFailed, match="only reads"):
        query(sdk, "w1", "DROP TABLE x")
    with pytest.raises(NotFound):
        query(sdk, "w2", "SELECT 1")


def test_permissions_are_those_of_the_principal(
    workspace: Workspace, area: Statements, client: Callable[..., WorkspaceClient]
) -> None:
    """A warehouse needs CAN_USE, a protected table a grant; both are said."""
    workspace.access.add(Principal("app"), "app-token")
    area.execute('CREATE SCHEMA "system.billing"')
    area.execute('CREATE TABLE "system.billing".usage AS SELECT 1 AS n')
    area.protect("system.billing.usage")
    sdk = client(token="app-token")
    with pytest.raises(PermissionDenied):
        query(sdk, "w1", "SELECT 1")
    workspace.access.grant("app", "sql/warehouses/w1", "CAN_USE")
    with pytest.raises(StatementFailed, match="INSUFFICIENT_PERMISSIONS") as failed:
        query(sdk, "w1", "SELECT n FROM system.billing.usage")
    assert failed.value.sql_state == "42501"
    workspace.access.grant("app", "tables/system.billing.usage", "READ")
    assert query(sdk, "w1", "SELECT u.n FROM system.billing.usage AS u") == [{"n": "1"}]


def test_functions_can_be_registered(sdk: WorkspaceClient, area: Statements) -> None:
    """A scalar function such as ai_parse_document over a table function such as read_files."""
    asked = []

    def parse(content: bytes, options: object) -> str:
        return json.dumps({"document": {"pages": [{"id": len(content)}]}})

    def read_files(placed: object, named: object) -> list[dict[str, object]]:
        asked.append((placed, named))
        return [{"path": "/Volumes/a", "content": b"%PDF"}, {"path": "/Volumes/b", "content": b""}]

    area.register("ai_parse_document", parse, ["BLOB", "MAP(VARCHAR, VARCHAR)"], "JSON")
    area.register_table("read_files", read_files)
    sql = (
        "SELECT path, to_json(ai_parse_document(content, map('version', '2.0'))) AS parsed "
        "FROM read_files(:path, format => 'binaryFile') ORDER BY path"
    )
    rows = query(sdk, "w1", sql, {"path": "/Volumes/*"})
    assert [json.loads(row["parsed"] or "")["document"]["pages"][0]["id"] for row in rows] == [4, 0]
    assert asked == [(["/Volumes/*"], {"format": "binaryFile"})]
