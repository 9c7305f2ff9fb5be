"""ai_parse_document as a reader: its elements become pages, its failures notes or another try."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.pdfs import pdf, text
from forebay.agent import Retry
from forebay.databricks import statements
from forebay.databricks.client import workspace_client
from forebay_agents.ai_parse import AiParse, html_table
from forebay_agents.ai_parse.answer import Answer, Element
from forebay_agents.ai_parse.layout import laid_out
from forebay_agents.pages import Page, Segment, row_text
from forebay_agents.parse_document import run
from forebay_agents.standalone import StandaloneAttempt
from forebay_lab.workspace import Fault
from forebay_lab.workspace.ai_functions import AiFunctions
from forebay_lab.workspace.sql_engine import SqlError
from forebay_lab.workspace.statements import Statements
from support.volumes import ROOT, Volume, served_volume

LINES = (
    (50, 760, "Oberwasser GmbH"),
    (50, 730, "Rechnung"),
    (50, 700, "Rechnungsnummer: RE-1"),
    (50, 680, "Rechnungsdatum: 02.03.2026"),
    *((50, 600, "Zwischensumme"), (450, 600, "100,00 EUR")),
    *((50, 580, "MwSt. 19 %"), (450, 580, "19,00 EUR")),
    *((50, 560, "Gesamtbetrag"), (450, 560, "119,00 EUR")),
)
FIELDS = {"kind": "invoice", "number": "RE-1", "date": "2026-03-02", "total": "119.00"}
POST = "POST /api/2.0/sql/statements$"
LOOK = "GET /api/2.0/sql/statements/"


class RecordedAttempt(StandaloneAttempt):
    """An attempt that remembers what it was told of calls."""

    def __init__(self, document: str) -> None:
        super().__init__({"document": document})
        self.calls: list[dict[str, Any]] = []
        self.earlier: list[tuple[int, dict[str, Any]]] = []

    def usage(self, call: Any, attempt_id: int | None = None) -> None:
        if attempt_id is None:
            self.calls.append(dict(call))
        else:
            self.earlier.append((attempt_id, dict(call)))


@pytest.fixture
def volume(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Volume]:
    """Serve a Volume with an invoice in it, and have this process use it and a warehouse."""
    with served_volume(tmp_path) as volume:
        (volume.folder / "invoice.pdf").write_bytes(pdf([text(*LINES), text((50, 700, "Seite 2"))]))
        for name, value in (volume.environment() | {"FOREBAY_WAREHOUSE_ID": "w1"}).items():
            monkeypatch.setenv(name, value)
        yield volume


@pytest.fixture
def warehouse(volume: Volume) -> Statements:
    """Give the workspace's warehouses, among them w1."""
    statements = Statements(volume.workspace)
    statements.add_warehouse("w1")
    volume.workspace.add(statements)
    return statements


@pytest.fixture
def functions(volume: Volume, warehouse: Statements) -> AiFunctions:
    """Have the warehouse read documents."""
    return AiFunctions(warehouse, volume.files)


def read(attempt: RecordedAttempt | None = None) -> dict[str, Any]:
    result = run(attempt or RecordedAttempt(f"{ROOT}/invoice.pdf"))
    return result.data


def make_hasty(
    monkeypatch: pytest.MonkeyPatch, *, http_seconds: int = 10, retry_seconds: int = 1
) -> None:
    """Have the warehouse be waited for less long."""
    hasty = partial(workspace_client, http_seconds=http_seconds, retry_seconds=retry_seconds)
    monkeypatch.setattr("forebay_agents.ai_parse.reader._client", hasty)


def test_the_warehouse_reads_the_document_in_the_volume(functions: AiFunctions) -> None:
    """Fields, boxes and confidence come from its elements, and its pages are the usage."""
    attempt = RecordedAttempt(f"{ROOT}/invoice.pdf")
    data = read(attempt)
    assert FIELDS.items() <= data["fields"].items()
    evidence = data["evidence"]["total"]
    assert (evidence["source"], evidence["page"]) == ("ai_parse", 1)
    left, top, right, bottom = evidence["box"]
    assert 440 < left < right < 600
    assert 225 < top < bottom < 245  # 800 - 560, less the height of the letters
    assert [page["source"] for page in data["pages"]] == ["ai_parse", "ai_parse"]
    assert "Read by ai_parse_document, version 2.0 (simulated)." in data["notes"]
    begun, done = attempt.calls
    assert (begun["call_id"], begun.get("pages")) == ("ai-parse-document", None)
    assert begun.items() <= done.items()
    assert (done["model"], done["pages"], done["input_tokens"]) == ("ai_parse_document", 2, 0)
    assert functions.parsed == [2]


def test_a_page_with_an_error_is_read_by_ourselves(functions: AiFunctions) -> None:
    """The other page stays the warehouse's; a note names the page and the reason."""
    functions.broken = {1}
    data = read()
    assert FIELDS.items() <= data["fields"].items()
    assert [page["source"] for page in data["pages"]] == ["text", "ai_parse"]
    assert "ai_parse_document did not read page 1: The page could not be read." in data["notes"]


def test_a_page_without_elements_is_read_by_ourselves(functions: AiFunctions) -> None:
    """The other page stays the warehouse's; a note names the page of which nothing came."""
    place = {"page_id": 1, "coord": [1, 2, 3, 4]}
    element = {"type": "text", "content": "Seite 2", "bbox": [place]}
    document = {"pages": [{"id": 0}, {"id": 1}], "elements": [element]}
    functions.said = json.dumps({"document": document, "metadata": {"version": "2.0"}})
    data = read()
    assert FIELDS.items() <= data["fields"].items()
    assert [page["source"] for page in data["pages"]] == ["text", "ai_parse"]
    of_pages = [note for note in data["notes"] if "ai_parse_document found" in note]
    assert of_pages == ["ai_parse_document found nothing on page 1: read by ourselves."]


def test_what_the_warehouse_cannot_read_we_read_ourselves(
    functions: AiFunctions, warehouse: Statements
) -> None:
    """A statement that fails for good costs nothing but a note; what it took stays unknown."""

    def read_files(placed: object, named: object) -> list[dict[str, object]]:
        raise SqlError("[UNSUPPORTED] No such format.")

    warehouse.register_table("read_files", read_files)
    attempt = RecordedAttempt(f"{ROOT}/invoice.pdf")
    data = read(attempt)
    assert FIELDS.items() <= data["fields"].items()
    assert [page["source"] for page in data["pages"]] == ["text", "text"]
    (note,) = [note for note in data["notes"] if "ai_parse_document" in note]
    assert "No such format" in note
    assert "pages" not in attempt.calls[-1]


@pytest.mark.parametrize("answer", ["null", "[]", '{"document": {}}', '"text"'])
def test_an_answer_that_is_none_is_not_used(answer: str, functions: AiFunctions) -> None:
    """The document is read by ourselves, and a note says why."""
    functions.said = answer
    data = read()
    assert [page["source"] for page in data["pages"]] == ["text", "text"]
    assert "ai_parse_document gave no usable answer for it." in data["notes"]


@pytest.mark.parametrize(
    ("status", "code", "kind", "said"),
    [
        (403, "PERMISSION_DENIED", "infrastructure", "FOREBAY_WAREHOUSE_ID"),
        (404, "NOT_FOUND", "infrastructure", "FOREBAY_WAREHOUSE_ID"),
        (503, "TEMPORARILY_UNAVAILABLE", "infrastructure", "gave no answer"),
        (429, "REQUEST_LIMIT_EXCEEDED", "rate_limited", "too often"),
    ],
)
def test_a_warehouse_that_refuses_is_tried_again_later(
    status: int,
    code: str,
    kind: str,
    said: str,
    functions: AiFunctions,
    volume: Volume,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is an operator's to mend, and no fault of the document; nothing was paid."""
    make_hasty(monkeypatch)
    fault = Fault("status", on=POST, status=status, code=code, times=None)
    volume.workspace.faults.add(fault)
    attempt = RecordedAttempt(f"{ROOT}/invoice.pdf")
    with pytest.raises(Retry, match=said) as retry:
        read(attempt)
    assert retry.value.kind == kind
    assert attempt.calls[-1]["pages"] == 0


NO_ANSWERS = ("", "{}", "null", "<html>Sign in</html>", '{"statement_id": 5}')


@pytest.mark.parametrize(
    "fault",
    [
        Fault("lost", on=POST),
        Fault("hang", on=POST, seconds=2),
        Fault("reset", on=POST),
        Fault("status", on=POST, status=500, code="INTERNAL_ERROR"),
        Fault("status", on=POST, status=502, page="<html>Bad gateway</html>"),
        Fault("status", on=POST, status=503, page="<html>Upstream was reset</html>"),
        Fault("status", on=POST, status=403, page="<html>Forbidden</html>"),
        *(Fault("status", on=POST, status=200, page=page) for page in NO_ANSWERS),
    ],
    ids=lambda fault: f"{fault.kind} {fault.status if fault.kind == 'status' else ''}",
)
def test_a_statement_whose_answer_is_lost_is_not_sent_again(
    fault: Fault,
    functions: AiFunctions,
    volume: Volume,
    warehouse: Statements,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It may have been carried out: what it took is unknown, and the queue tries again."""
    make_hasty(monkeypatch, http_seconds=1 if fault.kind == "hang" else 10, retry_seconds=5)
    volume.workspace.faults.add(replace(fault))
    attempt = RecordedAttempt(f"{ROOT}/invoice.pdf")
    with pytest.raises(Retry, match="gave no answer"):
        read(attempt)
    assert [call.get("pages") for call in attempt.calls] == [None, None]
    assert len(warehouse.statements) == (fault.kind in ("lost", "hang"))


@pytest.mark.parametrize(
    ("status", "code"), [(429, "REQUEST_LIMIT_EXCEEDED"), (503, "TEMPORARILY_UNAVAILABLE")]
)
def test_a_statement_that_was_refused_for_the_moment_is_sent_again(
    status: int, code: str, functions: AiFunctions, volume: Volume
) -> None:
    """The API itself says that nothing was carried out."""
    volume.workspace.faults.add(Fault("status", on=POST, status=status, code=code))
    attempt = RecordedAttempt(f"{ROOT}/invoice.pdf")
    assert FIELDS.items() <= read(attempt)["fields"].items()
    assert (functions.parsed, attempt.calls[-1]["pages"]) == ([2], 2)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", on=LOOK, status=500, code="INTERNAL_ERROR"),
        Fault("status", on=LOOK, status=502, page="<html>Bad gateway</html>"),
        Fault("status", on=LOOK, status=404, page="<html>No such page</html>"),
        Fault("status", on=LOOK, status=403, page="<html>Forbidden</html>"),
    ],
    ids=lambda fault: str(fault.status),
)
def test_no_answer_to_a_look_leaves_the_statement_running(
    fault: Fault,
    functions: AiFunctions,
    volume: Volume,
    warehouse: Statements,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It is looked at again, and its pages are paid for once."""
    monkeypatch.setattr(statements, "WAIT", "0s")
    warehouse.running_seconds = 0.3
    volume.workspace.faults.add(replace(fault))
    attempt = RecordedAttempt(f"{ROOT}/invoice.pdf")
    assert FIELDS.items() <= read(attempt)["fields"].items()
    assert [one.state for one in warehouse.statements.values()] == ["SUCCEEDED"]
    assert (functions.parsed, attempt.calls[-1]["pages"]) == ([2], 2)


@pytest.mark.parametrize(
    "odd",
    [
        {"status": "SUCCEEDED"},
        {"manifest": {"schema": {"columns": "zzz"}}, "result": {"data_array": [["{}"]]}},
        {"manifest": {"schema": {"columns": [{"name": "parsed"}]}}, "result": {"data_array": [5]}},
    ],
)
def test_an_answer_of_odd_types_is_asked_for_again(
    odd: dict[str, Any], functions: AiFunctions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another attempt: it is no mistake of the agent's; what it took is unknown."""
    plain = {"statement_id": "x", "status": {"state": "SUCCEEDED"}}
    monkeypatch.setattr(Statements, "_answer", lambda *_: plain | odd)
    attempt = RecordedAttempt(f"{ROOT}/invoice.pdf")
    with pytest.raises(Retry):
        read(attempt)
    assert attempt.calls[-1].get("pages") is None


@pytest.mark.parametrize("rows", [[[5]], "x"])
def test_a_row_of_another_type_is_no_usable_answer(
    rows: object, functions: AiFunctions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The document is read by ourselves then, as where the answer has not the shape."""
    manifest = {"schema": {"columns": [{"name": "parsed"}]}}
    plain = {"statement_id": "x", "status": {"state": "SUCCEEDED"}, "manifest": manifest}
    monkeypatch.setattr(Statements, "_answer", lambda *_: plain | {"result": {"data_array": rows}})
    assert "ai_parse_document gave no usable answer for it." in read()["notes"]


def test_what_a_statement_took_that_may_not_be_looked_at_is_unknown(
    functions: AiFunctions, volume: Volume, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The API's own refusal of a look ends the wait, and says nothing of the pages."""
    monkeypatch.setattr(statements, "WAIT", "0s")
    volume.workspace.faults.add(
        Fault("status", on=LOOK, status=403, code="PERMISSION_DENIED", message="Not yours.")
    )
    attempt = RecordedAttempt(f"{ROOT}/invoice.pdf")
    with pytest.raises(Retry, match=r"gave no answer \(Not yours\)"):
        read(attempt)
    assert [call.get("pages") for call in attempt.calls] == [None, None]


def test_a_second_attempt_pays_for_no_page_again(
    functions: AiFunctions, volume: Volume, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is kept beside the document until the result is stored."""
    first = RecordedAttempt(f"{ROOT}/invoice.pdf")
    read(first)
    assert functions.parsed == [2]
    attempt = RecordedAttempt(f"{ROOT}/invoice.pdf")
    data = read(attempt)
    assert FIELDS.items() <= data["fields"].items()
    assert (functions.parsed, attempt.calls) == ([2], [])
    assert attempt.earlier == [(first.attempt_id, first.calls[-1])]


def test_only_documents_in_a_volume_are_sent(tmp_path: Path) -> None:
    """A folder of this machine, a pattern, and no warehouse: each is read by ourselves."""

    class In:
        root = ROOT

    here = {"FOREBAY_WAREHOUSE_ID": "w1"}
    make: Callable[..., AiParse | None] = AiParse.from_environment
    assert make(In(), "a.pdf", here) is not None
    assert make(In(), "a*.pdf", here) is None
    assert make(In(), "a.pdf", {}) is None
    In.root = str(tmp_path)
    assert make(In(), "a.pdf", here) is None


def element(content: str, *box: float, kind: str = "text", confidence: float = 0.5) -> Element:
    left, top, right, bottom = box
    return Element(kind, content, (left, top, right, bottom), confidence)


def test_elements_side_by_side_are_one_row() -> None:
    """Rows come from top to bottom; a text of several lines is shared out over its height."""
    page = laid_out(
        Page(1, 600.0, 800.0, text="own", lacks_font=True),
        [
            element("Total", 100, 300, 200, 320),
            element("119.00", 900, 302, 1000, 318),
            element("Acme\nMain Street 1", 100, 100, 360, 140, confidence=1.0),
        ],
        dpi=144,
    )
    assert [row_text(row) for row in page.rows] == ["Acme", "Main Street 1", "Total   119.00"]
    assert page.rows[0][0].box[1::2] == (50.0, 60.0)
    assert page.rows[2][1] == Segment("119.00", (450.0, 151.0, 500.0, 159.0))
    assert page.text == "Acme\nMain Street 1\nTotal   119.00"
    assert (page.source, page.certainty) == ("ai_parse", round((18 + 0.5 * 11) / 29, 3))
    assert not page.lacks_font, "the warehouse has fonts of its own"


def test_boxes_never_leave_the_page() -> None:
    """A resolution that is not what we took it for draws them in; their order stays."""
    page = laid_out(Page(1, 600.0, 800.0), [element("a", 0, 0, 2400, 3200)], dpi=72)
    assert page.rows[0][0].box == (0.0, 0.0, 600.0, 800.0)


def test_tables_come_as_html() -> None:
    """Cells that span several places have their text in the first, as in our own tables."""
    table = (
        "<table><tr><th colspan='2'>Item &amp; size</th><th>Sum</th></tr>"
        "<tr><td rowspan=2>Pump</td><td>A</td><td>1</td></tr>"
        "<tr><td>B<br>C</td><td>2</td></tr></table>"
    )
    cells = [["Item & size", "", "Sum"], ["Pump", "A", "1"], ["", "B C", "2"]]
    assert html_table.rows(table) == cells
    page = laid_out(Page(1, 600.0, 800.0), [element(table, 0, 0, 300, 90, kind="table")], dpi=72)
    assert page.tables[0].rows == cells
    assert [row_text(row) for row in page.rows] == ["Item & size   Sum", "Pump   A   1", "B C   2"]


@pytest.mark.parametrize("html", ["", "<table>", "<td>", "<tr><td colspan=999999999>a", "<" * 5000])
def test_broken_tables_harm_nobody(html: str) -> None:
    """Whatever stands there, some rows of bounded length come of it."""
    assert sum(map(len, html_table.rows(html))) <= 1000


def test_parts_of_an_answer_that_make_no_sense_are_left_out() -> None:
    """Elements without words, a place or a page; the rest counts."""
    good = {"type": "text", "content": "a", "bbox": [{"coord": [1, 2, 3, 4], "page_id": 0}]}
    bad = [
        *(None, 7, {}, good | {"content": None}, good | {"bbox": []}, good | {"bbox": 3}),
        good | {"bbox": [{"coord": [1, 2, 3], "page_id": 0}]},
        good | {"bbox": [{"coord": [3, 2, 1, 4], "page_id": 0}]},
        good | {"bbox": [{"coord": [1, 2, 3, 4], "page_id": "x"}]},
    ]
    answer = Answer.read(
        {
            "document": {"pages": [{"id": 0}], "elements": [*bad, good | {"confidence": "high"}]},
            "error_status": [{"error_message": "x", "page_id": 1}, {"error_message": "whole"}, 5],
        }
    )
    assert answer.elements == {1: [Element("text", "a", (1.0, 2.0, 3.0, 4.0), None)]}
    assert (answer.errors, answer.problems[0]) == ({2: "x"}, "whole")
