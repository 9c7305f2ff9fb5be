"""A document is shown beside its page, and what was found is marked where the page says it."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

import psycopg
import pypdfium2
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from apps.conftest import ClientOf, Visit
from apps.support.browser import Complaints
from apps.support.documents import ReadBatch
from apps.support.screen import look
from apps.support.serving import Served
from apps.support.uploads import a_pdf
from conftest import Connect
from forebay.calls import agent, operator, submitter, worker

LEGIBLE = ("number", "total", "total_net", "tax", "seller", "buyer")
"""Fields whose value is the text of their place, but for how a sum is written."""


@pytest.fixture
def conn(connect: Connect) -> psycopg.Connection:
    return connect("all")


def address(batch: ReadBatch, sample: str) -> str:
    return f"/batches/{batch.batch_id}/documents/{batch.tasks[sample]}"


@dataclass(frozen=True, slots=True)
class Mark:
    """A box that is drawn on the picture of a page, in shares of the picture."""

    label: str
    left: float
    top: float
    right: float
    bottom: float


MARKS = """
() => {
  const paper = document.querySelector("[data-picture]").getBoundingClientRect();
  return [...document.querySelectorAll(".mark rect")].map((rect) => {
    const box = rect.getBoundingClientRect();
    return [rect.parentElement.getAttribute("aria-label"),
      (box.left - paper.left) / paper.width, (box.top - paper.top) / paper.height,
      (box.right - paper.left) / paper.width, (box.bottom - paper.top) / paper.height];
  });
}
"""


def drawn(page: Page) -> None:
    """Wait until the picture of the page is there."""
    expect(page.locator("[data-picture]")).to_have_js_property("complete", True)


def marks(page: Page) -> list[Mark]:
    """Return where boxes are seen on the picture that is shown."""
    drawn(page)
    return [Mark(*found) for found in page.evaluate(MARKS)]


def words(path: Path, number: int, mark: Mark) -> str:
    """Return what the PDF itself has where a box is seen."""
    with pypdfium2.PdfDocument(path) as document:
        page = document[number - 1]
        width, height = page.get_size()
        text = page.get_textpage().get_text_bounded(
            left=mark.left * width,
            right=mark.right * width,
            top=(1 - mark.top) * height,
            bottom=(1 - mark.bottom) * height,
        )
    return "".join(text.split())


def digits(text: str) -> str:
    return "".join(each for each in normalize("NFKC", text) if each.isdigit())


def pages(page: Page) -> Iterator[int]:
    """Go through the pages of the document by the link to the next one."""
    number = 1
    yield number
    while page.get_by_label("Page after").count():
        page.get_by_label("Page after").click()
        number += 1
        page.wait_for_url(f"**page={number}")
        yield number


@pytest.mark.parametrize("sample", ["invoice-long", "rechnung", "seikyusho"])
def test_boxes_lie_on_the_words_that_they_tell_of(
    intake: Served, read_batch: ReadBatch, visit: Visit, client: ClientOf, sample: str
) -> None:
    """Where the page in the browser shows a box, the PDF has the value."""
    path = intake.storage / "uploads" / f"{sample}.pdf"
    result = client(intake, "alice").get(f"{address(read_batch, sample)}/result.json").json()
    found, evidence = result["result"]["fields"], result["result"]["evidence"]
    labels = {"total_net": "Net", "total": "Total", "tax": "Tax"}
    page = visit(intake, address(read_batch, sample), "alice")
    checked = []
    for number in pages(page):
        shown = {mark.label.partition(":")[0]: mark for mark in marks(page)}
        here = [name for name in evidence if evidence[name]["page"] == number]
        assert len(shown) == len(here)
        for name in set(here) & set(LEGIBLE):
            said = words(path, number, shown[labels.get(name, name.capitalize())])
            value = "".join(found[name].split())
            if name in labels:
                assert digits(said), name
                assert digits(value).startswith(digits(said)), name
            else:
                assert value in said, name
            checked.append(name)
    assert len(checked) >= 4
    assert set(checked) == {name for name in found if name in LEGIBLE}


def test_a_document_that_was_read(intake: Served, read_batch: ReadBatch, visit: Visit) -> None:
    """Fields with how sure they are, lines, the page; a field leads to its place and back."""
    page = visit(intake, address(read_batch, "rechnung"), "alice")
    expect(page.locator("h1")).to_have_text("July/rechnung №1.pdf")
    field = page.locator(".field", has_text="Seller")
    expect(field.locator(".sure")).to_contain_text("0.")
    drawn(page)
    look(page, "document")
    field.get_by_role("link").focus()
    expect(page.locator(".mark[data-lit]")).to_have_count(1)
    page.keyboard.press("Enter")
    assert "#mark-" in page.url
    page.get_by_role("link", name="Seller: ").press("Enter")
    assert "#field-" in page.url
    expect(page.locator(".field:target")).to_contain_text("Seller")
    page.get_by_role("link", name="Next document").click()
    expect(page.locator("h1")).to_have_text("July/seikyusho №1.pdf")
    look(page, "document-japanese")


def test_pages_are_switched(intake: Served, read_batch: ReadBatch, visit: Visit) -> None:
    """Step by step, or by a number; one beyond the end is the last."""
    page = visit(intake, address(read_batch, "invoice-long"), "alice")
    last = int(page.locator(".sheet-bar form").inner_text().rpartition(" ")[2])
    assert last > 1
    page.locator("input[name=page]").fill(str(last))
    page.locator("input[name=page]").press("Enter")
    page.wait_for_url(f"**page={last}")
    expect(page.get_by_label("Page after")).to_have_count(0)
    page.goto(f"{intake.url}{address(read_batch, 'invoice-long')}?page=999999")
    expect(page.locator("input[name=page]")).to_have_value(str(last))
    look(page, "document-long")


def test_a_document_that_nobody_can_read(
    intake: Served, read_batch: ReadBatch, visit: Visit
) -> None:
    """It says why it failed, once: there is no page to see for the same reason."""
    page = visit(intake, address(read_batch, "invoice-encrypted"), "alice")
    expect(page.locator(".found .problem")).to_contain_text("password")
    expect(page.locator(".sheet")).to_have_count(0)
    look(page, "document-failed")


def test_a_damaged_page_says_so(
    intake: Served, read_batch: ReadBatch, visit: Visit, client: ClientOf, complaints: Complaints
) -> None:
    """A file that went bad after it was read leaves the fields, and a sentence for the picture."""
    complaints.expect("422")
    path = intake.storage / "uploads" / "rechnung.pdf"
    path.write_bytes(path.read_bytes()[:2000])
    answer = client(intake, "alice").get(f"{address(read_batch, 'rechnung')}/pages/1.png")
    assert answer.status_code == 422
    page = visit(intake, address(read_batch, "rechnung"), "alice")
    expect(page.locator("[data-picture-problem]")).to_have_text(
        "The PDF is broken, cut off or without pages; export it again."
    )
    expect(page.locator(".field").first).to_be_visible()
    look(page, "document-damaged")


def test_a_file_that_is_gone_says_so(
    intake: Served, read_batch: ReadBatch, client: ClientOf
) -> None:
    """Pictures and the original answer 404 with a sentence; the result is still there."""
    (intake.storage / "uploads" / "rechnung.pdf").unlink()
    alice, path = client(intake, "alice"), address(read_batch, "rechnung")
    for what in ("pages/1.png", "original.pdf"):
        answer = alice.get(f"{path}/{what}", headers={"Accept": "application/json"})
        assert answer.status_code == 404
        assert answer.json()["error"].endswith(".")
    assert alice.get(f"{path}/result.json").status_code == 200
    assert alice.get(path).status_code == 200


def test_pictures_are_of_the_page_and_turned_as_it_was_read(
    intake: Served, read_batch: ReadBatch, client: ClientOf
) -> None:
    """A page has the document's proportions; turned upright it has them the other way."""
    alice, path = client(intake, "alice"), address(read_batch, "rechnung")
    upright = Image.open(io.BytesIO(alice.get(f"{path}/pages/1.png").content))
    turned = Image.open(io.BytesIO(alice.get(f"{path}/pages/1.png?turn=90").content))
    assert upright.size == (turned.size[1], turned.size[0])
    assert upright.transpose(Image.Transpose.ROTATE_270).tobytes() == turned.tobytes()
    assert alice.get(f"{path}/pages/1.png?turn=45").status_code == 400
    assert alice.get(f"{path}/pages/2.png").status_code == 422


def test_the_original_comes_back_under_its_name(
    intake: Served, read_batch: ReadBatch, client: ClientOf
) -> None:
    """Byte for byte, to be saved, never shown in the page's own name."""
    answer = client(intake, "alice").get(f"{address(read_batch, 'rechnung')}/original.pdf")
    assert answer.content == (intake.storage / "uploads" / "rechnung.pdf").read_bytes()
    disposition = answer.headers["Content-Disposition"]
    assert disposition == "attachment; filename*=UTF-8''rechnung%20%E2%84%961.pdf"


def test_a_document_on_its_way_shows_what_was_found_when_it_is(
    conn: psycopg.Connection, intake: Served, visit: Visit
) -> None:
    """It waits, is worked on page by page, and then the page fills itself."""
    operator.register_agent(conn, agent="parse_document")
    (intake.storage / "a.pdf").write_bytes(a_pdf())
    batch_id = submitter.open_batch(conn, name="one", owner="mila")
    payload = {"document": "a.pdf", "name": "<b>a</b>.pdf"}
    task_id = submitter.enqueue(conn, agent="parse_document", payload=payload, batch_id=batch_id)
    page = visit(intake, f"/batches/{batch_id}/documents/{task_id}", "mila")
    expect(page.locator(".status")).to_have_text("Waiting")
    (claimed,) = worker.dequeue(conn, worker="w", agents=["parse_document"])
    agent.report_progress(conn, attempt_id=claimed.attempt_id, done=0, total=1)
    expect(page.locator(".status")).to_have_text("Working")
    expect(page.locator(".found")).to_contain_text("0 of 1 page read")
    look(page, "document-working")
    hostile = {
        "fields": {"seller": "<script>alert(1)</script>"},
        "evidence": {"seller": {"page": 1, "box": [10, 10, 90, 40], "confidence": 0.5}},
        "pages": [{"number": 1, "width": 600, "height": 800, "rotation": 0}],
        "notes": ["<img src=x onerror=alert(1)>"],
        "page_count": 1,
    }
    agent.complete(conn, attempt_id=claimed.attempt_id, result=hostile)
    expect(page.locator(".field-value")).to_have_text("<script>alert(1)</script>")
    expect(page.locator(".notes")).to_have_text("<img src=x onerror=alert(1)>")
    expect(page.locator("h1")).to_have_text("<b>a</b>.pdf")


def test_a_task_that_is_no_document_is_shown_all_the_same(
    conn: psycopg.Connection, intake: Served, visit: Visit, client: ClientOf
) -> None:
    """Batches of other programs have payloads and results of other shapes, and paths that lie."""
    operator.register_agent(conn, agent="other")
    batch_id = submitter.open_batch(conn, name="other", owner="mila")
    payloads = [{"question": "why"}, {"document": "/etc/passwd"}, {"document": "../../x.pdf"}, {}]
    for payload in payloads:
        submitter.enqueue(conn, agent="other", payload=payload, batch_id=batch_id)
    *claims, last = worker.dequeue(conn, worker="w", agents=["other"], batch_size=9)
    agent.fail(conn, attempt_id=last.attempt_id, error={}, retryable=False)
    for claimed in claims:
        agent.complete(conn, attempt_id=claimed.attempt_id, result={"answer": [1, {"x": None}]})
    mila = client(intake, "mila")
    for task in submitter.batch_tasks(conn, batch_id=batch_id, actor="mila"):
        path = f"/batches/{batch_id}/documents/{task.task_id}"
        assert mila.get(path).status_code == 200
        assert mila.get(f"{path}/pages/1.png").status_code == 404
        assert mila.get(f"{path}/original.pdf").status_code == 404
    assert mila.get(f"/batches/{batch_id}").text.count("Read") == len(claims)
    page = visit(intake, f"/batches/{batch_id}/documents/{claims[0].task_id}", "mila")
    expect(page.locator(".found")).to_contain_text("No field was found.")


def test_what_is_left_out_is_said(conn: psycopg.Connection, intake: Served, visit: Visit) -> None:
    """A page shows the beginning of what is long, and says where the rest is."""
    operator.register_agent(conn, agent="other")
    batch_id = submitter.open_batch(conn, name="long", owner="mila")
    task_id = submitter.enqueue(conn, agent="other", payload={}, batch_id=batch_id)
    (claimed,) = worker.dequeue(conn, worker="w", agents=["other"])
    result = {
        "text": "x" * 50_001,
        "lines": [{"description": str(number)} for number in range(201)],
        "tables": [{"page": 1, "rows": [["1"]] * 101}] + [{"page": 1, "rows": [["1"]]}] * 20,
    }
    agent.complete(conn, attempt_id=claimed.attempt_id, result=result)
    page = visit(intake, f"/batches/{batch_id}/documents/{task_id}", "mila")
    expect(page.get_by_text("the download has all")).to_have_text(
        [
            "The first 200 are shown; the download has all.",
            "The first 100 rows are shown; the download has all.",
            "The first 20 of 21 tables are shown; the download has all.",
            "The first 50,000 characters are shown; the download has all.",
        ]
    )


def test_when_all_pages_are_read_it_says_what_goes_on(
    conn: psycopg.Connection, intake: Served, visit: Visit
) -> None:
    """Models are asked after that: the document does not stand still."""
    operator.register_agent(conn, agent="parse_document")
    (intake.storage / "a.pdf").write_bytes(a_pdf())
    batch_id = submitter.open_batch(conn, name="one", owner="mila")
    payload = {"document": "a.pdf", "name": "a.pdf"}
    task_id = submitter.enqueue(conn, agent="parse_document", payload=payload, batch_id=batch_id)
    (claimed,) = worker.dequeue(conn, worker="w", agents=["parse_document"])
    agent.report_progress(conn, attempt_id=claimed.attempt_id, done=3, total=3)
    page = visit(intake, f"/batches/{batch_id}/documents/{task_id}", "mila")
    expect(page.locator(".found")).to_contain_text("All 3 pages are read, finding its fields")
    look(page, "document-finding")
    page.goto(f"{intake.url}/batches/{batch_id}")
    expect(page.locator(".documents")).to_contain_text("All 3 pages are read, finding its fields")
