"""POST /api/callbacks over HTTP: what is signed has its effect once, and nothing else has any (WH).

Never a 500, whatever a stranger or somebody with the secret sends.
"""

from __future__ import annotations

import json
import logging
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import httpx
import psycopg
import pytest
from psycopg_pool import PoolTimeout
from standardwebhooks import Webhook

from apps.conftest import Outage, Serve
from apps.support.serving import Served
from forebay.callbacks import PROBE, Callbacks
from forebay.calls import operator, worker
from forebay.rows import ClaimedAttempt
from forebay.webhooks import Receiver
from forebay_apps.orchestrator import callbacks
from forebay_apps.web.turns import Turns
from support.daemon import attempts, enqueue, register, task
from support.receiver import OTHER_SECRET, SECRET
from support.waiting import until

PATH = "/api/callbacks"
UNKNOWN_SECRET = "whsec_" + "dW5rbm93" * 4
MEGABYTE = 1024**2


@pytest.fixture
def app(serve: Serve, db: psycopg.Connection) -> Served:
    """Serve the endpoint with two secrets, for an agent `fake`."""
    register(db)
    return serve("orchestrator", FOREBAY_CALLBACK_SECRETS=f"{SECRET},{OTHER_SECRET}")


@pytest.fixture
def http(app: Served) -> Iterator[httpx.Client]:
    """Give a client that nobody has logged in with."""
    with httpx.Client(base_url=app.url, timeout=30) as client:
        yield client


@pytest.fixture
def claim(db: psycopg.Connection) -> Callable[..., ClaimedAttempt]:
    """Return a function that enqueues a task and claims it."""

    def claim(**payload: Any) -> ClaimedAttempt:
        enqueue(db, **payload)
        (row,) = worker.dequeue(db, worker="w", agents=["fake"])
        return row

    return claim


def event(claim: ClaimedAttempt, kind: str = "completed", **data: Any) -> dict[str, Any]:
    """Return an event about a claim."""
    ids = {"task_id": claim.task_id, "attempt_id": claim.attempt_id}
    return {"type": f"task.{kind}", "timestamp": "2026-01-01T12:00:00Z", "data": ids | data}


def signed(
    body: bytes, secret: str = SECRET, *, late: float = 0, message_id: str = "m-1"
) -> dict[str, str]:
    """Return the headers of a body, signed so many seconds ago."""
    at = datetime.now(UTC) - timedelta(seconds=late)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(message_id, at, body.decode()),
    }


def post(http: httpx.Client, event: Any, **options: Any) -> httpx.Response:
    """Send an event (an object, or a body) as an agent does."""
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    return http.post(PATH, content=body, headers=signed(body, **options))


def refused(answer: httpx.Response) -> str:
    """Return the reason of a refusal, which is always there."""
    assert 400 <= answer.status_code < 500, answer.text
    reason = answer.json()["error"]
    assert reason
    return str(reason)


# What counts: early, late, twice, in any order.


def test_wh1_a_callback_may_come_early_or_late(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """Before the run's id is recorded, and while the task is back in line; ids are strings."""
    early = claim()
    answer = post(http, event(early, result={"n": 1}))
    assert answer.status_code == 200
    assert answer.json() == {
        "task_id": str(early.task_id),
        "status": "completed",
        "effect": "completed",
    }
    late = claim()
    db.execute("update forebay.task_attempts set lease_expires_at = forebay._now()")
    worker.sweep(db, worker="w")
    assert task(db, late.task_id)["status"] == "enqueued"
    assert post(http, event(late, result={})).json()["status"] == "completed"


def test_wh2_one_of_several_deliveries_wins(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """At once or later: each gets a 200 and the state; what is terminal never changes."""
    one = claim()
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: post(http, event(one, result={"n": 1})), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert sorted(answer.json()["effect"] for answer in answers) == ["completed"] + ["none"] * 7
    for later in (
        event(one, "failed", error={"kind": "timeout"}),
        event(one, result={"n": 2}),
    ):
        answer = post(http, later)
        assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert task(db, one.task_id)["result"] == {"n": 1}


def test_wh2_a_callback_cannot_name_another_tasks_attempt(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """404, and neither changes."""
    one, two = claim(), claim()
    wrong = event(one, result={})
    wrong["data"]["attempt_id"] = two.attempt_id
    answer = post(http, wrong)
    assert answer.status_code == 404
    assert f"no attempt {two.attempt_id}" in refused(answer)
    assert {task(db, each.task_id)["status"] for each in (one, two)} == {"processing"}


def test_wh6_nothing_is_retried_after_a_cancel(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """Success and failure that come after it are taken, and change nothing."""
    one = claim()
    operator.cancel(db, task_ids=[one.task_id])
    assert post(http, event(one, "failed", error={})).json()["status"] == "cancelled"
    assert post(http, event(one, result={})).json()["status"] == "cancelled"
    assert task(db, one.task_id)["status"] == "cancelled"


def test_wh7_a_message_id_is_nobodys_identity(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """Two senders may number alike: the second one's event is not dropped for the first one's."""
    for _ in range(2):
        one = claim()
        answer = post(http, event(one, result={"attempt": one.attempt_id}), message_id="daily")
        assert answer.json()["effect"] == "completed"
        assert task(db, one.task_id)["result"] == {"attempt": one.attempt_id}


def test_usage_and_failure_are_recorded(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """Usage counts once; a failure puts the task back in line, after its waiting time."""
    one = claim()
    usage = {"call_id": "c", "input_tokens": 5, "output_tokens": 1}
    effects = [post(http, event(one, "usage", usage=usage)).json()["effect"] for _ in range(2)]
    assert effects == ["recorded", "none"]
    failure = event(one, "failed", error={"kind": "overloaded"}, retry_after_seconds=90)
    assert post(http, failure).json() == {
        "task_id": str(one.task_id),
        "status": "enqueued",
        "effect": "retrying",
    }
    assert attempts(db, one.task_id)[0]["used_input_tokens"] == 5


def test_the_agents_library_is_understood(
    app: Served, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """What the sender sends is taken, also what JSON cannot hold."""
    one = claim()
    sends = Callbacks(Receiver(app.url + PATH, (OTHER_SECRET,)), lambda: False)
    assert sends.send(event(one, result={"text": "seen\0 Größe \ud800", "score": float("nan")}))
    assert task(db, one.task_id)["result"] == {"text": "seen\ufffd Größe \ufffd", "score": None}


# Who may: the signature, the time, and nothing without them.


@pytest.mark.parametrize("secret", [SECRET, OTHER_SECRET])
def test_either_secret_signs(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], secret: str
) -> None:
    """So that they can rotate; one signature of several is enough."""
    body = json.dumps(event(claim(), result={})).encode()
    headers = signed(body, secret)
    headers["webhook-signature"] = f"v1,AAAA v2,{'A' * 44} {headers['webhook-signature']}"
    assert http.post(PATH, content=body, headers=headers).status_code == 200


@pytest.mark.parametrize("beside", ["junk", "v1,", "v1,a,b", "v1,\xff", "v1a,AAAA", ",", " "])
def test_a_malformed_signature_takes_nothing_from_a_good_one(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], beside: str
) -> None:
    """Before or after it, and whatever is wrong with it."""
    body = json.dumps(event(claim(), result={})).encode()
    headers = signed(body)
    good = headers.pop("webhook-signature")
    for said in (f"{beside} {good}", f"{good} {beside} {good}"):
        given = {**headers, "webhook-signature": said.strip().encode("latin-1")}
        assert http.post(PATH, content=body, headers=given).status_code == 200


UNSIGNED: dict[str, tuple[dict[str, Any], dict[str, str | None], str]] = {
    "another secret": ({"secret": UNKNOWN_SECRET}, {}, "No matching signature"),
    "an old one": ({"late": 305}, {}, "too old"),
    "one of the future": ({"late": -310}, {}, "too new"),
    "no timestamp": ({}, {"webhook-timestamp": None}, "Missing"),
    "no signature": ({}, {"webhook-signature": None}, "Missing"),
    "no id": ({}, {"webhook-id": None}, "Missing"),
    "an empty timestamp": ({}, {"webhook-timestamp": ""}, "Missing"),
    "a timestamp that is no number": ({}, {"webhook-timestamp": "nan"}, "Invalid"),
    "an endless timestamp": ({}, {"webhook-timestamp": "1e400"}, "Invalid"),
    "a timestamp in words": ({}, {"webhook-timestamp": "yesterday"}, "Invalid"),
    "another id": ({}, {"webhook-id": "m-2"}, "No matching signature"),
    "a signature without its value": ({}, {"webhook-signature": "v1"}, "wrong"),
    "a signature of three parts": ({}, {"webhook-signature": "v1,a,b"}, "wrong"),
    "a signature that is no base64": ({}, {"webhook-signature": "v1,not base64"}, "wrong"),
    "a signature of nothing": ({}, {"webhook-signature": "v1,====="}, "signature"),
    "a signature of another kind": ({}, {"webhook-signature": "v9,AAAA"}, "No matching signature"),
    "a signature of odd bytes": ({}, {"webhook-signature": "v1,\xff\xfe"}, "wrong"),
}


def test_wh3_what_is_not_signed_now_is_refused(
    http: httpx.Client,
    claim: Callable[..., ClaimedAttempt],
    db: psycopg.Connection,
    subtests: pytest.Subtests,
) -> None:
    """401 with a reason: without its parts, with others, or more than 5 minutes off."""
    one = claim()
    body = json.dumps(event(one, result={})).encode()
    for kind, (options, headers, reason) in UNSIGNED.items():
        given = {**signed(body, **options), **headers}
        sent = [
            (name, value.encode("latin-1")) for name, value in given.items() if value is not None
        ]
        with subtests.test(kind):
            answer = http.post(PATH, content=body, headers=[(n.encode(), v) for n, v in sent])
            assert answer.status_code == 401
            assert reason in refused(answer)
    renewed = signed(body, late=200) | {"webhook-timestamp": signed(body)["webhook-timestamp"]}
    assert "No matching" in refused(http.post(PATH, content=body, headers=renewed))
    assert task(db, one.task_id)["status"] == "processing"


def test_wh3_a_replay_has_no_effect(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """The same bytes again are answered with the state; after a retry they do not end it either."""
    one = claim()
    failure = event(one, "failed", error={"kind": "overloaded"}, retry_after_seconds=0)
    body = json.dumps(failure).encode()
    headers = signed(body)
    first, again = (http.post(PATH, content=body, headers=headers) for _ in range(2))
    assert (first.json()["effect"], again.json()["effect"]) == ("retrying", "none")
    (second,) = worker.dequeue(db, worker="w", agents=["fake"])
    assert http.post(PATH, content=body, headers=headers).json()["effect"] == "none"
    assert task(db, one.task_id)["status"] == "processing"
    assert second.task_id == one.task_id


def test_without_secrets_nothing_is_taken(
    serve: Serve, db: psycopg.Connection, claim: Callable[..., ClaimedAttempt]
) -> None:
    """And the answer says what to set."""
    register(db)
    app = serve("orchestrator", FOREBAY_CALLBACK_SECRETS="")
    with httpx.Client(base_url=app.url) as http:
        answer = post(http, event(claim(), result={}))
    assert answer.status_code == 403
    assert "FOREBAY_CALLBACK_SECRETS" in refused(answer)


# What a body may be: anything, and never a 500.

IDS = b'"task_id": 1, "attempt_id": 1'
COMPLETED = b'{"type": "task.completed", "data": {'
DEEP = COMPLETED + IDS + b', "result": '
HOSTILE = {
    "empty": b"",
    "no json": b"hello",
    "half": b'{"type": "task.completed"',
    "null": b"null",
    "a list": b"[]",
    "a string": b'"task.completed"',
    "a number": b"1e999",
    "a byte order mark": b"\xef\xbb\xbf{}",
    "no type": b'{"data": {' + IDS + b"}}",
    "an odd type": b'{"type": ["task.completed"], "data": {' + IDS + b"}}",
    "another type": b'{"type": "task.deleted", "data": {' + IDS + b"}}",
    "no data": b'{"type": "task.completed"}',
    "data that is text": b'{"type": "task.completed", "data": "x"}',
    "no ids": COMPLETED + b"}}",
    "ids of wrong types": COMPLETED + b'"task_id": {}, "attempt_id": []}}',
    "ids that are infinite": COMPLETED + b'"task_id": Infinity, "attempt_id": 1}}',
    "ids that are fractions": COMPLETED + b'"task_id": 1.5, "attempt_id": 1}}',
    "ids beyond bigint": COMPLETED + b'"task_id": 9223372036854775808, "attempt_id": 1}}',
    "an id of 4,000 digits": COMPLETED + b'"attempt_id": 1, "task_id": ' + b"9" * 4000 + b"}}",
    "a number of 5,000 digits": DEEP + b"9" * 5000 + b"}}",
    "a number beyond numeric": DEEP + b'{"n": 1e-99999999}}}',
    "nested 100,000 deep": DEEP + b"[" * 100_000 + b"]" * 100_000 + b"}}",
    "nested 100,000 deep and open": DEEP + b"[" * 100_000,
    "objects nested deep": DEEP + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}}",
    "nested as deep as Python takes": DEEP + b"[" * 900 + b"]" * 900 + b"}}",
    "a timestamp that is none": COMPLETED + IDS + b'}, "timestamp": {}}',
    "an unknown attempt": COMPLETED + IDS + b"}}",
}


def test_hostile_bodies_are_refused(
    http: httpx.Client,
    claim: Callable[..., ClaimedAttempt],
    db: psycopg.Connection,
    subtests: pytest.Subtests,
) -> None:
    """Signed by somebody who has the secret: 4xx with a reason, and nothing has changed."""
    one = claim()
    before = task(db, one.task_id)
    for kind, body in HOSTILE.items():
        with subtests.test(kind):
            refused(post(http, body.replace(b'"task_id": 1,', b'"task_id": 777,')))
            assert task(db, one.task_id) == before


WRONG_DATA: dict[str, dict[str, Any]] = {
    "a result that is a list": {"result": [1]},
    "a result that is text": {"result": "x"},
    "no result": {},
    "a confidence that is text": {"result": {}, "confidence": "high"},
    "a confidence of 7": {"result": {}, "confidence": 7},
    "a confidence of an array": {"result": {}, "confidence": [1]},
    "usage that is text": {"result": {}, "usage": "much"},
    "usage without a call": {"result": {}, "usage": {"input_tokens": 1}},
    "usage of 10^30 tokens": {"result": {}, "usage": {"call_id": "c", "input_tokens": 10**30}},
    "usage of minus tokens": {"result": {}, "usage": {"call_id": "c", "input_tokens": -1}},
    "usage at no time": {"result": {}, "usage": {"call_id": "c", "started_at": "32 May"}},
    "usage before the calendar": {
        "result": {},
        "usage": {"call_id": "c", "started_at": "-infinity"},
    },
    "a call id of a megabyte": {"result": {}, "usage": {"call_id": "c" * MEGABYTE}},
}
WRONG_FAILURES: dict[str, dict[str, Any]] = {
    "an error that is text": {"error": "x"},
    "retryable that is text": {"error": {}, "retryable": "perhaps"},
    "a wait that is text": {"error": {}, "retry_after_seconds": "soon"},
    "a wait of 10^30 seconds": {"error": {}, "retry_after_seconds": 10**30},
    "a wait of minus a second": {"error": {}, "retry_after_seconds": -1},
}


def test_wrong_data_gives_no_500(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], subtests: pytest.Subtests
) -> None:
    """Refused with a reason, or taken as the stored function takes it: never our fault."""
    sent = [(kind, "completed", data) for kind, data in WRONG_DATA.items()]
    sent += [(kind, "failed", data) for kind, data in WRONG_FAILURES.items()]
    for kind, ending, data in sent:
        one = claim()
        with subtests.test(kind):
            answer = post(http, event(one, ending, **data))
            assert answer.status_code == 200 or refused(answer)
            assert post(http, event(one, result={})).status_code == 200


def test_text_that_is_no_utf8_is_refused(http: httpx.Client) -> None:
    """It cannot be signed as text."""
    headers = signed(b"{}")
    for body in (b'{"a": "\xff"}', b"\x80", '{"a": 1}'.encode("utf-16")):
        assert http.post(PATH, content=body, headers=headers).status_code == 401


def test_what_postgres_cannot_store_is_mended(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """NUL, half surrogates, NaN and infinities in a result that must not be lost (JS1)."""
    one = claim()
    ids = f'"task_id": {one.task_id}, "attempt_id": "{one.attempt_id}"'
    result = r'{"a\u0000": "\ud800", "b": NaN, "c": [-Infinity, 1e999], "d": 123456789012345678}'
    body = f'{{"type": "task.completed", "data": {{{ids}, "result": {result}}}}}'
    assert post(http, body.encode()).status_code == 200
    assert task(db, one.task_id)["result"] == {
        "a\ufffd": "\ufffd",
        "b": None,
        "c": [None, None],
        "d": 123456789012345678,
    }


def test_what_is_deep_is_mended_too(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """A NUL in it, or the letters of its escape, gives no 500, which would be sent for ever."""
    for text in (r"\u0000", r"\\u0000"):
        one = claim()
        deep = b'{"a":' * 400 + f'"{text}"'.encode() + b"}" * 400
        ids = f'"task_id": {one.task_id}, "attempt_id": {one.attempt_id}'.encode()
        body = b'{"type": "task.completed", "data": {' + ids + b', "result": ' + deep + b"}}"
        assert post(http, body).json()["status"] == "completed"


def test_size_is_limited(
    app: Served, http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """A body over 2 MiB, a result over the installation's limit, a body whose length is a lie."""
    one = claim()
    too_large = json.dumps(event(one, result={"text": "x" * 2 * MEGABYTE})).encode()
    assert post(http, too_large).status_code == 413
    assert http.post(PATH, content=chunks(too_large), headers=signed(too_large)).status_code == 413
    large = event(one, result={"text": "x" * (MEGABYTE + MEGABYTE // 2)})
    assert "result" in refused(answer := post(http, large))
    assert answer.status_code == 413
    assert task(db, one.task_id)["status"] == "processing"
    where = urlsplit(app.url)
    with socket.create_connection((where.hostname, where.port), timeout=10) as line:
        line.sendall(
            f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {10**12}\r\n\r\n".encode()
        )
        line.sendall(b"x" * MEGABYTE * 2 + b"x")
        assert b" 413 " in line.recv(100)


def chunks(body: bytes) -> Iterator[bytes]:
    """Yield the body in pieces, which httpx sends without a length."""
    for start in range(0, len(body), 65536):
        yield body[start : start + 65536]


def test_a_chunked_body_is_taken(http: httpx.Client, claim: Callable[..., ClaimedAttempt]) -> None:
    """Without a length, in pieces that cut a character."""
    body = json.dumps(event(claim(), result={"text": "ß" * 100_000}), ensure_ascii=False).encode()
    answer = http.post(PATH, content=chunks(body), headers=signed(body))
    assert answer.json()["effect"] == "completed"


def test_a_compressed_body_is_refused(http: httpx.Client) -> None:
    """415: a small body could be a huge one."""
    answer = http.post(PATH, content=b"{}", headers={"Content-Encoding": "gzip", **signed(b"{}")})
    assert answer.status_code == 415
    refused(answer)


def test_a_body_that_never_ends_is_given_up(
    app: Served, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """408 after a while, and others are answered meanwhile; one who leaves early hurts nobody."""
    monkeypatch.setattr(callbacks, "BODY_SECONDS", 0.5)
    where = urlsplit(app.url)
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc".encode()
    with socket.create_connection((where.hostname, where.port), timeout=10) as line:
        line.sendall(head)
        assert post(http, b"null").status_code == 400
        assert b" 408 " in line.recv(100)
    with socket.create_connection((where.hostname, where.port)) as line:
        line.sendall(head)
    assert post(http, b"null").status_code == 400


def test_of_what_nobody_signed_only_so_much_is_held(
    app: Served,
    http: httpx.Client,
    claim: Callable[..., ClaimedAttempt],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One more is told to come again; it does when those that began before it have ended."""
    monkeypatch.setattr(callbacks, "_arriving", Turns(2, 0.2, "Too many."))
    where = urlsplit(app.url)
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc".encode()
    done = json.dumps(event(claim(), result={})).encode()
    with ExitStack() as lines:
        for _ in range(2):
            line = socket.create_connection((where.hostname, where.port))
            lines.enter_context(line).sendall(head)
        time.sleep(0.5)
        answer = post(http, done)
        assert (answer.status_code, answer.json()) == (503, {"error": "Too many."})
        assert answer.headers["Retry-After"]
    until(lambda: post(http, done).status_code == 200)


def test_other_methods_and_paths_are_not_there(http: httpx.Client) -> None:
    """405 and 404, or the door: never the event's effect."""
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        assert http.request(method, PATH, headers={"Accept": "application/json"}).status_code == 405
    assert http.post(PATH + "/", content=b"{}", headers=signed(b"{}")).status_code >= 400


# The database, and the log.


def test_a_database_that_is_away_is_told_as_such(
    app: Served,
    http: httpx.Client,
    claim: Callable[..., ClaimedAttempt],
    outage: Outage,
    superuser: psycopg.Connection,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """503 with Retry-After; the library goes on trying until it is back."""
    one = claim()
    assert post(http, b"null").status_code == 400  # the pool has a connection
    sends = Callbacks(Receiver(app.url + PATH, (SECRET,)), lambda: False)
    with outage():
        answer = post(http, event(one, result={}))
        assert answer.status_code == 503
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.json()["error"]
        with caplog.at_level(logging.WARNING, "forebay.callbacks"):
            taken = sends.begin(event(one, result={}))
            until(lambda: "callback_delayed" in caplog.text, 20)
        assert not taken.is_set()
    until(taken.is_set, 30)
    query = "select status from forebay.tasks where task_id = %s"
    assert superuser.execute(query, [one.task_id]).fetchone() == ("completed",)
    sends.close()


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.SerializationFailure("x"),
        psycopg.errors.DeadlockDetected("x"),
        psycopg.errors.QueryCanceled("x"),
        psycopg.errors.DiskFull("x"),
        psycopg.errors.UndefinedFunction("x"),
        PoolTimeout("x"),
    ],
)
def test_what_may_pass_is_sent_again(
    error: Exception, http: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503, never 4xx, after which no sender would try again."""

    def fail(*_arguments: Any, **_named: Any) -> None:
        raise error

    monkeypatch.setattr("forebay.calls.agent.callback", fail)
    answer = post(http, b"null")
    assert answer.status_code == 503
    assert int(answer.headers["Retry-After"]) > 0


def test_a_closed_copy_says_so(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], db: psycopg.Connection
) -> None:
    """403: this database is a branch, and nobody has opened it."""
    one = claim()
    db.execute("update forebay.installation set is_branch = true")
    answer = post(http, event(one, result={}))
    assert answer.status_code == 403
    refused(answer)


def test_the_doctors_probe_is_no_warning(
    http: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    """A signed report of no task is logged as what it is; by anybody else it is refused."""
    no_task = {"type": "task.usage", "data": {"task_id": 0, "attempt_id": 0, "usage": []}}
    body = json.dumps(no_task).encode()
    with caplog.at_level(logging.INFO):
        for message_id in (PROBE, "another"):
            assert post(http, body, message_id=message_id).status_code == 404
        post(http, body, secret=UNKNOWN_SECRET, message_id=PROBE)
    logged = [record for record in caplog.records if record.name == callbacks.__name__]
    assert [(record.levelname, record.getMessage()) for record in logged] == [
        ("INFO", "callback_probed"),
        ("WARNING", "callback_refused"),
        ("WARNING", "callback_refused"),
    ]


def test_what_is_refused_is_logged_without_its_content(
    http: httpx.Client, claim: Callable[..., ClaimedAttempt], caplog: pytest.LogCaptureFixture
) -> None:
    """Status, reason and message id; never a payload, however the database quotes it."""
    one = claim()
    with caplog.at_level(logging.INFO):
        post(http, event(one, result={"iban": "DE99"}), secret=UNKNOWN_SECRET, message_id="x" * 999)
        post(http, event(one, "DE99", result={"iban": "DE99"}))
        post(http, event(one, result={"iban": "DE99"}))
    logged = [vars(record) for record in caplog.records if record.name == callbacks.__name__]
    assert [entry["message"] for entry in logged] == ["callback_refused"] * 2 + ["callback_taken"]
    fields = [entry["forebay_fields"] for entry in logged]
    assert [entry.get("status") for entry in fields] == [401, 400, "completed"]
    assert fields[0]["message"] == "x" * 100
    assert "DE99" not in str(logged)
