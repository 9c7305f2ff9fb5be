"""The pull worker in this process: results, failures, leases, cancellation, batches."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from forebay import Reject, Result, Retry, Task, Worker, jsonb
from forebay.calls import operator, reader, submitter, viewer, worker
from forebay.errors import ConnectError, MissingSettingError, RefusedError, UnknownAgentError
from forebay.worker import loop, reports
from support.daemon import usage
from support.waiting import until
from support.worker import SECOND, detail, enqueue, register

DSN = Callable[..., str]


@pytest.fixture
def caller(connect: Callable[..., psycopg.Connection]) -> psycopg.Connection:
    """Connect as a member of every role, with agent `parse`: a lease of 1 s and 3 attempts."""
    conn = connect("all")
    register(conn)
    return conn


@pytest.fixture
def make(role_dsn: DSN) -> Callable[..., Worker]:
    """Return a function that makes a worker of `parse` which polls and sweeps often."""

    def make(**options: Any) -> Worker:
        defaults = {"poll": SECOND / 5, "sweep_every": SECOND / 5, "grace": SECOND}
        return Worker(role_dsn("worker", "agent"), agent="parse", **defaults | options)

    return make


def raising(error: Exception) -> Callable[[Task], None]:
    """Return a handler that raises this."""

    def handle(task: Task) -> None:
        raise error

    return handle


@contextmanager
def running(one: Worker) -> Iterator[list[int]]:
    """Run a worker in a thread, and stop it; the list then holds how many it finished."""
    finished: list[int] = []
    thread = threading.Thread(target=lambda: finished.append(one.run()))
    thread.start()
    try:
        yield finished
    finally:
        one.stop()
        thread.join(15)
        assert not thread.is_alive()


def test_until_empty_returns_how_many_were_finished(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """Every task is handled once, its result and confidence stored."""
    ids, seen = enqueue(caller, 25), []
    one = make()

    @one.handler
    def handle(task: Task) -> Result:
        seen.append(task.task_id)
        return Result({"double": task.payload["n"] * 2}, Decimal("0.9"))

    assert one.run(until_empty=True) == 25
    assert sorted(seen) == ids
    found = reader.task_result(caller, task_id=ids[7])
    assert (found.status, found.result, found.confidence) == (
        "completed",
        {"double": 14},
        Decimal("0.9"),
    )
    assert one.run(until_empty=True) == 0


def test_a_coroutine_handler_shares_one_event_loop(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """Coroutines run side by side in one loop, so that they may share a client."""
    enqueue(caller, 8)
    loops, one = set(), make(concurrency=8)

    @one.handler
    async def handle(task: Task) -> dict[str, Any]:
        loops.add(id(asyncio.get_running_loop()))
        await asyncio.sleep(0.5)
        return {}

    began = time.monotonic()
    assert one.run(until_empty=True) == 8
    assert time.monotonic() - began < 3
    assert len(loops) == 1


def test_concurrency_is_the_number_of_handlers_at_a_time(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """With batch_size 1 nothing is claimed before it can start."""
    enqueue(caller, 9)
    now, most, claimed = [0], [0], [0]
    lock, one = threading.Lock(), make(concurrency=3)

    @one.handler
    def handle(task: Task) -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        counts = {row.status: row.tasks for row in viewer.task_counts(caller)}
        with lock:
            claimed[0] = max(claimed[0], counts["processing"])
        time.sleep(0.05)
        with lock:
            now[0] -= 1

    assert one.run(until_empty=True) == 9
    assert (most[0], claimed[0]) == (3, 3)


def test_quick_work_is_claimed_and_completed_in_batches(
    caller: psycopg.Connection, make: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a batch size, a hundred quick tasks take far fewer than a hundred claims."""
    enqueue(caller, 100)
    calls, real = [], worker.dequeue

    def counted(*args: Any, **arguments: Any) -> Any:
        calls.append(arguments["batch_size"])
        return real(*args, **arguments)

    monkeypatch.setattr(loop.calls, "dequeue", counted)
    one = make(concurrency=2, batch_size=10)
    one.handler(lambda task: {})
    assert one.run(until_empty=True) == 100
    assert len(calls) < 25


def test_an_exception_fails_the_attempt_with_its_type_and_text(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """It is tried again until the attempts are used up."""
    (task_id,) = enqueue(caller)
    one = make()
    one.handler(raising(KeyError("total \0 \ud800")))
    with running(one) as finished:
        until(lambda: detail(caller, task_id).status == "failed")
    assert finished == [1]
    found = detail(caller, task_id)
    assert found.attempt_count == 3
    assert found.error is not None
    assert found.error["kind"] == "agent_bug"
    assert found.error["message"].startswith("KeyError: ")


def test_reject_fails_the_task_for_good(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """One attempt is enough, and the reason is kept; it counts as finished."""
    (task_id,) = enqueue(caller)
    one = make()
    one.handler(raising(Reject("the PDF is encrypted")))
    assert one.run(until_empty=True) == 1
    found = detail(caller, task_id)
    assert (found.status, found.attempt_count) == ("failed", 1)
    assert found.error is not None
    assert found.error["message"] == "the PDF is encrypted"


def test_retry_waits_as_long_as_it_says(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """The task goes back in line for later and is not finished."""
    (task_id,) = enqueue(caller)
    one = make()

    one.handler(
        raising(Retry("the provider is busy", after=timedelta(minutes=5), kind="rate_limited"))
    )
    assert one.run(until_empty=True) == 0
    found = detail(caller, task_id)
    assert found.status == "enqueued"
    assert timedelta(minutes=4) < found.available_at - found.created_at < timedelta(minutes=6)


def test_rt5_a_waiting_time_that_overflows_loses_no_task(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """What Postgres refuses as an interval falls back to the agent's backoff, which is clamped."""
    register(caller, backoff_base=timedelta(days=300), backoff_max=timedelta(days=300))
    (task_id,) = enqueue(caller)
    one = make()
    one.handler(raising(Retry(after=timedelta.max)))
    assert one.run(until_empty=True) == 0
    assert detail(caller, task_id).status == "enqueued"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"at": timedelta(1)}, "timedelta"),
        ({"text": "x" * 2_000_000}, "1048576"),
        (Result({}, Decimal(7)), "confidence"),
        (Result({}, "high"), "stored"),  # type: ignore[arg-type]
    ],
)
def test_js1_a_bad_result_fails_its_own_task_for_good(
    caller: psycopg.Connection, make: Callable[..., Worker], answer: Any, said: str
) -> None:
    """It is not tried again, says why, and spoils no other result of its batch."""
    bad, *good = enqueue(caller, 4)
    one = make(batch_size=4)
    one.handler(lambda task: answer if task.task_id == bad else {"fine": True})
    assert one.run(until_empty=True) == 4
    found = detail(caller, bad)
    assert (found.status, found.attempt_count) == ("failed", 1)
    assert found.error is not None
    assert found.error["kind"] == "bad_input"
    assert said in found.error["message"]
    assert {detail(caller, task_id).status for task_id in good} == {"completed"}


def test_js1_js2_a_result_with_nul_and_nan_is_mended(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """Text out of a PDF may hold anything; the work is not lost."""
    (task_id,) = enqueue(caller)
    one = make()
    one.handler(lambda task: {"text": "a\0\ud800", "score": float("nan")})
    assert one.run(until_empty=True) == 1
    found = reader.task_result(caller, task_id=task_id).result
    assert found == {"text": "a\ufffd\ufffd", "score": None}


def test_a_handler_hears_that_its_result_is_stored(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """`accepted` is called once the task is completed; that it fails spoils nothing."""
    ids, heard = enqueue(caller, 3), []
    one = make()

    @one.handler
    def handle(task: Task) -> Result:
        def accepted() -> None:
            heard.append((task.task_id, detail(caller, task.task_id).status))
            raise OSError("nothing to remove")

        return Result({}, accepted=accepted)

    assert one.run(until_empty=True) == 3
    assert sorted(heard) == [(task_id, "completed") for task_id in ids]


@pytest.mark.parametrize("kind", ["blocking", "loop", "busy"])
def test_le3_a_handler_that_blocks_keeps_its_lease(
    caller: psycopg.Connection, make: Callable[..., Worker], kind: str
) -> None:
    """Three leases long, in a thread, in the event loop or on the CPU: one attempt, no other."""
    (task_id,) = enqueue(caller)
    one, rival = make(), make()
    rival.handler(lambda task: {"by": "rival"})

    def busy() -> None:
        give_up_at = time.monotonic() + 3
        while time.monotonic() < give_up_at:
            sum(range(1000))

    async def in_loop(task: Task) -> dict[str, str]:
        time.sleep(3)
        return {"by": "one"}

    def in_thread(task: Task) -> dict[str, str]:
        busy() if kind == "busy" else time.sleep(3)
        return {"by": "one"}

    one.handler(in_loop if kind == "loop" else in_thread)
    with running(one):
        until(lambda: detail(caller, task_id).status == "processing")
        with running(rival):
            until(lambda: detail(caller, task_id).status == "completed")
    assert reader.task_result(caller, task_id=task_id).result == {"by": "one"}
    assert detail(caller, task_id).attempt_no == 1


def test_a_cancelled_task_is_told_so(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """The handler learns it at the next renewal, within a third of the lease."""
    register(caller, lease=3 * SECOND)
    (task_id,) = enqueue(caller)
    told, one = threading.Event(), make()

    @one.handler
    def handle(task: Task) -> dict[str, bool]:
        while not task.cancelled():
            time.sleep(0.01)
        told.set()
        return {"late": True}

    with running(one) as finished:
        until(lambda: detail(caller, task_id).status == "processing")
        operator.cancel(caller, task_ids=[task_id])
        assert told.wait(2)
    assert detail(caller, task_id).status == "cancelled"
    assert finished == [0]


def test_progress_is_shown(caller: psycopg.Connection, make: Callable[..., Worker]) -> None:
    """The last report is seen while the handler runs, however many it makes."""
    (task_id,) = enqueue(caller)
    goes_on, one = threading.Event(), make()

    @one.handler
    def handle(task: Task) -> None:
        for done in range(1001):
            task.progress(done, 5000)
        goes_on.wait(10)

    with running(one):

        def shown() -> tuple[int | None, int | None]:
            (row,) = viewer.list_tasks(caller)
            return row.progress_done, row.progress_total

        until(lambda: shown() == (1000, 5000))
        goes_on.set()
    assert detail(caller, task_id).status == "completed"


def test_usage_is_recorded_before_the_result(
    db: psycopg.Connection, caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """What a handler says that its model calls used arrives; a call that is refused is left out."""
    (task_id,) = enqueue(caller)
    one = make()

    @one.handler
    def handle(task: Task) -> None:
        task.usage({"call_id": "a", "input_tokens": 700})
        task.usage({"input_tokens": 1})
        task.usage({"call_id": "b"})

    assert one.run(until_empty=True) == 1
    assert usage(db, task_id) == [("a", 700), ("b", None)]


def test_a_handler_is_told_whose_attempts_are_known(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """Its own, and no other database's of the same id; nobody can tell after the end."""
    enqueue(caller)
    one = make()
    seen: list[Task] = []

    @one.handler
    def handle(task: Task) -> dict[str, bool]:
        seen.append(task)
        attempts = [(task.attempt_id, task.launch_key), (task.attempt_id, "00")]
        assert task.known(attempts) == {task.launch_key}
        return {}

    assert one.run(until_empty=True) == 1
    (task,) = seen
    assert detail(caller, task.task_id).status == "completed"
    assert task.known([(task.attempt_id, task.launch_key)]) is None


def test_model_calls_wait_for_their_turn(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """A quota of two calls in two seconds lets no third one begin within them."""
    limit = {"unit": "requests", "per": "2 seconds", "amount": 2}
    operator.register_quota(caller, quota="q", limits=[limit], headroom=Decimal(0))
    register(caller, quotas=["q"])
    enqueue(caller, 2)
    began: list[float] = []
    one = make(concurrency=2)

    @one.handler
    def handle(task: Task) -> None:
        for number in range(2):
            task.wait_to_call(100, 10, f"call-{number}")
            began.append(time.monotonic())
            task.usage({"call_id": f"call-{number}", "input_tokens": 90, "output_tokens": 10})

    assert one.run(until_empty=True) == 2
    first, second, third, fourth = sorted(began)
    assert third - first > 1.5
    assert fourth - second > 1.5


def test_a_refusal_says_whose_it_was(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """It costs no attempt, and pauses the quota that it names."""
    for quota in ("a", "b"):
        limit = {"unit": "requests", "per": "minute", "amount": 100}
        operator.register_quota(caller, quota=quota, limits=[limit])
    register(caller, quotas=["a", "b"])
    (task_id,) = enqueue(caller)
    one = make()
    one.handler(raising(Retry("Too many.", timedelta(minutes=5), "rate_limited", quota="b")))
    assert one.run(until_empty=True) == 0
    assert detail(caller, task_id).error == {
        "kind": "rate_limited",
        "message": "Too many.",
        "quota": "b",
    }
    paused = {row.quota: row.paused_until is not None for row in viewer.quota_status(caller)}
    assert paused == {"a": False, "b": True}
    assert detail(caller, task_id).attempt_count == 0


def test_many_that_wait_for_a_turn_do_not_hold_up_the_loop(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """Their questions have connections of their own: one task after the other gets its turn."""
    limit = {"unit": "concurrent_calls", "amount": 1}
    operator.register_quota(caller, quota="q", limits=[limit])
    register(caller, lease=60 * SECOND)
    enqueue(caller, 30)
    one = make(concurrency=30)
    ready = threading.Barrier(30)

    @one.handler
    def handle(task: Task) -> None:
        if ready.wait(30) == 0:
            register(caller, lease=60 * SECOND, quotas=["q"])
        ready.wait(30)
        task.wait_to_call(100, 10, "call")
        task.usage({"call_id": "call", "input_tokens": 90, "output_tokens": 10})

    assert one.run(until_empty=True) == 30
    calls = [one["call_id"] for n in range(1, 31) for one in detail(caller, n).usage]
    assert calls == ["call"] * 30


def test_calls_of_an_attempt_are_reported_together(
    caller: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is refused does not spoil the others."""
    (task_id,) = enqueue(caller)
    (claimed,) = worker.dequeue(caller, worker="w", agents=["parse"])
    sent: list[list[str]] = []
    report = reports.calls.report_usage

    def reported(connection: Any, *, attempt_id: int, usage: Any) -> int:
        sent.append([call["call_id"] for call in usage])
        return report(connection, attempt_id=attempt_id, usage=usage)

    monkeypatch.setattr(reports.calls, "report_usage", reported)
    reporter = reports.Reporter(lambda: nullcontext(caller), lambda *_: None, lambda: None)
    for name, tokens in (("a", 5), ("b", -1), ("c", 7)):
        reporter.note_usage(claimed.attempt_id, {"call_id": name, "input_tokens": tokens})
    reporter.report({})
    assert sent == [["a", "b", "c"], ["a"], ["b"], ["c"]]
    assert [call["call_id"] for call in detail(caller, task_id).usage] == ["a", "c"]


def test_a_cancel_ends_the_wait_for_a_turn(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """A quota that lets nothing through does not keep a cancelled task."""
    limit = {"unit": "requests", "per": "minute", "amount": 0}
    operator.register_quota(caller, quota="q", limits=[limit])
    (task_id,) = enqueue(caller)
    waiting = threading.Event()
    one = make()

    @one.handler
    def handle(task: Task) -> None:
        register(caller, quotas=["q"])
        waiting.set()
        task.wait_to_call(100)

    with running(one):
        assert waiting.wait(10)
        operator.cancel(caller, task_ids=[task_id], reason="test")
        until(lambda: detail(caller, task_id).attempts[0]["finished_at"] is not None)
    assert detail(caller, task_id).status == "cancelled"


def test_a_task_past_its_deadline_is_told_to_stop(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """The timeout of the agent ends the attempt also when its lease is renewed all the time."""
    register(caller, timeout=SECOND, max_attempts=1)
    enqueue(caller)
    one, told = make(), threading.Event()
    left = []

    @one.handler
    def handle(task: Task) -> None:
        began = time.monotonic()
        left.append(task.seconds_left())
        while not task.cancelled() and time.monotonic() - began < 5:
            time.sleep(0.01)
        left.append(task.seconds_left())
        if time.monotonic() - began < 2:
            told.set()

    with running(one):
        assert told.wait(6)
    first, last = left[:2]
    assert 0 < first <= 1
    assert last < 0.1


def test_work_is_found_by_polling_alone(
    caller: psycopg.Connection, make: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A listener that never hears costs time, nothing else."""
    monkeypatch.setattr(loop.Listener, "start", lambda self: None)
    monkeypatch.setattr(loop.Listener, "stop", lambda self: None)
    one = make()
    one.handler(lambda task: {})
    with running(one):
        time.sleep(0.3)
        (task_id,) = enqueue(caller)
        until(lambda: detail(caller, task_id).status == "completed")


def test_sl7_an_enqueue_wakes_an_idle_worker(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """The notification brings the claim, long before the next poll."""
    one = make(poll=timedelta(seconds=90))
    one.handler(lambda task: {})
    with running(one):
        time.sleep(1)
        (task_id,) = enqueue(caller)
        until(lambda: detail(caller, task_id).status == "completed")


def test_lost_work_of_others_is_swept(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """Pull workers need no daemon: what another agent's dead worker held comes back by itself."""
    operator.register_agent(caller, agent="other", lease=SECOND, backoff_base=SECOND / 100)
    task_id = submitter.enqueue(caller, agent="other", payload={})
    worker.dequeue(caller, worker="dead", agents=["other"])
    one = make()
    one.handler(lambda task: {})
    with running(one):
        until(lambda: detail(caller, task_id).status == "enqueued")
    assert detail(caller, task_id).attempt_count == 1


def test_le9_the_database_may_be_away_while_the_work_goes_on(
    caller: psycopg.Connection,
    make: Callable[..., Worker],
    superuser: psycopg.Connection,
) -> None:
    """A short outage costs no attempt; every session of the worker is cut again and again."""
    register(caller, lease=timedelta(seconds=6))
    ids = enqueue(caller, 4)
    began, one = threading.Barrier(5), make()

    @one.handler
    def handle(task: Task) -> dict[str, bool]:
        began.wait(10)
        time.sleep(2)
        return {"cancelled": task.cancelled()}

    with running(one):
        began.wait(10)
        for _ in range(20):
            superuser.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where usename = 'test_worker_agent'"
            )
            time.sleep(0.1)
        until(lambda: {detail(caller, id_).status for id_ in ids} == {"completed"})
    assert {detail(caller, id_).attempt_no for id_ in ids} == {1}
    assert reader.task_result(caller, task_id=ids[0]).result == {"cancelled": False}


def test_le9_work_stops_at_its_local_deadline_when_renewal_is_held_up(
    caller: psycopg.Connection, make: Callable[..., Worker], superuser: psycopg.Connection
) -> None:
    """A renewal that waits for a lock is cut off with the lease, and the handler told by then."""
    (task_id,) = enqueue(caller)
    told: list[float] = []
    one = make()

    @one.handler
    def handle(task: Task) -> None:
        began = time.monotonic()
        while not task.cancelled() and time.monotonic() - began < 8:
            time.sleep(0.01)
        told.append(time.monotonic() - began)

    with running(one):
        until(lambda: detail(caller, task_id).status == "processing")
        with superuser.transaction():
            superuser.execute("select from forebay.task_attempts for update")
            until(lambda: bool(told))
    assert 0.5 < told[0] < 2.5


def test_a_result_that_postgres_cannot_parse_does_not_hold_up_the_others(
    caller: psycopg.Connection, make: Callable[..., Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nested too deep for the server is no outage: the task fails for good, the others complete."""
    bad, *good = enqueue(caller, 4)
    deep = "[" * 100_000 + "]" * 100_000
    real = jsonb.dump_safe
    monkeypatch.setattr(
        jsonb, "dump_safe", lambda name, value: deep if value == "deep" else real(name, value)
    )
    one = make(batch_size=4)
    one.handler(lambda task: "deep" if task.task_id == bad else {})
    assert one.run(until_empty=True) == 4
    assert detail(caller, bad).status == "failed"
    assert {detail(caller, task_id).status for task_id in good} == {"completed"}


def test_lj2_a_graceful_stop_hands_back_what_did_not_end(
    caller: psycopg.Connection, make: Callable[..., Worker]
) -> None:
    """After the grace the task is back in line at once, and its attempt is not spent."""
    running_id, *waiting = enqueue(caller, 3)
    one, began = make(concurrency=1, batch_size=3, grace=SECOND / 2), threading.Event()

    @one.handler
    def handle(task: Task) -> None:
        began.set()
        time.sleep(5)

    with running(one) as finished:
        assert began.wait(10)
    assert finished == [0]
    for task_id in (running_id, *waiting):
        found = detail(caller, task_id)
        assert (found.status, found.attempt_count, found.release_count) == ("enqueued", 0, 1)


def test_a_worker_is_named_anew_at_every_start(make: Callable[..., Worker]) -> None:
    """SW2: a restarted process never looks like the one before it."""
    names = {make().name for _ in range(5)}
    assert len(names) == 5
    assert all(f":{os.getpid()}:" in name for name in names)


def test_what_forbids_to_begin_is_raised(
    make: Callable[..., Worker], role_dsn: DSN, caller: psycopg.Connection
) -> None:
    """Wrong agent, wrong right, wrong server, no handler, no DSN: one clear sentence each."""
    nobody = Worker(role_dsn("worker", "agent"), agent="nobody")
    nobody.handler(lambda task: {})
    with pytest.raises(UnknownAgentError, match="nobody"):
        nobody.run()
    for role in ("agent", "worker"):
        half = Worker(role_dsn(role), agent="parse")
        half.handler(lambda task: {})
        with pytest.raises(RefusedError, match="forebay_worker and forebay_agent"):
            half.run()
    lost = Worker(make_conninfo(role_dsn("worker"), dbname="nowhere"), agent="parse")
    lost.handler(lambda task: {})
    with pytest.raises(ConnectError, match="nowhere"):
        lost.run()
    with pytest.raises(RuntimeError, match="handler"):
        make().run()
    with pytest.raises(ValueError, match="concurrency"):
        make(concurrency=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FOREBAY_DATABASE_URL", raising=False)
        with pytest.raises(MissingSettingError):
            Worker(agent="parse")
