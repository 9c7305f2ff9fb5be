"""Files that are uploaded are taken or refused at once, whatever they are called and hold."""

from __future__ import annotations

import re
import socket
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest

from agents.pdfs import pdf
from apps.conftest import ClientOf, Outage, Serve
from apps.support.serving import Served
from apps.support.uploads import NAMES, a_pdf, put, stored, submit, uploaded
from conftest import Connect
from forebay.calls import operator, submitter
from forebay.logs import FIELDS
from forebay.rows import BatchTask
from forebay_apps.intake.storing import UNUSABLE
from forebay_lab.samples import write_samples

MEGABYTE = 1 << 20


@pytest.fixture
def conn(connect: Connect) -> psycopg.Connection:
    """Connect as everybody, with the agent there."""
    conn = connect("all")
    operator.register_agent(conn, agent="parse_document")
    return conn


@pytest.fixture
def mila(intake: Served, client: ClientOf) -> httpx.Client:
    """Log Mila in, who submits documents."""
    return client(intake, "mila")


def tasks_of(conn: psycopg.Connection, answer: httpx.Response) -> list[BatchTask]:
    """Return the tasks of the batch that an answer tells of."""
    assert answer.status_code == 201, answer.text
    batch_id = int(answer.json()["batch_id"])
    return submitter.batch_tasks(conn, batch_id=batch_id, actor="mila")


def test_any_name_is_data(conn: psycopg.Connection, intake: Served, mila: httpx.Client) -> None:
    """Names with slashes, quotes, emoji and 300 characters come back whole, and name no file."""
    tasks = tasks_of(conn, submit(mila, uploaded(mila, NAMES)))
    assert tuple(task.payload["name"] for task in tasks) == NAMES
    assert [path.parent for path in stored(intake)] == [intake.storage / "uploads"] * len(NAMES)
    documents = {task.payload["document"] for task in tasks}
    assert documents == {f"uploads/{path.name}" for path in stored(intake)}


@pytest.mark.parametrize(
    ("name", "status", "sentence"),
    [
        ("", 400, "Name must have 1 to 1000 characters."),
        ("n" * 1001, 400, "Name must have 1 to 1000 characters."),
        ("a\0.pdf", 422, "The name holds a NUL character: rename the file."),
    ],
)
def test_a_name_that_cannot_be_kept_is_refused(
    conn: psycopg.Connection,
    intake: Served,
    mila: httpx.Client,
    name: str,
    status: int,
    sentence: str,
) -> None:
    """It is refused before a byte is written."""
    answer = put(mila, a_pdf(), name)
    assert (answer.status_code, answer.json()) == (status, {"error": sentence})
    assert not stored(intake)


def test_a_storage_that_went_away_takes_nothing(
    conn: psycopg.Connection,
    intake: Served,
    mila: httpx.Client,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is not made anew, where nobody would find the file later; only the log names its place."""
    away = intake.storage.rename(intake.storage.with_name("away"))
    answer = put(mila, a_pdf())
    assert (answer.status_code, answer.json()) == (503, {"error": UNUSABLE})
    assert not intake.storage.exists()
    (said,) = (fields["reason"] for each in caplog.records if (fields := getattr(each, FIELDS)))
    assert "The storage root" in said
    assert "is not there: mount it" in said
    away.rename(intake.storage)
    assert put(mila, a_pdf()).status_code == 201


def test_a_storage_that_is_in_disorder_is_not_the_file_s_fault(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """Nobody is told to upload again what cannot be stored."""
    (intake.storage / "uploads").touch()
    answer = put(mila, a_pdf())
    assert (answer.status_code, answer.json()) == (503, {"error": UNUSABLE})


def test_a_nul_is_told_in_plain_words(conn: psycopg.Connection, mila: httpx.Client) -> None:
    """Wherever it stands in the form."""
    ids = uploaded(mila, ("a.pdf",))
    for form in ({"name": "a\0"}, {"customer": "a\0"}, {"key": "a\0"}):
        answer = submit(mila, ids, **form)
        assert answer.status_code == 400
        assert answer.json() == {"error": "A NUL character cannot be stored: remove it."}


def test_bytes_that_are_no_text_in_a_name_are_replaced(
    conn: psycopg.Connection, mila: httpx.Client
) -> None:
    """Half a character in a name does not cost the upload."""
    answer = mila.put(
        f"/uploads/{uuid.uuid4()}",
        content=a_pdf(),
        headers={"X-Document-Name": "caf%E9.pdf", "Accept": "application/json"},
    )
    (task,) = tasks_of(conn, submit(mila, [answer.json()["upload_id"]]))
    assert task.payload["name"] == "caf\ufffd.pdf"


def bad_files(intake: Served) -> dict[str, bytes]:
    """Return files that cannot be read, by what is said of them."""
    folder = intake.home / "samples"
    write_samples(folder, ["invoice-encrypted", "invoice-broken", "rechnung"])
    whole = (folder / "rechnung.pdf").read_bytes()
    return {
        "is empty (0 bytes)": b"",
        "is not a PDF": b"<!doctype html><title>Log in</title>",
        "password": (folder / "invoice-encrypted.pdf").read_bytes(),
        "broken, cut off": (folder / "invoice-broken.pdf").read_bytes(),
        "cut off": whole[: len(whole) * 9 // 10],
        "without pages": pdf([]),
    }


def test_what_cannot_be_read_is_refused_with_a_sentence(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """Each is refused at once, nothing of it is left, and the others are taken."""
    for piece, content in bad_files(intake).items():
        answer = put(mila, content, "bad.pdf")
        assert answer.status_code == 422
        assert piece in answer.json()["error"], answer.text
        assert answer.json()["error"].endswith(".")
        assert not stored(intake)
    assert put(mila, pdf([b""]), "blank.pdf").status_code == 201
    assert len(submitter.list_uploads(conn, actor="mila")) == 1


def test_what_is_too_long_is_refused(
    conn: psycopg.Connection, serve: Serve, client: ClientOf
) -> None:
    """More pages than the setting allows are told with both numbers."""
    app = serve("intake", FOREBAY_UPLOAD_PAGES="3")
    mila = client(app, "mila")
    assert put(mila, a_pdf(pages=3)).status_code == 201
    answer = put(mila, a_pdf(pages=4))
    assert answer.json() == {"error": "The PDF has 4 pages, and 3 are allowed; split it."}
    assert len(stored(app)) == 1


def test_a_file_that_says_that_it_is_too_large_is_not_read(
    conn: psycopg.Connection, serve: Serve, client: ClientOf
) -> None:
    """The answer comes before the body, the connection ends, and nobody heard of the upload."""
    app = serve("intake", FOREBAY_UPLOAD_MB="1")
    mila = client(app, "mila")
    answer, _ = _send(app, mila, {"Content-Length": str(5 * MEGABYTE)}, iter([b"%PDF-1.4"]))
    assert answer.startswith(b"HTTP/1.1 413")
    assert b"The file has more than 1 MB, which is the limit: split it." in answer
    assert not stored(app)


def test_a_file_that_grows_too_large_is_cut_off(
    conn: psycopg.Connection, serve: Serve, client: ClientOf
) -> None:
    """The connection ends soon after the limit, long before all is sent, and nothing is left."""
    app = serve("intake", FOREBAY_UPLOAD_MB="1")
    mila = client(app, "mila")
    piece = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    first = b"a\r\n%PDF-1.4\n%\r\n"

    def pieces() -> Iterator[bytes]:
        yield first
        for _ in range(64 * 16):
            yield piece

    answer, sent = _send(app, mila, {"Transfer-Encoding": "chunked"}, pieces())
    assert b" 413 " in answer or not answer  # a reset may overtake the answer
    assert sent < 16 * MEGABYTE
    assert not stored(app)


def _send(
    app: Served, client: httpx.Client, headers: dict[str, str], pieces: Iterator[bytes]
) -> tuple[bytes, int]:
    """Send a body as long as it is taken; return the answer and how much was sent."""
    where = urlsplit(app.url)
    cookie = "; ".join(f"{each.name}={each.value}" for each in client.cookies.jar)
    lines = [
        f"PUT /uploads/{uuid.uuid4()} HTTP/1.1",
        f"Host: {where.netloc}",
        f"Origin: {app.url}",
        f"Cookie: {cookie}",
        "X-Document-Name: a.pdf",
        *(f"{name}: {value}" for name, value in headers.items()),
    ]
    sent, answer = 0, b""
    with socket.create_connection((where.hostname or "", where.port or 0), timeout=20) as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode())
        try:
            for piece in pieces:
                line.sendall(piece)
                sent += len(piece)
            while chunk := line.recv(65536):
                answer += chunk
        except ConnectionError:
            pass
    return answer, sent


def test_a_line_that_breaks_leaves_nothing(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """Whoever goes in the middle of a file leaves nothing to submit, and may send it again."""
    upload_id = str(uuid.uuid4())
    with pytest.raises(RuntimeError, match="gone"):
        put(mila, _broken_off(), upload_id=upload_id)
    assert put(mila, a_pdf(), upload_id=upload_id).status_code == 201
    assert len(stored(intake)) == 1
    assert len(submitter.list_uploads(conn, actor="mila")) == 1


def _broken_off() -> Iterator[bytes]:
    yield a_pdf()
    raise RuntimeError("gone")


def test_the_same_file_again_is_one(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """A page that did not hear the answer sends it again under its id; the first is kept."""
    upload_id = str(uuid.uuid4())
    first = put(mila, a_pdf("first"), upload_id=upload_id)
    again = put(mila, a_pdf("another", pages=2), upload_id=upload_id)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert len(submitter.list_uploads(conn, actor="mila")) == 1
    assert [path.read_bytes() for path in stored(intake)] == [a_pdf("first")]


def test_a_file_is_not_exchanged_after_it_was_checked(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client, client: ClientOf
) -> None:
    """A slow second body of the same id, whatever it holds, comes too late."""
    upload_id = str(uuid.uuid4())
    begun, submitted = threading.Event(), threading.Event()

    def slow() -> Iterator[bytes]:
        yield b"%PDF-1.4\n" + b"not really " * 200
        begun.set()
        submitted.wait(20)
        yield b"the end"

    def send() -> httpx.Response:
        return put(client(intake, "mila"), slow(), upload_id=upload_id)

    with ThreadPoolExecutor() as pool:
        late = pool.submit(send)
        assert begun.wait(20)
        assert put(mila, a_pdf(), upload_id=upload_id).status_code == 201
        tasks_of(conn, submit(mila, [upload_id]))
        submitted.set()
        assert late.result().status_code == 409
    assert [path.read_bytes() for path in stored(intake)] == [a_pdf()]


def test_what_was_submitted_is_not_written_over(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """The id of a submitted document takes no other content, and cannot be given up."""
    (upload_id,) = uploaded(mila, ("a.pdf",))
    tasks_of(conn, submit(mila, [upload_id]))
    assert put(mila, a_pdf("other"), upload_id=upload_id).status_code == 409
    assert mila.delete(f"/uploads/{upload_id}").status_code == 204
    assert [path.read_bytes() for path in stored(intake)] == [a_pdf()]


def test_somebody_elses_upload_is_out_of_reach(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client, client: ClientOf
) -> None:
    """Another person can neither replace nor drop nor submit it."""
    alice = client(intake, "alice")
    (upload_id,) = uploaded(mila, ("a.pdf",))
    assert put(alice, a_pdf("other"), upload_id=upload_id).status_code == 404
    alice.delete(f"/uploads/{upload_id}")
    assert submit(alice, [upload_id]).status_code == 404
    assert [path.read_bytes() for path in stored(intake)] == [a_pdf()]
    assert len(tasks_of(conn, submit(mila, [upload_id]))) == 1


def test_a_file_given_up_is_gone(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """Dropped once or twice, it is neither stored nor submitted."""
    (upload_id,) = uploaded(mila, ("a.pdf",))
    assert [mila.delete(f"/uploads/{upload_id}").status_code for _ in range(2)] == [204, 204]
    assert not stored(intake)
    answer = submit(mila, [upload_id])
    assert answer.status_code == 404
    assert "was dropped" in answer.json()["error"]


def test_the_same_submission_again_is_one_batch(
    conn: psycopg.Connection, mila: httpx.Client
) -> None:
    """Whatever became of the first answer, nothing is doubled; under a new key it is refused."""
    ids = uploaded(mila, ("a.pdf", "b.pdf"))
    first, again = submit(mila, ids, key="k"), submit(mila, ids, key="k")
    assert first.json() == again.json()
    assert len(tasks_of(conn, again)) == 2
    assert submit(mila, ids).status_code == 409


def test_a_database_that_is_away_loses_nothing(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client, outage: Outage
) -> None:
    """Uploads and submissions are answered with 503 and a sentence; afterwards they succeed."""
    ids = uploaded(mila, ("a.pdf", "b.pdf"))
    with outage():
        late = put(mila, a_pdf(), "late.pdf")
        failed = submit(mila, ids, key="k")
    assert (late.status_code, failed.status_code) == (503, 503)
    assert failed.json() == {"error": "Try again in a moment."}
    with psycopg.connect(conn.info.dsn, autocommit=True, password=conn.info.password) as again:
        assert len(tasks_of(again, submit(mila, ids, key="k"))) == 2
        assert len(tasks_of(again, submit(mila, ids, key="k"))) == 2
        assert not submitter.list_uploads(again, actor="mila")
    assert len(stored(intake)) == 2


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"upload_ids": ""}, "There is nothing to submit yet: upload a document first."),
        ({"upload_ids": "x y"}, "What was sent names no uploads: reload the page."),
        ({"agent": "root"}, "Choose an agent and an urgency that this page offers."),
        ({"urgency": "now"}, "Choose an agent and an urgency that this page offers."),
    ],
)
def test_what_the_page_does_not_offer_is_refused(
    conn: psycopg.Connection, mila: httpx.Client, fields: dict[str, str], sentence: str
) -> None:
    """A form that was made up says in a sentence what to do."""
    answer = submit(mila, uploaded(mila, ("a.pdf",)), **fields)
    assert (answer.status_code, answer.json()) == (400, {"error": sentence})


def test_urgency_customer_and_name_go_with_the_batch(
    conn: psycopg.Connection, mila: httpx.Client
) -> None:
    """They are those of the form; a name that nobody gave says nothing of the documents."""
    ids = uploaded(mila, ("one.pdf", "two.pdf"))
    answer = submit(mila, ids, urgency="urgent", customer=" ACME ")
    assert {task.priority for task in tasks_of(conn, answer)} == {10}
    batch_id = int(answer.json()["batch_id"])
    seen = submitter.batch_outlook(conn, batch_id=batch_id, actor="mila")
    assert (seen.customer, seen.owner) == ("ACME", "mila")
    assert re.fullmatch(r"2 documents, \d+ \w{3} \d{4} \d\d:\d\d UTC", seen.name)


def test_another_site_cannot_upload(
    conn: psycopg.Connection, intake: Served, mila: httpx.Client
) -> None:
    """Requests that come from elsewhere change nothing, though the browser sends the cookie."""
    mila.headers["Origin"] = "https://elsewhere.example"
    assert put(mila, a_pdf()).status_code == 403
    assert not stored(intake)
