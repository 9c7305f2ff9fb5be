"""Whatever two callers do at once ends in bounded time, without a deadlock."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from psycopg.errors import InvalidParameterValue

from concurrency.stage import LONG, Act, Stage
from forebay.calls import agent as report
from forebay.calls import operator, submitter, upkeep, viewer, worker
from forebay.errors import (
    BillReadSinceError,
    MatchChangedError,
    StateMovedError,
    UnknownUploadError,
    UploadSubmittedError,
)

SIZE = 24
OWNER = "ann"
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
STATUSES = ("enqueued", "processing", "failed", "cancelled")
CUSTOMERS = ("acme", "best", None)
QUOTAS = {"a": ["one", "two"], "b": ["two", "one"]}  # crosswise
NO_RIVALS = {
    "enqueue",  # one task of enqueue_many
    "server_time",  # volatile, but writes nothing
    "recover_claims",  # the same
    "prepare_branch",  # only who may act as forebay_owner calls these, and the
    "branch_copied",
    "begin_branch",  # other three in a copy, where nobody works yet
    "mask_data",
    "finish_branch",
}


class Crowd:
    """Tasks of two agents, most of them claimed, that every writer fights over."""

    def __init__(self, stage: Stage, *, has_external: bool = True) -> None:
        self.stage, self.random = stage, random.Random(0)
        self.launcher = "lakeflow" if has_external else "pull"
        for quota in ("one", "two"):
            register_quota(stage.db, quota)
        for customer in filter(None, CUSTOMERS):
            register_customer(stage.db, customer)
        operator.register_price(stage.db, model="m", usd_per_m_input=Decimal(1))
        for name in ("a", "b"):
            self.register_agent(stage.db, name)
        self.batch_id = submitter.open_batch(stage.db, name="crowd", owner=OWNER)
        self.task_ids: list[int] = []
        self.attempt_ids: list[int] = []
        self.upload_ids: list[uuid.UUID] = []

    def register_agent(self, session: psycopg.Connection, name: str) -> None:
        """Define an agent with every limit that is settled, folded or looked up."""
        operator.register_agent(
            session,
            agent=name,
            launcher=self.launcher,
            lease=LONG,
            timeout=LONG,
            max_attempts=1000,
            max_concurrent_tasks=SIZE,
            max_tpm=10**9,
            max_waiting=10**6,
            fair_by_customer=name == "a",
            max_usd_per_day=Decimal(10**6),
            quotas=QUOTAS[name],
        )

    def replenish(self) -> None:
        """Put back in line what can be, add what is missing, claim half, and let some expire."""
        db = self.stage.db
        operator.resume_agent(db, agent=None)
        operator.retry(db, task_ids=self.task_ids)
        live = "select task_id from forebay.tasks where status in ('enqueued', 'processing')"
        missing = SIZE - len(self.stage.rows(live))
        for name in ("a", "b"):
            tasks = [
                {"payload": {}, "customer": self.random.choice(CUSTOMERS)}
                for _ in range(max(0, missing) // 2)
            ]
            submitter.enqueue_many(db, agent=name, tasks=tasks, batch_id=self.batch_id)
        worker.dequeue(db, worker="w", agents=["a", "b"], batch_size=SIZE // 2)
        newest = " order by 1 desc limit %s"
        self.task_ids = [
            row.task_id
            for row in self.stage.rows(f"select task_id from forebay.tasks {newest}", SIZE)
        ]
        self.attempt_ids = [
            row.attempt_id
            for row in self.stage.rows(
                f"select attempt_id from forebay.task_attempts {newest}", SIZE
            )
        ]
        self.stage.expire(*self.some(self.attempt_ids, 3))
        self.upload()

    def upload(self) -> None:
        """Have some files that are stored, some that are submitted, and some that are neither."""
        db = self.stage.db
        self.upload_ids = [uuid.UUID(int=self.random.getrandbits(128)) for _ in range(SIZE // 2)]
        for upload_id in self.upload_ids:
            submitter.open_upload(db, upload_id=upload_id, name="n", actor=OWNER)
        for upload_id in self.upload_ids[2:]:
            finish_upload(db, upload_id)
        submit_uploads(db, self.upload_ids[-2:])

    def uploads(self) -> list[uuid.UUID]:
        """Return some of the uploads, in no order."""
        return self.random.sample(self.upload_ids, 3)

    def some(self, ids: list[int], count: int) -> list[int]:
        """Return some of the ids, in no order."""
        return self.random.sample(ids, min(count, len(ids)))

    def tasks(self) -> list[int]:
        """Return many of the tasks, in no order."""
        return self.some(self.task_ids, SIZE * 2 // 3)

    def attempts(self) -> list[int]:
        """Return many of the attempts, in no order."""
        return self.some(self.attempt_ids, SIZE * 2 // 3)

    def attempt(self) -> int:
        """Return one of the attempts."""
        return self.random.choice(self.attempt_ids)


def register_quota(session: psycopg.Connection, quota: str) -> None:
    limits = [
        {"unit": "tokens", "per": "minute", "amount": 10**9},
        {"unit": "requests", "per": "second", "amount": 10**6, "kind": "bucket"},
        {"unit": "concurrent_calls", "amount": 10**6},
    ]
    operator.register_quota(session, quota=quota, limits=limits)


def register_customer(session: psycopg.Connection, customer: str) -> None:
    operator.register_customer(session, customer=customer, max_usd_per_day=Decimal(10**6))


def fail(session: psycopg.Connection, crowd: Crowd) -> None:
    kind = crowd.random.choice(("agent_bug", "rate_limited", "overloaded"))
    report.fail(session, attempt_id=crowd.attempt(), error={"kind": kind}, retry_after=timedelta())


def may_call(session: psycopg.Connection, crowd: Crowd) -> None:
    call_id = str(crowd.random.randrange(50))
    with suppress(InvalidParameterValue):  # it was reported already
        report.may_call(session, attempt_id=crowd.attempt(), tokens=100, call_id=call_id)


def complete_many(session: psycopg.Connection, crowd: Crowd) -> None:
    ids = crowd.some(crowd.attempt_ids, 4)
    report.complete_many(session, attempt_ids=ids, results=[{}] * len(ids))


def enqueue_many(session: psycopg.Connection, crowd: Crowd) -> None:
    keys = crowd.some(list(range(len(crowd.task_ids) * 40)), SIZE)
    tasks = [{"payload": {}, "idempotency_key": str(key)} for key in keys]
    submitter.enqueue_many(session, agent="a", tasks=tasks)


def callback(session: psycopg.Connection, crowd: Crowd) -> None:
    attempt = crowd.stage.attempt(crowd.attempt())
    event = {
        "type": crowd.random.choice(("task.completed", "task.failed", "task.usage")),
        "timestamp": datetime.now(UTC).isoformat(),
        "data": {
            "task_id": attempt.task_id,
            "attempt_id": attempt.attempt_id,
            "result": {},
            "error": {"kind": "timeout"},
            "usage": {"call_id": str(crowd.random.random()), "input_tokens": 1},
        },
    }
    report.callback(session, event=event)


def observe_run(session: psycopg.Connection, crowd: Crowd) -> None:
    run = crowd.random.choice(
        (
            {"life_cycle_state": "RUNNING"},
            {"life_cycle_state": "SKIPPED"},
            {"life_cycle_state": "UNAUTHORIZED"},
            {"life_cycle_state": "LAUNCH_FAILED", "result_state": "UNREACHABLE"},
            {"life_cycle_state": "POLL_FAILED", "result_state": "403"},
            {"life_cycle_state": "TERMINATED", "result_state": "FAILED"},
        )
    )
    worker.observe_run(session, attempt_id=crowd.attempt(), run=run)


def begin_attempt(session: psycopg.Connection, crowd: Crowd) -> None:
    attempt = crowd.stage.attempt(crowd.attempt())
    with suppress(StateMovedError):  # it has ended, or another run does it
        report.begin_attempt(
            session,
            attempt_id=attempt.attempt_id,
            launch_token=attempt.launch_token,
            run_id=str(attempt.attempt_id),
        )


def observe_launcher(session: psycopg.Connection, crowd: Crowd) -> None:
    fault = crowd.random.choice(("it is away", None))
    place = crowd.random.choice(("one", "two", None))
    worker.observe_launcher(session, worker="w", launcher="lakeflow", fault=fault, place=place)


def pause(session: psycopg.Connection, crowd: Crowd) -> None:
    operator.pause_agent(session, agent=crowd.random.choice(("a", "b", None)))
    operator.resume_agent(session, agent=None)


def usage(session: psycopg.Connection, crowd: Crowd) -> None:
    calls = [
        {
            "call_id": str(crowd.random.randrange(50)),
            "model": crowd.random.choice(("m", unpriced(crowd))),
            "input_tokens": 1,
            "output_tokens": 1,
        }
        for _ in range(5)
    ]
    report.report_usage(session, attempt_id=crowd.attempt(), usage=calls)


def unpriced(crowd: Crowd) -> str:
    """Return a model that may not have a price yet."""
    return f"late {crowd.random.randrange(50)}"


def price_calls(session: psycopg.Connection, crowd: Crowd) -> None:
    model = unpriced(crowd)
    operator.register_price(session, model=model, valid_from=LONG_AGO, usd_per_call=Decimal(1))
    operator.price_calls(session, model=model)


def finish_upload(session: psycopg.Connection, upload_id: uuid.UUID) -> None:
    submitter.finish_upload(
        session, upload_id=upload_id, bytes_=1, pages=1, estimated_tokens=1, actor=OWNER
    )


def submit_uploads(session: psycopg.Connection, upload_ids: list[uuid.UUID]) -> None:
    key = str(uuid.uuid4())
    submitter.submit_uploads(
        session, submission_key=key, upload_ids=upload_ids, agent="a", name="n", actor=OWNER
    )


def with_uploads(
    act: Callable[[psycopg.Connection, list[uuid.UUID]], Any],
) -> Callable[[psycopg.Connection, Crowd], None]:
    """Return a writer that acts on some of the crowd's uploads."""

    def writer(session: psycopg.Connection, crowd: Crowd) -> None:
        with suppress(UploadSubmittedError, UnknownUploadError):  # another was first
            act(session, crowd.uploads())

    return writer


def act_on_matching(session: psycopg.Connection, crowd: Crowd) -> None:
    act = crowd.random.choice(("cancel", "retry", "reprocess", "reprioritize", "annotate"))
    matching: dict[str, Any] = {"statuses": crowd.random.sample(STATUSES, 2)}
    if act == "reprocess":  # of all it would make twice as many
        matching |= {"search": str(crowd.random.choice(crowd.task_ids))}
    expected = viewer.count_matching(session, **matching)
    with suppress(MatchChangedError):  # others act on the same tasks
        operator.act_on_matching(
            session, act=act, expected=expected, **matching, priority=1, note="n"
        )


def announcement_sent(session: psycopg.Connection, crowd: Crowd) -> None:
    known = crowd.stage.rows("select announcement_id from forebay.announcements")
    for row in crowd.random.sample(known, min(len(known), 3)):
        error = crowd.random.choice((None, "no answer"))
        upkeep.announcement_sent(session, announcement_id=row.announcement_id, error=error)


def bills(crowd: Crowd) -> list[dict[str, Any]]:
    """Return what machines of some attempts cost, by records that move between attempts."""
    return [
        {"record_id": str(crowd.random.randrange(9) * 10 + place), "attempt_id": id, "usd": place}
        for place, id in enumerate(crowd.some(crowd.attempt_ids, 6))
    ]


def record_bill(session: psycopg.Connection, crowd: Crowd) -> None:
    """Be one of several readers of a bill, of which the latest wins."""
    begun = upkeep.begin_bill(session, source="bill")
    with suppress(BillReadSinceError):
        upkeep.record_bill(
            session,
            rows=bills(crowd),
            began_at=begun.began_at,
            source="bill",
            shared_day=begun.began_at.date(),
        )


def end_bill(session: psycopg.Connection, _: Crowd) -> None:
    begun = upkeep.begin_bill(session, source="bill")
    with suppress(BillReadSinceError):
        upkeep.end_bill(session, began_at=begun.began_at, source="bill")


WRITERS: dict[str, Callable[[psycopg.Connection, Crowd], Any]] = {
    "dequeue": lambda s, c: worker.dequeue(
        s, worker="w", agents=["a", "b"], batch_size=c.random.randint(1, 6)
    ),
    "complete": lambda s, c: report.complete(s, attempt_id=c.attempt(), result={}),
    "complete_many": complete_many,
    "fail": fail,
    "may_call": may_call,
    "release": lambda s, c: worker.release(s, attempt_id=c.attempt(), reason="stop"),
    "renew_leases": lambda s, c: worker.renew_leases(s, worker="w", attempt_ids=c.attempts()),
    "adopt": lambda s, c: worker.adopt(s, worker="w", launchers=["lakeflow"]),
    "record_run": lambda s, c: worker.record_run(s, attempt_id=(a := c.attempt()), run_id=str(a)),
    "begin_attempt": begin_attempt,
    "observe_run": observe_run,
    "observe_launcher": observe_launcher,
    "runs_to_cancel": lambda s, c: worker.runs_to_cancel(s, worker="w"),
    "runs_before": lambda s, c: worker.runs_before(s, worker="w", attempt_ids=c.attempts()),
    "sweep": lambda s, c: worker.sweep(s, worker="w"),
    "cancel": lambda s, c: operator.cancel(s, task_ids=c.tasks()),
    "retry": lambda s, c: operator.retry(s, task_ids=c.tasks()),
    "reprioritize": lambda s, c: operator.reprioritize(
        s, task_ids=c.tasks(), priority=c.random.randint(-10, 10)
    ),
    "reprocess": lambda s, c: operator.reprocess(s, task_ids=c.tasks()),
    "record_compute_usage": lambda s, c: upkeep.record_compute_usage(
        s, rows=bills(c), source=c.random.choice(("local", "bill"))
    ),
    "record_bill": record_bill,
    "end_bill": end_bill,
    "attempts_to_trace": lambda s, c: upkeep.attempts_to_trace(s, limit=c.random.randint(1, 20)),
    "record_traces": lambda s, c: upkeep.record_traces(
        s,
        attempt_id=c.attempt(),
        calls=[
            {"call_id": str(n), "trace_id": str(c.random.randrange(3)), "input_tokens": 1}
            for n in c.some(list(range(9)), 2)
        ],
        traces=1,
    ),
    "annotate": lambda s, c: operator.annotate(s, task_ids=c.tasks(), note="n"),
    "act_on_matching": act_on_matching,
    "collect_announcements": lambda s, c: upkeep.collect_announcements(
        s, oldest_waiting=timedelta(milliseconds=1)
    ),
    "announcement_sent": announcement_sent,
    "enqueue_many": enqueue_many,
    "open_batch": lambda s, c: submitter.open_batch(s, name="another"),
    "cancel_batch": lambda s, c: submitter.cancel_batch(s, batch_id=c.batch_id, actor=OWNER),
    "retry_batch": lambda s, c: submitter.retry_batch(s, batch_id=c.batch_id, actor=OWNER),
    "retry_batch_tasks": lambda s, c: submitter.retry_batch_tasks(
        s, batch_id=c.batch_id, actor=OWNER, statuses=["failed"]
    ),
    "report_progress": lambda s, c: report.report_progress(
        s, attempt_id=c.attempt(), done=1, total=2
    ),
    "report_usage": usage,
    "register_agent": lambda s, c: c.register_agent(s, c.random.choice("ab")),
    "register_quota": lambda s, c: register_quota(s, c.random.choice(("one", "two"))),
    "register_customer": lambda s, c: register_customer(s, c.random.choice(("acme", "best"))),
    "register_price": lambda s, c: operator.register_price(
        s, model="m", usd_per_m_input=Decimal(c.random.randint(1, 9))
    ),
    "price_calls": price_calls,
    "lift_spend_cap": lambda s, c: operator.lift_spend_cap(
        s, agent="a", extra_usd=Decimal(c.random.randint(1, 9))
    ),
    "pause_agent": pause,
    "resume_agent": lambda s, c: operator.resume_agent(s, agent=c.random.choice(("a", "b", None))),
    "open_installation": lambda s, c: operator.open_installation(s),
    "callback": callback,
    "open_upload": with_uploads(
        lambda s, ids: submitter.open_upload(s, upload_id=ids[0], name="n", actor=OWNER)
    ),
    "finish_upload": with_uploads(lambda s, ids: finish_upload(s, ids[0])),
    "drop_upload": with_uploads(
        lambda s, ids: submitter.drop_upload(s, upload_id=ids[0], actor=OWNER)
    ),
    "submit_uploads": with_uploads(submit_uploads),
    "uploads_to_clean": lambda s, _: upkeep.uploads_to_clean(s, older_than=timedelta()),
    "uploads_cleaned": lambda s, c: upkeep.uploads_cleaned(s, upload_ids=c.upload_ids),
}


def repeated(name: str, crowd: Crowd, times: int) -> Act[None]:
    """Return the act of calling a writer some times."""

    def act(session: psycopg.Connection) -> None:
        for _ in range(times):
            WRITERS[name](session, crowd)

    return act


def collide(crowd: Crowd, first: str, second: str, times: int) -> None:
    """Let two sessions of each writer loose on the crowd; nobody may see any error."""
    crowd.replenish()
    acts = [repeated(name, crowd, times) for name in (first, first, second, second)]
    outcomes = crowd.stage.at_once(acts)
    assert outcomes == [None] * 4, f"{first} against {second}: {outcomes}"


def test_no_writer_is_left_out(stage: Stage) -> None:
    """Every public function that may write takes part in the hunt."""
    volatile = (
        "select p.proname::text from pg_proc as p where p.pronamespace = 'forebay'::regnamespace"
        " and p.provolatile = 'v' and not starts_with(p.proname, '_')"
    )
    assert {row.proname for row in stage.rows(volatile)} - NO_RIVALS == set(WRITERS)


@pytest.mark.parametrize("first", WRITERS)
def test_no_two_writers_deadlock(stage: Stage, first: str) -> None:
    """Every pair of public writers, on the same tasks in any order, ends without an error."""
    crowd = Crowd(stage)
    names = list(WRITERS)
    for second in names[names.index(first) :]:
        collide(crowd, first, second, times=4)


@pytest.mark.long
@pytest.mark.parametrize("first", WRITERS)
def test_no_two_writers_deadlock_for_long(stage: Stage, first: str) -> None:
    """The same, with many more calls of every pair in both orders."""
    crowd = Crowd(stage)
    for second in WRITERS:
        collide(crowd, first, second, times=60)


def test_dl1_cancel_and_sweep_of_the_same_tasks(stage: Stage) -> None:
    """Bulk work on the same rows from eight sessions: each locks by id, or skips what is held."""
    crowd = Crowd(stage, has_external=False)
    for _ in range(8):
        crowd.replenish()
        stage.expire(*crowd.attempt_ids)
        names = ["cancel", "sweep", "reprioritize", "retry"] * 2
        assert stage.at_once([repeated(name, crowd, 3) for name in names]) == [None] * 8


def test_dl1_a_cancel_in_another_order_waits_its_turn(stage: Stage) -> None:
    """Two cancels of the same tasks in opposite orders never hold a row the other needs first."""
    stage.agent()
    ids = stage.enqueue(count=200)
    for _ in range(10):
        backwards = ids[::-1]
        outcomes = stage.at_once(
            [
                (lambda s, order=order: operator.cancel(s, task_ids=order) and None)
                for order in (ids, backwards) * 4
            ]
        )
        assert outcomes == [None] * 8
        operator.retry(stage.db, task_ids=ids)


def test_keys_in_another_order_wait_their_turn(stage: Stage) -> None:
    """Bulk enqueues with the same idempotency keys in opposite orders do not deadlock."""
    stage.agent()
    for number in range(10):
        tasks = [{"payload": {}, "idempotency_key": f"{number}-{key}"} for key in range(400)]
        outcomes = stage.at_once(
            [
                (lambda s, order=order: submitter.enqueue_many(s, agent="a", tasks=order) and None)
                for order in (tasks, tasks[::-1]) * 4
            ]
        )
        assert outcomes == [None] * 8
    assert stage.value("select count(*) from forebay.tasks") == 4000


def test_dl4_dequeue_and_complete_on_one_agent(stage: Stage) -> None:
    """Claims lock agent, then task; a report needs no lock of the agent: no circle, no wait."""
    stage.agent(max_concurrent_tasks=8, max_tpm=10**9)
    stage.enqueue(count=400)

    def work(session: psycopg.Connection) -> None:
        for _ in range(12):
            for row in worker.dequeue(session, worker="w", agents=["a"], batch_size=2):
                report.complete(session, attempt_id=row.attempt_id, result={})

    assert stage.at_once([work] * 16) == [None] * 16
