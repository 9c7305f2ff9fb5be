"""People follow a batch: how far it is, why it waits, what came of it; their own alone."""

from __future__ import annotations

import csv
import io
import re

import httpx
import psycopg
import pytest
from playwright.sync_api import Page, expect

from apps.conftest import ClientOf, Serve, Visit
from apps.support.browser import Complaints
from apps.support.documents import ReadBatch
from apps.support.screen import look
from apps.support.serving import Served
from apps.support.uploads import a_pdf, put, submit
from conftest import Connect
from forebay.calls import agent, operator, submitter, worker
from forebay_apps.intake import batches

RESULT = {
    "fields": {"kind": "invoice", "number": "RE-1", "total": "1190.00", "currency": "EUR"},
    "page_count": 3,
}


@pytest.fixture
def conn(connect: Connect) -> psycopg.Connection:
    """Connect as everybody, with an agent that does one document at a time."""
    conn = connect("all")
    operator.register_agent(conn, agent="parse_document", max_concurrent_tasks=1)
    return conn


@pytest.fixture
def batch_id(conn: psycopg.Connection, intake: Served, client: ClientOf) -> int:
    """Submit three documents as Mila."""
    mila = client(intake, "mila")
    ids = [put(mila, a_pdf(), f"{name}.pdf").json()["upload_id"] for name in "abc"]
    return int(submit(mila, ids, name="July").json()["batch_id"])


def claim(conn: psycopg.Connection) -> int:
    """Begin the next document, and return its attempt."""
    (claimed,) = worker.dequeue(conn, worker="w", agents=["parse_document"])
    return claimed.attempt_id


def document(page: Page, name: str) -> str:
    """Return what is said of a document."""
    row = page.locator(".document", has=page.get_by_text(name, exact=True))
    return " ".join(row.inner_text().split())


def test_a_batch_is_followed_to_its_end(
    conn: psycopg.Connection, intake: Served, visit: Visit, batch_id: int
) -> None:
    """Without a reload: what waits and why, how far each is, what was found, what failed."""
    page = visit(intake, f"/batches/{batch_id}", "mila")
    expect(page.locator(".outlook-count")).to_have_text("0 of 3 finished")
    attempt_id = claim(conn)
    agent.report_progress(conn, attempt_id=attempt_id, done=1, total=3)
    expect(page.locator(".documents")).to_contain_text("1 of 3 pages read")
    assert "Waits for a free place." in document(page, "b.pdf")
    look(page, "batch-working")
    agent.complete(conn, attempt_id=attempt_id, result=RESULT, confidence=0.93)
    expect(page.locator(".outlook-count")).to_have_text("1 of 3 finished")
    assert document(page, "a.pdf") == "a.pdf Invoice RE-1 · 1,190.00 EUR Confidence 0.93 Done"
    error = {"kind": "bad_input", "message": "The PDF asks for a password; remove it."}
    agent.fail(conn, attempt_id=claim(conn), error=error, retryable=False)
    expect(page.locator(".documents")).to_contain_text("The PDF asks for a password; remove it.")
    agent.complete(conn, attempt_id=claim(conn), result={})
    expect(page.locator(".outlook-count")).to_have_text("3 of 3 finished")
    expect(page.locator(".outlook-left")).to_contain_text("Done")
    assert document(page, "c.pdf") == "c.pdf Read Done"
    look(page, "batch-done")


def test_documents_are_shown_by_state(
    conn: psycopg.Connection, intake: Served, visit: Visit, batch_id: int
) -> None:
    """The state is in the address, so that it can be shared and stays when things change."""
    page = visit(intake, f"/batches/{batch_id}?state=waiting", "mila")
    expect(page.locator(".document")).to_have_count(3)
    claim(conn)
    expect(page.locator(".document")).to_have_count(2)
    page.get_by_role("link", name="Working 1").click()
    expect(page.locator(".document-name")).to_have_text(["a.pdf"])
    page.goto(f"{intake.url}/batches/{batch_id}?state=failed")
    expect(page.locator(".documents")).to_have_text("No document is failed now.")


def test_the_rest_is_cancelled_and_put_back(
    conn: psycopg.Connection, intake: Served, visit: Visit, batch_id: int
) -> None:
    """A cancel asks first, from the keyboard too; retry puts back what was cancelled or failed."""
    agent.complete(conn, attempt_id=claim(conn), result=RESULT)
    page = visit(intake, f"/batches/{batch_id}", "mila")
    page.get_by_text("Cancel the rest").press("Enter")
    page.get_by_role("button", name="Cancel 2 documents").press("Enter")
    expect(page.locator(".flash")).to_have_text("2 documents are cancelled.")
    expect(page.locator(".outlook-count")).to_have_text("3 of 3 finished")
    page.get_by_role("button", name="Retry 2 cancelled").click()
    expect(page.locator(".flash")).to_have_text("2 documents are back in line.")
    tasks = submitter.batch_tasks(conn, batch_id=batch_id, actor="mila")
    assert [task.status for task in tasks] == ["completed", "enqueued", "enqueued"]


def test_what_failed_is_put_back_without_what_was_cancelled_and_one_document_alone(
    conn: psycopg.Connection, intake: Served, visit: Visit, client: ClientOf, batch_id: int
) -> None:
    """Each has a button of its own; a document's stands on its page."""

    def statuses() -> list[str]:
        tasks = submitter.batch_tasks(conn, batch_id=batch_id, actor="mila")
        return [task.status for task in tasks]

    agent.fail(conn, attempt_id=claim(conn), error={"message": "no"}, retryable=False)
    submitter.cancel_batch(conn, batch_id=batch_id, actor="mila")
    page = visit(intake, f"/batches/{batch_id}", "mila")
    expect(page.get_by_role("button", name="Retry all 3")).to_be_visible()
    expect(page.get_by_role("button", name="Retry 2 cancelled")).to_be_visible()
    look(page, "batch-retry")
    page.get_by_role("button", name="Retry 1 failed").click()
    expect(page.locator(".flash")).to_have_text("1 document is back in line.")
    assert statuses() == ["enqueued", "cancelled", "cancelled"]
    page.get_by_role("link", name="c.pdf").click()
    page.get_by_role("button", name="Retry this document").click()
    expect(page.locator(".flash")).to_have_text("1 document is back in line.")
    expect(page.locator(".status")).to_have_text("Waiting")
    assert statuses() == ["enqueued", "cancelled", "enqueued"]
    mila, alice = client(intake, "mila"), client(intake, "alice")
    assert mila.post(f"/batches/{batch_id}/retry", data={"state": "done"}).status_code == 400
    (_, second, _) = submitter.batch_tasks(conn, batch_id=batch_id, actor="mila")
    address = f"/batches/{batch_id}/documents/{second.task_id}/retry"
    assert alice.post(address).status_code == 404
    assert statuses() == ["enqueued", "cancelled", "enqueued"]


NOTIFICATIONS = """
window.told = [];
window.Notification = class {
  static permission = "granted";
  static requestPermission = async () => "granted";
  constructor(title, {body}) { window.told.push(`${title}: ${body}`); }
};
"""


def test_the_browser_tells_when_a_batch_is_done(
    conn: psycopg.Connection, intake: Served, visit: Visit, batch_id: int
) -> None:
    """Once, to who asked for it; there is nothing to ask for when it is done."""
    page = visit(intake, "/", "mila")
    page.add_init_script(NOTIFICATIONS)
    page.goto(f"{intake.url}/batches/{batch_id}")
    page.get_by_role("button", name="Notify me when done").click()
    expect(page.get_by_role("button", name="Will notify you")).to_be_visible()
    for _ in range(3):
        agent.complete(conn, attempt_id=claim(conn), result=RESULT)
    expect(page.locator("[data-said]")).to_have_text("Done. July: 3 done.")
    assert page.evaluate("window.told") == ["Your batch is done: July: 3 done."]
    expect(page.locator("[data-notify]")).to_be_hidden()


def test_a_page_in_the_background_tells_too(
    conn: psycopg.Connection, intake: Served, visit: Visit, batch_id: int
) -> None:
    """Hidden pages are not kept up to date; whoever waits for a notification still gets it."""
    page = visit(intake, "/", "mila")
    page.add_init_script(NOTIFICATIONS)
    page.clock.install()
    page.goto(f"{intake.url}/batches/{batch_id}")
    page.get_by_role("button", name="Notify me when done").click()
    page.evaluate(
        "Object.defineProperty(document, 'hidden', {get: () => true});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    for _ in range(3):
        agent.complete(conn, attempt_id=claim(conn), result=RESULT)
    page.clock.run_for(15_000)
    expect(page.locator("[data-said]")).to_have_text("Done. July: 3 done.")
    assert page.evaluate("window.told") == ["Your batch is done: July: 3 done."]


def test_my_batches_are_listed(
    conn: psycopg.Connection, intake: Served, visit: Visit, client: ClientOf, batch_id: int
) -> None:
    """The newest first, nobody else's, with how far each is, as it changes; older ones behind."""
    page = visit(intake, "/batches", "mila")
    expect(page.locator(".batch-words")).to_have_text("3 documents: 3 waiting")
    agent.complete(conn, attempt_id=claim(conn), result=RESULT)
    expect(page.locator(".batch-words")).to_have_text("3 documents: 1 done, 2 waiting")
    look(page, "batches")
    for number in range(30):
        submitter.open_batch(conn, name=f"empty {number}", owner="mila")
    page.reload()
    expect(page.locator(".batch")).to_have_count(30)
    page.get_by_role("link", name="Older").click()
    expect(page.locator(".batch-title a")).to_have_text(["July"])
    alice = visit(intake, "/batches", "alice")
    expect(alice.locator(".batch")).to_have_count(0)
    look(alice, "batches-none")


def test_a_batch_is_its_owners_and_an_admins(
    intake: Served, read_batch: ReadBatch, client: ClientOf, visit: Visit
) -> None:
    """For everybody else it does not exist, whatever they ask of it; an admin may look, not act."""
    task_id = read_batch.tasks["rechnung"]
    batch = f"/batches/{read_batch.batch_id}"
    document = f"{batch}/documents/{task_id}"
    looks = [
        *(batch, f"{batch}/now", f"{batch}/state", f"{batch}/results.json"),
        *(f"{batch}/results.csv", f"{batch}/results.lines.csv", document, f"{document}/now"),
        *(f"{document}/pages/1.png", f"{document}/original.pdf", f"{document}/result.json"),
    ]
    expected = {"alice": 200, "root": 200, "mila": 404, "vic": 404, "oscar": 404}
    for name, status in expected.items():
        person = client(intake, name)
        assert {person.get(path).status_code for path in looks} == {status}, name
    for name in ("root", "mila", "oscar"):
        person = client(intake, name)
        assert person.post(f"{batch}/cancel").status_code == 404
        assert person.post(f"{batch}/retry").status_code == 404
    page = visit(intake, batch, "root")
    expect(page.locator("h1 + p")).to_contain_text("of alice")
    expect(page.get_by_role("button", name="Retry")).to_have_count(0)


def test_a_document_is_found_in_its_own_batch_alone(
    conn: psycopg.Connection, intake: Served, read_batch: ReadBatch, client: ClientOf
) -> None:
    """The id of another batch's document leads nowhere, as do ids that are none."""
    alice = client(intake, "alice")
    other = submitter.open_batch(conn, name="other", owner="alice")
    task_id = read_batch.tasks["rechnung"]
    for path in (
        f"/batches/{other}/documents/{task_id}",
        f"/batches/{other}/documents/{task_id}/pages/1.png",
        f"/batches/{other}/documents/{task_id - 1}/result.json",
        f"/batches/{read_batch.batch_id}/documents/{2**63 - 1}",
        "/batches/999999",
    ):
        assert alice.get(path).status_code == 404, path
    for path in ("/batches/0", f"/batches/{2**63}", "/batches/x", "/batches/1?after=x"):
        assert alice.get(path).status_code == 400, path


def test_a_link_outlives_the_app(
    conn: psycopg.Connection, serve: Serve, client: ClientOf, read_batch: ReadBatch
) -> None:
    """Another process answers at the same path with the same batch."""
    alice = client(serve("intake"), "alice")
    answer = alice.get(f"/batches/{read_batch.batch_id}")
    assert "Post of today" in answer.text


def test_results_are_downloaded(intake: Served, read_batch: ReadBatch, client: ClientOf) -> None:
    """JSON has each document's result, the tables a row for each document and line item."""
    alice = client(intake, "alice")
    path = f"/batches/{read_batch.batch_id}/results"
    answer = alice.get(f"{path}.json")
    name = f'attachment; filename="batch-{read_batch.batch_id}.json"'
    assert answer.headers["Content-Disposition"] == name
    told = answer.json()
    assert told["batch"]["batch_id"] == str(read_batch.batch_id)
    by_task = {each["task_id"]: each for each in told["documents"]}
    assert set(by_task) == {str(task_id) for task_id in read_batch.tasks.values()}
    assert by_task[str(read_batch.tasks["rechnung"])]["result"]["fields"]["currency"] == "EUR"
    assert "password" in by_task[str(read_batch.tasks["invoice-encrypted"])]["error"]["message"]
    rows = _rows(alice.get(f"{path}.csv"))
    assert len(rows) == len(read_batch.tasks)
    assert {row["document"] for row in rows} == {f"July/{name} №1.pdf" for name in read_batch.tasks}
    lines = _rows(alice.get(f"{path}.lines.csv"))
    assert len(lines) == sum(len((e["result"] or {}).get("lines", [])) for e in by_task.values())
    assert alice.get(f"{path}.xls").status_code == 404


def _rows(answer: httpx.Response) -> list[dict[str, str]]:
    assert answer.headers["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode("utf-8-sig"))))


def test_a_large_batch_is_shown_a_page_at_a_time(
    conn: psycopg.Connection, intake: Served, visit: Visit
) -> None:
    """A hundred documents a page; the counts are those of all."""
    batch_id = submitter.open_batch(conn, name="many", owner="mila")
    tasks = [{"payload": {"document": "x.pdf", "name": f"{n}.pdf"}} for n in range(250)]
    submitter.enqueue_many(conn, agent="parse_document", tasks=tasks, batch_id=batch_id)
    page = visit(intake, f"/batches/{batch_id}", "mila")
    expect(page.locator(".outlook-count")).to_have_text("0 of 250 finished")
    seen = [page.locator(".document-name").all_inner_texts()]
    for _ in range(2):
        page.get_by_role("link", name=re.compile("Next")).click()
        page.wait_for_load_state()
        seen.append(page.locator(".document-name").all_inner_texts())
    assert [len(names) for names in seen] == [100, 100, 50]
    assert [name for names in seen for name in names] == [f"{n}.pdf" for n in range(250)]
    expect(page.locator(".documents-head")).to_contain_text("50 of 250 documents on this page")
    expect(page.get_by_role("link", name=re.compile("Next"))).to_have_count(0)
    page.get_by_role("link", name="First", exact=True).click()
    expect(page.locator(".documents-head")).to_contain_text("100 of 250 documents on this page")
    look(page, "batch-large")


def test_the_least_sure_come_first(
    conn: psycopg.Connection,
    intake: Served,
    visit: Visit,
    complaints: Complaints,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of those that are done, over all pages; it stands in the address, and leads on from each."""
    complaints.expect("404")  # there are no files
    monkeypatch.setattr(batches, "DOCUMENTS", 3)
    operator.register_agent(conn, agent="parse_document", max_concurrent_tasks=9)
    batch_id = submitter.open_batch(conn, name="some", owner="mila")
    sure: list[float | None] = [0.9, None, 0.25, 0.9, 0]
    tasks = [{"payload": {"name": f"{n}.pdf"}} for n in range(len(sure) + 1)]
    submitter.enqueue_many(conn, agent="parse_document", tasks=tasks, batch_id=batch_id)
    for confidence in sure:
        agent.complete(conn, attempt_id=claim(conn), result=RESULT, confidence=confidence)
    page = visit(intake, f"/batches/{batch_id}", "mila")
    page.get_by_role("link", name="least sure first").click()
    page.wait_for_url("**order=confidence")
    names = page.locator(".document-name")
    expect(names).to_have_text(["4.pdf", "2.pdf", "0.pdf"])
    look(page, "batch-least-sure")
    page.get_by_role("link", name="Next", exact=True).click()
    expect(names).to_have_text(["3.pdf", "1.pdf"])
    page.get_by_role("link", name="First", exact=True).click()
    expect(names).to_have_text(["4.pdf", "2.pdf", "0.pdf"])
    page.get_by_role("link", name="4.pdf").click()
    page.get_by_role("link", name="Next document").click()
    expect(page.locator("h1")).to_have_text("2.pdf")
    page.get_by_role("link", name="some").click()
    expect(names).to_have_text(["4.pdf", "2.pdf", "0.pdf"])


def test_a_pause_is_told_without_its_reason(
    conn: psycopg.Connection, intake: Served, visit: Visit, batch_id: int
) -> None:
    """Operators write it for each other; whatever part of a batch is shown."""
    operator.pause_agent(conn, agent="parse_document", reason="acme has not paid", actor="oscar")
    for query in ("", "?state=waiting", "?state=done"):
        page = visit(intake, f"/batches/{batch_id}{query}", "mila")
        expect(page.locator(".outlook-why")).to_have_text(
            "Agent parse_document is paused until it is resumed."
        )
        assert "not paid" not in page.content()
    page = visit(intake, f"/batches/{batch_id}", "mila")
    page.locator(".document-name").first.click()
    expect(page.locator(".found")).to_contain_text("is paused until it is resumed.")
    assert "not paid" not in page.content()


def test_a_person_is_the_same_in_capitals(conn: psycopg.Connection, serve: Serve) -> None:
    """Batches are found under the name in any case, also those of before names were folded."""
    app = serve("intake", FOREBAY_LOGIN="proxy", FOREBAY_TRUSTED_PROXIES="127.0.0.1")
    submitter.open_batch(conn, name="Old one", owner="Sam@Example.org")
    for name in ("SAM@example.org", "sam@example.org"):
        headers = {"X-Forwarded-User": name}
        answer = httpx.get(f"{app.url}/batches", headers=headers)
        assert "Old one" in answer.text
        path = re.search(r"/batches/\d+", answer.text)
        assert path
        assert httpx.get(app.url + path[0], headers=headers).status_code == 200
