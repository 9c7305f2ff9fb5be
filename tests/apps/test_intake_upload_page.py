"""People put a batch together in a browser: they see what becomes of each file, and lose none."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from apps.conftest import ClientOf, Outage, Serve, Visit
from apps.support.browser import Complaints
from apps.support.screen import look
from apps.support.serving import Served
from apps.support.uploads import a_pdf, stored, uploaded
from apps.test_intake_parts import NAMES
from conftest import Connect
from forebay.calls import operator, submitter
from forebay.rows import BatchTask
from forebay_apps.intake import offer

UPLOADED = 60_000
"""Milliseconds for many files on a busy machine."""


@pytest.fixture
def conn(connect: Connect) -> psycopg.Connection:
    """Connect as everybody, with the agent there."""
    conn = connect("all")
    operator.register_agent(conn, agent="parse_document")
    return conn


def pick(page: Page, *files: tuple[str, bytes]) -> None:
    """Choose files as a person does, and wait until each was sent and answered."""
    payloads = [FilePayload(name=name, mimeType="application/pdf", buffer=c) for name, c in files]
    page.locator("[data-pick]").set_input_files(payloads)
    settled(page)


def settled(page: Page) -> None:
    """Wait until no file is on its way."""
    going = page.locator(".file:is([data-state=queued], [data-state=sending])")
    expect(going).to_have_count(0, timeout=UPLOADED)
    expect(page.locator(".file[data-state=checking]")).to_have_count(0, timeout=UPLOADED)


def submit(page: Page) -> int:
    """Press the button, and return the batch whose page opens."""
    page.locator("[data-submit]").click()
    page.wait_for_url(re.compile(r"/batches/\d+$"))
    return int(page.url.rpartition("/")[2])


def tasks_of(conn: psycopg.Connection, batch_id: int) -> list[BatchTask]:
    return submitter.batch_tasks(conn, batch_id=batch_id, actor="mila")


def batches(conn: psycopg.Connection) -> list[int]:
    return [each.batch_id for each in submitter.own_batches(conn, actor="mila")]


def words(page: Page, name: str) -> str:
    """Return what is said beside a file's name."""
    row = page.locator(".file", has=page.get_by_text(name, exact=True))
    return row.locator("[data-words]").inner_text()


def test_a_batch_is_put_together(
    conn: psycopg.Connection, intake: Served, visit: Visit, complaints: Complaints
) -> None:
    """Bad files are refused with a sentence beside their names; the others make the batch."""
    complaints.expect("422")
    page = visit(intake, "/", "mila")
    look(page, "upload-empty")
    pick(page, ("one.pdf", a_pdf()), ("empty.pdf", b""), ("two.pdf", a_pdf(pages=2)))
    pick(page, ("page.html", b"<!doctype html>"))
    expect(page.locator("[data-summary]")).to_have_text("2 ready · 2 refused")
    assert words(page, "empty.pdf") == "The file is empty (0 bytes): export it again."
    assert words(page, "page.html").startswith("The file is not a PDF")
    assert (words(page, "one.pdf"), words(page, "two.pdf")) == ("1 page", "2 pages")
    look(page, "upload-some-refused")
    page.get_by_label("Customer").fill("ACME")
    page.get_by_text("Bulk", exact=True).click()
    tasks = tasks_of(conn, submit(page))
    assert [task.payload["name"] for task in tasks] == ["one.pdf", "two.pdf"]
    assert {task.priority for task in tasks} == {-10}
    expect(page.locator("h1")).to_contain_text("2 documents, ")
    assert len(stored(intake)) == 2


@pytest.mark.timeout(300)
def test_two_hundred_files_in_one_go(
    conn: psycopg.Connection, intake: Served, visit: Visit, tmp_path: Path
) -> None:
    """All of them arrive, in the order in which they were chosen, and become one batch."""
    folder = tmp_path / "chosen"
    folder.mkdir()
    for number in range(200):
        (folder / f"{number:03}.pdf").write_bytes(a_pdf(str(number)))
    page = visit(intake, "/", "mila")
    page.locator("[data-pick]").set_input_files(sorted(folder.iterdir()))
    expect(page.locator("[data-submit]")).to_have_text("Submit 200 documents", timeout=4 * UPLOADED)
    tasks = tasks_of(conn, submit(page))
    assert [task.payload["name"] for task in tasks] == [f"{n:03}.pdf" for n in range(200)]


def test_names_of_every_kind(conn: psycopg.Connection, intake: Served, visit: Visit) -> None:
    """Whatever a file is called, its name is shown and kept as it is; twice the same is two."""
    names = [
        'it\'s "quoted" & <b>bold</b>.pdf',
        "100% of %20.pdf",
        "請求書 🧾.pdf",
        "n" * 300 + ".pdf",
        "same.pdf",
        "same.pdf",
    ]
    page = visit(intake, "/", "mila")
    pick(page, *((name, a_pdf()) for name in names))
    assert page.locator("[data-name-text]").all_inner_texts() == names
    look(page, "upload-names")
    tasks = tasks_of(conn, submit(page))
    assert [task.payload["name"] for task in tasks] == names
    assert page.locator(".document-name").all_inner_texts() == names
    look(page, "batch-names")


def test_names_that_are_not_seen(
    conn: psycopg.Connection, intake: Served, visit: Visit, client: ClientOf
) -> None:
    """Each document can be told from others and opened; its name is kept as it is."""
    mila = client(intake, "mila")
    names = (" ", "\n", "\u202e", "\u200b", "in\u202efdp.exe")
    uploaded(mila, names)
    page = visit(intake, "/", "mila")
    expected = [*(f"document {number}" for number in (1, 2, 3, 4)), "infdp.exe"]
    assert page.locator("[data-name-text]").all_inner_texts() == expected
    look(page, "upload-names-unseen")
    tasks = tasks_of(conn, submit(page))
    assert [task.payload["name"] for task in tasks] == list(names)
    shown = [*(f"document {task.task_id}" for task in tasks[:4]), "infdp.exe"]
    assert page.locator(".document-name").all_inner_texts() == shown
    look(page, "batch-names-unseen")
    page.get_by_role("link", name=shown[0], exact=True).click()
    expect(page.locator("h1")).to_have_text(shown[0])
    look(page, "document-name-unseen")
    for name in ("\u200b", "\u202eback"):
        submitter.open_batch(conn, name=name, owner="mila", customer="\u202e")
    page.goto(f"{intake.url}/batches")
    expect(page.locator(".batch-title a").first).to_have_text("back")
    look(page, "batches-names-unseen")


def test_the_browser_shows_names_as_the_server_does(intake: Served, visit: Visit) -> None:
    """A file that is picked is called the same before it was sent and after."""
    page = visit(intake, "/", "mila")
    shown = page.evaluate(
        """async ([names]) => {
            const {visible} = await import("/static/intake/files.js");
            return names.map((name) => visible(name, "x"));
        }""",
        [list(NAMES)],
    )
    assert dict(zip(NAMES, shown, strict=True)) == NAMES


def test_agents_that_nobody_has_set_up_are_not_offered(
    connect: Connect, serve: Serve, visit: Visit
) -> None:
    """The page says when there is none; one that is set up later is there at once."""
    intake = serve("intake", FOREBAY_INTAKE_AGENTS="first,second")
    page = visit(intake, "/", "mila")
    expect(page.locator(".upload-choices [role=status]")).to_contain_text("Nobody has set up")
    look(page, "upload-no-agent")
    operator.register_agent(connect("all"), agent="second")
    page.reload()
    assert page.locator("select[name=agent] option").all_inner_texts() == ["Second"]
    expect(page.locator(".upload-choices [role=status]")).to_have_count(0)


def test_the_log_names_agents_that_nobody_has_set_up(
    connect: Connect, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the start, and again only when it has changed."""
    said: list[list[str]] = []
    monkeypatch.setattr(offer.log, "warning", lambda event, **fields: said.append(fields["agents"]))
    intake = serve("intake")
    looking = offer.Offer(intake.app.state.connections, ["one", "other"])
    assert looking.step() == looking.step() == ["one", "other"]
    operator.register_agent(connect("all"), agent="other")
    assert looking.step() == ["one"]
    while ["parse_document"] not in said:  # the app itself says it, in a thread of its own
        time.sleep(0.01)
    assert [agents for agents in said if "one" in agents] == [["one", "other"], ["one"]]


def test_a_folder_is_taken_with_what_is_below(
    conn: psycopg.Connection, intake: Served, visit: Visit, tmp_path: Path
) -> None:
    """Names tell the folder; what is not named .pdf is left out, and the page says so."""
    folder = tmp_path / "post"
    (folder / "july").mkdir(parents=True)
    (folder / "july" / "a.PDF").write_bytes(a_pdf())
    (folder / "a.pdf").write_bytes(a_pdf())
    (folder / "notes.txt").write_text("not for the agent")
    page = visit(intake, "/", "mila")
    page.locator("input[webkitdirectory]").set_input_files(folder)
    settled(page)
    names = sorted(page.locator("[data-name-text]").all_inner_texts())
    assert names == ["post/a.pdf", "post/july/a.PDF"]
    expect(page.locator("[data-left-out]")).to_have_text(
        "Left out, as they are not named .pdf: notes.txt."
    )


DROP = """
(names) => {
  const given = new DataTransfer();
  for (const [name, content] of names) {
    given.items.add(new File([content], name, {type: "application/pdf"}));
  }
  const drop = (kind) => document.body.dispatchEvent(
    new DragEvent(kind, {dataTransfer: given, bubbles: true, cancelable: true}));
  drop("dragenter");
  const isLit = document.querySelector("[data-drop]").hasAttribute("data-over");
  drop("dragover");
  drop("drop");
  return isLit;
}
"""


def test_files_are_dropped(conn: psycopg.Connection, intake: Served, visit: Visit) -> None:
    """The place to drop them shows itself; they may fall anywhere on the page."""
    page = visit(intake, "/", "mila")
    assert page.evaluate(DROP, [["a.pdf", a_pdf().decode("latin-1")]])
    settled(page)
    assert words(page, "a.pdf") == "1 page"


def test_a_reload_shows_what_was_uploaded(
    conn: psycopg.Connection, intake: Served, visit: Visit
) -> None:
    """Nothing has to be uploaded twice; what was removed stays away."""
    page = visit(intake, "/", "mila")
    pick(page, ("a.pdf", a_pdf()), ("b.pdf", a_pdf()), ("c.pdf", a_pdf()))
    with page.expect_response(re.compile("/uploads/")):
        page.get_by_role("button", name="Remove b.pdf").press("Enter")
    page.reload()
    assert sorted(page.locator("[data-name-text]").all_inner_texts()) == ["a.pdf", "c.pdf"]
    assert len(tasks_of(conn, submit(page))) == 2
    page.goto(intake.url)
    expect(page.locator(".file")).to_have_count(0)
    assert len(stored(intake)) == 2


def test_a_copy_says_that_the_file_stays(
    superuser: psycopg.Connection, intake: Served, visit: Visit, complaints: Complaints
) -> None:
    """Who removes a file in a copy that nobody has opened reads why it is there again."""
    complaints.expect("403")
    page = visit(intake, "/", "mila")
    pick(page, ("a.pdf", a_pdf()))
    superuser.execute("update forebay.installation set home = '1'")
    page.get_by_role("button", name="Remove a.pdf").press("Enter")
    expect(page.locator("[data-problem]")).to_contain_text("neither takes nor removes files")
    assert len(stored(intake)) == 1


def test_a_submission_that_fails_is_repeated(
    conn: psycopg.Connection,
    intake: Served,
    visit: Visit,
    outage: Outage,
    complaints: Complaints,
    superuser: psycopg.Connection,
) -> None:
    """While the database is away nothing is lost; the same button then submits all, once."""
    complaints.expect("503")
    page = visit(intake, "/", "mila")
    pick(page, ("a.pdf", a_pdf()), ("b.pdf", a_pdf()))
    with outage():
        page.locator("[data-submit]").click()
        expect(page.locator("[data-problem]")).to_contain_text("nothing is lost, or sent twice")
        look(page, "upload-not-submitted")
    assert len(page.locator(".file[data-state=ready]").all()) == 2
    batch_id = submit(page)
    found = superuser.execute("select count(*), min(batch_id) from forebay.tasks").fetchone()
    assert found == (2, batch_id)


def test_an_answer_that_is_lost_doubles_nothing(
    conn: psycopg.Connection, intake: Served, visit: Visit, complaints: Complaints
) -> None:
    """The batch was made, and the page did not hear of it: submitting again leads to it."""
    complaints.expect("ERR_FAILED")
    page = visit(intake, "/", "mila")
    pick(page, ("a.pdf", a_pdf()))

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/batches", lose, times=1)
    page.locator("[data-submit]").click()
    expect(page.locator("[data-problem]")).to_contain_text("nothing is lost, or sent twice")
    (batch_id,) = batches(conn)
    assert submit(page) == batch_id
    assert batches(conn) == [batch_id]


def test_another_document_after_a_lost_answer_is_another_batch(
    conn: psycopg.Connection, intake: Served, visit: Visit, complaints: Complaints
) -> None:
    """What was submitted is not submitted again, and what came later is not lost."""
    complaints.expect("ERR_FAILED", "409")
    page = visit(intake, "/", "mila")
    pick(page, ("a.pdf", a_pdf()))

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/batches", lose, times=1)
    page.locator("[data-submit]").click()
    expect(page.locator("[data-problem]")).to_be_visible()
    pick(page, ("b.pdf", a_pdf()))
    page.locator("[data-submit]").click()
    expect(page.locator("[data-problem]")).to_contain_text("a.pdf")
    page.reload()
    assert page.locator("[data-name-text]").all_inner_texts() == ["b.pdf"]
    submit(page)
    assert [len(tasks_of(conn, batch_id)) for batch_id in batches(conn)] == [1, 1]


def test_two_clicks_are_one_submission(
    conn: psycopg.Connection, intake: Served, visit: Visit
) -> None:
    """A double click makes one batch."""
    page = visit(intake, "/", "mila")
    pick(page, ("a.pdf", a_pdf()))
    page.locator("[data-submit]").dblclick()
    page.wait_for_url(re.compile(r"/batches/\d+$"))
    assert len(batches(conn)) == 1


def test_a_line_that_broke_is_tried_again(
    conn: psycopg.Connection, intake: Served, visit: Visit, complaints: Complaints
) -> None:
    """The page tries by itself, then on a button; the file is not chosen again, nor doubled."""
    complaints.expect("ERR_FAILED")
    page = visit(intake, "/", "mila")
    page.clock.install()
    failures: list[Any] = []

    def fail(route: Route) -> None:
        failures.append(route)
        route.abort()

    page.route("**/uploads/*", fail, times=3)
    payload = FilePayload(name="a.pdf", mimeType="application/pdf", buffer=a_pdf())
    page.locator("[data-pick]").set_input_files([payload])
    for seconds in (1, 4):
        expect(page.locator("[data-words]")).to_have_text("Trying again")
        page.clock.run_for(seconds * 1000)
    expect(page.locator(".file[data-state=broken]")).to_have_count(1)
    assert len(failures) == 3
    page.get_by_role("button", name="Try a.pdf again").click()
    page.clock.run_for(1000)
    settled(page)
    assert words(page, "a.pdf") == "1 page"
    page.clock.run_for(1000)
    assert len(stored(intake)) == 1


def test_who_is_logged_out_logs_in_again_and_goes_on(
    conn: psycopg.Connection, intake: Served, visit: Visit, complaints: Complaints
) -> None:
    """The page says so beside the file, which is sent from there once there is a session."""
    complaints.expect("401")
    page = visit(intake, "/", "mila")
    cookies = page.context.cookies()
    page.context.clear_cookies()
    pick(page, ("a.pdf", a_pdf()))
    assert words(page, "a.pdf") == "Your session has ended. Log in again to go on."
    page.context.add_cookies(cookies)
    page.get_by_role("button", name="Try a.pdf again").click()
    expect(page.locator("[data-submit]")).to_have_text("Submit 1 document")
    assert len(tasks_of(conn, submit(page))) == 1


def test_what_is_too_large_is_not_even_sent(
    conn: psycopg.Connection, serve: Serve, visit: Visit
) -> None:
    """The page itself says so, beside the name."""
    app = serve("intake", FOREBAY_UPLOAD_MB="1")
    page = visit(app, "/", "mila")
    pick(page, ("large.pdf", a_pdf() + b" " * (1 << 20)), ("small.pdf", a_pdf()))
    said = "The file has more than 1 MB, which is the limit: split it."
    assert words(page, "large.pdf") == said
    assert words(page, "small.pdf") == "1 page"
    assert len(stored(app)) == 1


def test_without_javascript_what_is_there_is_submitted(
    conn: psycopg.Connection, intake: Served, visit: Visit
) -> None:
    """The form is a form."""
    page = visit(intake, "/", "mila")
    pick(page, ("a.pdf", a_pdf()), ("b.pdf", a_pdf()))
    plain = visit(intake, "/", "mila", java_script_enabled=False)
    plain.locator("[data-submit]").click()
    plain.wait_for_url(re.compile(r"/batches/\d+$"))
    assert len(tasks_of(conn, int(plain.url.rpartition("/")[2]))) == 2
