"""The walk: random calls on the database and on the model, which must agree after every one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any, TypeVar

import psycopg
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from psycopg.types.json import Jsonb

from model import compare
from model.bucket import MICROSECOND
from model.insight import moments
from model.model import ADOPTION_GRACE, FEWEST_SAMPLES, Model
from model.records import TERMINAL, Attempt, Definition
from model.stage import Stage, moment

Item = TypeVar("Item")

AGENTS = {"red": "pull", "green": "pull", "blue": "lakeflow"}
WORKERS = st.sampled_from(["w1", "w2"])
PRIORITIES = st.sampled_from([0, 10, -10, 0])
BATCH_SIZES = st.sampled_from([3, 1, 2, 5, 10])
ATTEMPTS = st.sampled_from(["open", "late", "any"])
PICKS = st.integers(0, 50)
DELAYS = st.sampled_from([0, 0.000001, 7, 60]).map(lambda s: timedelta(seconds=s))
RESULTS = st.integers(1, 3).map(lambda n: {"n": n})
CONFIDENCES = st.sampled_from([None, Decimal("0.5"), Decimal(1)])
ERRORS = st.sampled_from(
    ["agent_bug", "rate_limited", "overloaded", "rate_limited", "bad_input"]
).map(lambda kind: {"kind": kind, "message": "no"})
CALLS = st.lists(
    st.fixed_dictionaries(
        {
            "source": st.sampled_from(["agent", "agent", "trace"]),
            "call_id": st.sampled_from(["c1", "c2"]),
            "input_tokens": st.sampled_from([None, 100, 700, 3000, 0]),
            "output_tokens": st.sampled_from([0, 50, 1000, None]),
        }
    ),
    min_size=1,
    max_size=3,
)
RUNS = st.sampled_from(
    [
        ("RUNNING", None),
        ("LAUNCH_FAILED", "500"),
        ("SKIPPED", None),
        ("TERMINATED", "SUCCESS"),
        ("TERMINATED", "FAILED"),
        ("INTERNAL_ERROR", None),
        ("UNAUTHORIZED", None),
        ("A_NEW_STATE", None),
    ]
)
DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {"payload": st.integers(1, 2).map(lambda n: {"p": n})},
        optional={
            "priority": PRIORITIES,
            "estimated_tokens": st.sampled_from([1, 300, 800, 1000, 5000, 0]),
            "customer": st.sampled_from(["ann", "bob"]),
            "max_attempts": st.sampled_from([1, 2]),
            "run_after": st.integers(-5, 90),
            "idempotency_key": st.sampled_from(["k1", "k2", "k3"]),
        },
    ),
    min_size=1,
    max_size=4,
)
LIMITS = {
    "max_concurrent_tasks": st.sampled_from([None, 3, 2, 1, 3, 2, 1, 0]),
    "max_tpm": st.sampled_from([None, 6000, 1200, 3000, 6000, 1200, 0]),
    "max_rpm": st.sampled_from([None, None, 60, 6]),
    "lease": st.sampled_from([20, 60]).map(lambda s: timedelta(seconds=s)),
    "timeout": st.sampled_from([3600, 100, 15]).map(lambda s: timedelta(seconds=s)),
    "max_attempts": st.sampled_from([3, 2, 1]),
    "max_releases": st.sampled_from([20, 1, 0]),
    "backoff_base": st.just(timedelta(seconds=5)),
    "backoff_max": st.sampled_from([3600, 8]).map(lambda s: timedelta(seconds=s)),
    "on_lost_lease": st.sampled_from(["retry", "retry", "fail"]),
    "late_results": st.sampled_from(["accept", "accept", "reject"]),
    "default_estimated_tokens": st.sampled_from([400, 1000]),
    "max_waiting": st.sampled_from([None, None, None, 6]),
    "aging": st.sampled_from([None, None, 7, 60]).map(lambda s: s and timedelta(seconds=s)),
    "reserve_after": st.sampled_from([60, 5, 0]).map(lambda s: timedelta(seconds=s)),
    "fair_by_customer": st.sampled_from([False, False, True]),
    "max_deferrals": st.sampled_from([100, 1, 0]),
    "max_deferral_time": st.sampled_from([86400, 5]).map(lambda s: timedelta(seconds=s)),
}
LIMITED = st.fixed_dictionaries(LIMITS)


def pick(items: Sequence[Item], number: int) -> Item:
    """Choose an item by a number: 0 is the latest."""
    return items[-1 - number % len(items)]


class Walk(RuleBasedStateMachine):
    """Calls in any order, each checked against what the model says it must answer."""

    steps = 0

    def __init__(self, stage: Stage) -> None:
        super().__init__()
        self.stage = stage
        stage.empty()
        self.model = Model(stage.clock.now())
        self.look = stage.look()
        self.shown = 0

    def attempt(self, number: int, which: str) -> Attempt:
        """Choose an attempt: an open one, a late one whose task goes on without it, or any."""
        attempts = list(self.model.attempts.values())
        chosen = {
            "open": [a for a in attempts if a.is_open],
            "late": [
                a
                for a in attempts
                if not a.is_open and self.model.tasks[a.task_id].status not in TERMINAL
            ],
        }
        return pick(chosen.get(which) or attempts, number)

    def task_ids(self, numbers: Iterable[int]) -> list[int]:
        """Choose tasks, one of 50 numbers being of no task."""
        ids = list(self.model.tasks)
        return [-1 if number == 50 else pick(ids, number) for number in numbers]

    def has_tasks(self) -> bool:
        """Whether there is anything to act on."""
        return bool(self.model.tasks)

    def has_attempts(self) -> bool:
        """Whether there is anything to report on."""
        return bool(self.model.attempts)

    # Agents

    @initialize(limits=st.lists(LIMITED, min_size=3, max_size=3), documents=DOCUMENTS)
    def start(self, limits: list[dict[str, Any]], documents: list[dict[str, Any]]) -> None:
        for agent, chosen in zip(AGENTS, limits, strict=True):
            self.define(agent, chosen)
            self.put_in(agent, [dict(document) for document in documents])
        self.claim("w1", list(AGENTS), None, 5)

    @precondition(has_tasks)
    @rule(
        agent=st.sampled_from(list(AGENTS)),
        estimate=st.sampled_from([1000, 1000, None, 7]),
        used=st.sampled_from([(300, 100), (900, 1500), (7, 0)]),
    )
    def practise(self, agent: str, estimate: int | None, used: tuple[int, int]) -> None:
        """Let an agent do as many tasks as make experience, each with another use."""
        document: dict[str, Any] = {"payload": {"p": 1}, "priority": 20}
        if estimate:
            document["estimated_tokens"] = estimate
        limits = dict(self.model.agents[agent].definition.__dict__)
        limits.pop("launcher")
        free = {f"max_{name}": None for name in ("concurrent_tasks", "tpm", "rpm", "waiting")}
        self.register(agent, limits | free)
        self.resume(agent)
        self.put_in(agent, [dict(document) for _ in range(FEWEST_SAMPLES)])
        known = set(self.model.attempts)
        self.claim("w1", [agent], None, FEWEST_SAMPLES)
        for number, attempt_id in enumerate(sorted(set(self.model.attempts) - known)):
            attempt = self.model.attempts[attempt_id]
            tokens = {"input_tokens": used[0] + number, "output_tokens": used[1]}
            self.tell_usage(attempt, [{"source": "agent", "call_id": "c1"} | tokens])
            self.succeed(attempt, {"n": 1}, None)
        self.register(agent, limits)

    def define(self, agent: str, limits: dict[str, Any]) -> None:
        definition = Definition(launcher=AGENTS[agent], **limits)
        self.stage.value("register_agent", agent=agent, launcher=AGENTS[agent], **limits)
        self.model.register(agent, definition)

    @precondition(has_attempts)
    @rule(agent=st.sampled_from(list(AGENTS)), limits=LIMITED)
    def register(self, agent: str, limits: dict[str, Any]) -> None:
        self.go_to(self.model.now + MICROSECOND)  # a claim and a limit never at one moment
        self.define(agent, limits)

    @precondition(has_attempts)
    @rule(
        agent=st.sampled_from(list(AGENTS)),
        name=st.sampled_from(["max_concurrent_tasks", "max_tpm", "max_rpm"]),
        data=st.data(),
    )
    def change_limit(self, agent: str, name: str, data: st.DataObject) -> None:
        self.go_to(self.model.now + MICROSECOND)
        definition = vars(self.model.agents[agent].definition) | {name: data.draw(LIMITS[name])}
        definition.pop("launcher")
        self.define(agent, definition)

    @precondition(has_attempts)
    @rule(agent=st.sampled_from([*AGENTS, None]), seconds=st.sampled_from([1, 5, 30, None]))
    def pause(self, agent: str | None, seconds: int | None) -> None:
        until = None if seconds is None else self.model.now + timedelta(seconds=seconds)
        paused = self.stage.value("pause_agent", agent=agent, until=until, reason="r", actor="a")
        assert paused == self.model.pause(agent, until)

    @precondition(has_attempts)
    @rule(agent=st.sampled_from([*AGENTS, None]))
    def resume(self, agent: str | None) -> None:
        assert self.stage.value("resume_agent", agent=agent) == self.model.resume(agent)

    # Time

    def go_to(self, time: Any) -> None:
        self.model.now = self.stage.clock.set(time)

    @rule(seconds=st.sampled_from([0.000001, 1, 5, 10, 60, 4000]))
    def wait(self, seconds: float) -> None:
        self.go_to(self.model.now + timedelta(seconds=seconds))

    @rule(number=st.integers(0, 5), shift=st.sampled_from([0, 0, -1, 1]))
    def wait_for_a_moment(self, number: int, shift: int) -> None:
        ahead = sorted({*moments(self.model), *self.told()})
        if ahead:
            time = ahead[number % len(ahead)] + shift * MICROSECOND
            self.go_to(max(time, self.model.now))

    def told(self) -> list[Any]:
        """Return the moments ahead at which the database has said that a task can start."""
        told = [moment(row["waiting_until"]) for row in self.look["explained"]]
        return [time for time in told if time and self.model.now < time]

    # Tasks

    @rule(agent=st.sampled_from(list(AGENTS)), documents=DOCUMENTS)
    def enqueue(self, agent: str, documents: list[dict[str, Any]]) -> None:
        self.put_in(agent, documents)

    def put_in(self, agent: str, documents: list[dict[str, Any]]) -> None:
        model = self.model
        for document in documents:
            if "run_after" in document:
                document["run_after"] = model.now + timedelta(seconds=document["run_after"])
        first: dict[Any, Any] = {
            t.idempotency_key: t.payload for t in model.tasks.values() if t.agent == agent
        }
        is_reused = any(
            first.setdefault(d["idempotency_key"], d["payload"]) != d["payload"]
            for d in documents
            if "idempotency_key" in d
        )
        sent = [
            {k: v.isoformat() if k == "run_after" else v for k, v in d.items()} for d in documents
        ]
        refusal = "QF403" if self.is_too_long(agent, documents) else "QF201" if is_reused else None
        if refusal:
            with pytest.raises(psycopg.Error, check=lambda error: error.sqlstate == refusal):
                self.stage.rows("enqueue_many", agent=agent, tasks=Jsonb(sent))
            return
        rows = self.stage.rows("enqueue_many", agent=agent, tasks=Jsonb(sent))
        assert [row["ordinal"] for row in rows] == list(range(1, len(documents) + 1))
        for row, document in zip(rows, documents, strict=True):
            known = model.find_key(agent, document.get("idempotency_key"))
            assert row["created"] == (known is None)
            if known:
                assert row["task_id"] == known.task_id
            else:
                assert row["task_id"] > max(model.tasks, default=0)
                model.enqueue(row["task_id"], agent, document)

    def is_too_long(self, agent: str, documents: list[dict[str, Any]]) -> bool:
        """Tell whether more of the agent's tasks would wait than may; known keys do not count."""
        model, most = self.model, self.model.agents[agent].definition.max_waiting
        keys = {d["idempotency_key"] for d in documents if "idempotency_key" in d}
        new = sum("idempotency_key" not in document for document in documents)
        new += sum(model.find_key(agent, key) is None for key in keys)
        waiting = [t for t in model.tasks.values() if (t.agent, t.status) == (agent, "enqueued")]
        return most is not None and new > 0 and len(waiting) + new > most

    @precondition(has_tasks)
    @rule(numbers=st.lists(PICKS, min_size=1, max_size=2))
    def cancel(self, numbers: list[int]) -> None:
        ids = self.task_ids(numbers)
        rows = self.stage.rows("cancel", task_ids=ids, reason="r")
        compare.effects(rows, self.model.cancel(ids))

    @precondition(has_tasks)
    @rule(numbers=st.lists(PICKS, min_size=1, max_size=4), priority=st.sampled_from([None, 10]))
    def retry(self, numbers: list[int], priority: int | None) -> None:
        ids = self.task_ids(numbers)
        rows = self.stage.rows("retry", task_ids=ids, priority=priority, actor="a")
        compare.effects(rows, self.model.retry(ids, priority))

    @precondition(has_tasks)
    @rule(numbers=st.lists(PICKS, min_size=1, max_size=3), priority=PRIORITIES)
    def reprioritize(self, numbers: list[int], priority: int) -> None:
        ids = self.task_ids(numbers)
        rows = self.stage.rows("reprioritize", task_ids=ids, priority=priority)
        compare.effects(rows, self.model.reprioritize(ids, priority))

    @precondition(has_tasks)
    @rule(
        numbers=st.lists(PICKS, min_size=1, max_size=3),
        agent=st.sampled_from([None, "green"]),
        priority=PRIORITIES,
    )
    def reprocess(self, numbers: list[int], agent: str | None, priority: int) -> None:
        ids = self.task_ids(numbers)
        rows = self.stage.rows("reprocess", task_ids=ids, agent=agent, priority=priority)
        assert [row["task_id"] for row in rows] == sorted(set(ids))
        for row in rows:
            task = self.model.tasks.get(row["task_id"])
            is_done = task is not None and task.status in TERMINAL
            effect = "reprocessed" if is_done else "none" if task else "unknown"
            assert (row["status"], row["effect"]) == (task and task.status, effect)
            assert (row["new_task_id"] is not None) == is_done
            if is_done:
                assert row["new_task_id"] > max(self.model.tasks)
                self.model.reprocess(row["task_id"], row["new_task_id"], agent, priority)

    # Claims and leases

    @rule(worker=WORKERS, batch_size=BATCH_SIZES)
    def dequeue(self, worker: str, batch_size: int) -> None:
        self.claim(worker, list(AGENTS), None, batch_size)

    @rule(batch_size=BATCH_SIZES)
    def resume_and_dequeue(self, batch_size: int) -> None:
        self.resume(None)
        self.claim("w1", None, ["pull", "lakeflow"], batch_size)

    @rule(
        worker=WORKERS,
        which=st.sampled_from(
            [(None, None), (None, ["lakeflow"]), (["red"], None), (["red", "blue"], ["pull"])]
        ),
        batch_size=BATCH_SIZES,
    )
    def dequeue_some(self, worker: str, which: Any, batch_size: int) -> None:
        self.claim(worker, *which, batch_size)

    def claim(self, worker: str, agents: Any, launchers: Any, batch_size: int) -> None:
        allowed = self.model.claims(agents, launchers, batch_size)
        rows = self.stage.rows(
            "dequeue", worker=worker, agents=agents, batch_size=batch_size, launchers=launchers
        )
        claimed = tuple(row["task_id"] for row in rows)
        turns = compare.turns(self.stage.turns())
        outcome = next((o for o in allowed if o.agrees(claimed, turns)), None)
        assert outcome, f"claimed {claimed}, {turns}, allowed {allowed}"
        ended = self.stage.ended_of([a.attempt_id for a in self.model.expired()])
        assert outcome.ended <= ended  # of an agent that claims nothing they may end, too
        for agent in ended:
            self.model.end_expired(agent)
        for row in rows:
            attempt = self.model.claimed(
                worker, row["attempt_id"], row["task_id"], row["launch_token"]
            )
            compare.claim(row, attempt, self.model.tasks[attempt.task_id])
        for agent, after in outcome.turns:
            self.model.agents[agent].turns = after

    @precondition(has_attempts)
    @rule(worker=WORKERS)
    def renew(self, worker: str) -> None:
        ids = [*list(self.model.attempts)[-12:], -1]
        rows = self.stage.rows("renew_leases", worker=worker, attempt_ids=ids)
        got = {r["attempt_id"]: (r["state"], moment(r["lease_expires_at"])) for r in rows}
        assert got == {attempt_id: self.model.renew(worker, attempt_id) for attempt_id in ids}

    @precondition(has_attempts)
    @rule()
    def sweep(self) -> None:
        swept = self.stage.value("sweep")
        self.model.forget_refusals()
        assert (swept["requeued"], swept["failed"]) == self.model.end_expired()

    @precondition(has_attempts)
    @rule()
    def lose_all_leases(self) -> None:
        ends = [a.lease_expires_at + ADOPTION_GRACE for a in self.model.open_attempts()]
        self.go_to(max([self.model.now, *ends]))
        self.sweep()

    @precondition(has_attempts)
    @rule(worker=WORKERS, limit=st.sampled_from([1, 100]))
    def adopt(self, worker: str, limit: int) -> None:
        adoptable = self.model.adoptable()
        rows = self.stage.rows("adopt", worker=worker, launchers=["lakeflow", "pull"], limit=limit)
        adopted = [self.model.attempts[row["attempt_id"]] for row in rows]
        assert sorted(a.lease_expires_at for a in adopted) == [
            a.lease_expires_at for a in adoptable[:limit]
        ]
        for row, attempt in zip(rows, adopted, strict=True):
            assert attempt in adoptable
            self.model.adopted(worker, attempt)
            compare.claim(row, attempt, self.model.tasks[attempt.task_id])
            assert row["run_id"] == attempt.run_id

    @precondition(has_attempts)
    @rule(number=PICKS)
    def record_run(self, number: int) -> None:
        attempt = self.attempt(number, "open")
        run_id = f"run {attempt.attempt_id}"
        self.stage.value("record_run", attempt_id=attempt.attempt_id, run_id=run_id)
        self.model.record_run(attempt, run_id)

    @precondition(has_attempts)
    @rule(number=PICKS, which=ATTEMPTS, run=RUNS)
    def observe_run(self, number: int, which: str, run: tuple[str, str | None]) -> None:
        attempt = self.attempt(number, which)
        seen = Jsonb({"life_cycle_state": run[0], "result_state": run[1]})
        answer = self.stage.value("observe_run", attempt_id=attempt.attempt_id, run=seen)
        assert answer == self.model.observe_run(attempt, run[0])

    @precondition(has_attempts)
    @rule()
    def fail_to_launch(self) -> None:
        """A job takes no run: some more are claimed for it, and none of them is launched."""
        self.put_in("blue", [{"payload": {"p": 1}, "estimated_tokens": 1} for _ in range(4)])
        self.resume(None)
        self.claim("w1", ["blue"], None, 5)
        for attempt in [a for a in self.model.open_attempts("blue") if a.run_id is None]:
            seen = Jsonb({"life_cycle_state": "LAUNCH_FAILED"})
            answer = self.stage.value("observe_run", attempt_id=attempt.attempt_id, run=seen)
            assert answer == self.model.observe_run(attempt, "LAUNCH_FAILED")

    # Reports

    @precondition(has_attempts)
    @rule(number=PICKS, which=ATTEMPTS, result=RESULTS, confidence=CONFIDENCES)
    def complete(self, number: int, which: str, result: Any, confidence: Any) -> None:
        self.succeed(self.attempt(number, which), result, confidence)

    def succeed(self, attempt: Attempt, result: Any, confidence: Any) -> None:
        status = self.stage.value(
            "complete",
            attempt_id=attempt.attempt_id,
            result=Jsonb(result),
            confidence=confidence,
        )
        assert status == self.model.succeed(attempt, result, confidence)[0]

    @precondition(has_attempts)
    @rule(reports=st.lists(st.tuples(PICKS, ATTEMPTS, RESULTS), min_size=1, max_size=4))
    def complete_many(self, reports: list[tuple[int, str, Any]]) -> None:
        ids = [self.attempt(number, which).attempt_id for number, which, _ in reports]
        rows = self.stage.rows(
            "complete_many",
            attempt_ids=[*ids, -1],
            results=[Jsonb(r) for *_, r in reports] + [Jsonb({})],
        )
        expected: list[tuple[int, str | None, str]] = [(-1, None, "none")]
        first = dict(zip(reversed(ids), (r for *_, r in reversed(reports)), strict=True))
        for attempt_id in sorted(first):
            answer = self.model.succeed(self.model.attempts[attempt_id], first[attempt_id], None)
            expected.append((attempt_id, *answer))
        assert [(r["attempt_id"], r["status"], r["effect"]) for r in rows] == expected

    @precondition(has_attempts)
    @rule(
        number=PICKS,
        which=ATTEMPTS,
        error=ERRORS,
        retryable=st.sampled_from([True, True, False]),
        retry_after=st.one_of(st.none(), DELAYS),
    )
    def fail(self, number: int, which: str, **report: Any) -> None:
        attempt = self.attempt(number, which)
        sent = report | {"error": Jsonb(report["error"])}
        status = self.stage.value("fail", attempt_id=attempt.attempt_id, **sent)
        assert status == self.model.fail(attempt, **report)[0]

    @precondition(has_attempts)
    @rule(
        number=PICKS,
        which=ATTEMPTS,
        kind=st.sampled_from(["task.completed", "task.failed", "task.usage"]),
        result=RESULTS,
        error=ERRORS,
        calls=st.one_of(st.none(), CALLS),
    )
    def callback(
        self, number: int, which: str, kind: str, result: Any, error: Any, calls: Any
    ) -> None:
        attempt, model = self.attempt(number, which), self.model
        data = {"task_id": str(attempt.task_id), "attempt_id": attempt.attempt_id}
        if kind == "task.usage":
            calls = calls or [
                {"call_id": "c1", "source": "agent", "input_tokens": 1, "output_tokens": 1}
            ]
        event = {"type": kind, "data": data | {"result": result, "error": error, "usage": calls}}
        answer = self.stage.value("callback", event=Jsonb(event))

        recorded = model.report_usage(attempt, calls) if calls else 0
        if kind == "task.completed":
            status, effect = model.succeed(attempt, result, None)
        elif kind == "task.failed":
            status, effect = model.fail(attempt, error, True, None)
        else:
            status = model.tasks[attempt.task_id].status
            effect = "recorded" if recorded else "none"
        expected = {"task_id": attempt.task_id, "status": status, "effect": effect}
        assert answer == expected

    @precondition(has_attempts)
    @rule(number=PICKS, which=ATTEMPTS, retry_in=DELAYS)
    def release(self, number: int, which: str, retry_in: timedelta) -> None:
        attempt = self.attempt(number, which)
        status = self.stage.value(
            "release", attempt_id=attempt.attempt_id, reason="r", retry_in=retry_in
        )
        assert status == self.model.release(attempt, retry_in)

    @precondition(has_attempts)
    @rule(number=PICKS, which=ATTEMPTS, calls=CALLS)
    def report_usage(self, number: int, which: str, calls: list[dict[str, Any]]) -> None:
        self.tell_usage(self.attempt(number, which), calls)

    def tell_usage(self, attempt: Attempt, calls: list[dict[str, Any]]) -> None:
        changed = self.stage.value(
            "report_usage", attempt_id=attempt.attempt_id, usage=Jsonb(calls)
        )
        assert changed == self.model.report_usage(attempt, calls)

    # After every step

    def some_live_tasks(self) -> list[int]:
        """Choose a few tasks that wait or run, others after each step."""
        live = [t.task_id for t in self.model.tasks.values() if t.status not in TERMINAL]
        self.shown += 1
        start = self.shown % max(1, len(live))
        return (live[start:] + live[:start])[:2]

    @invariant()
    def agrees(self) -> None:
        type(self).steps += 1
        look = self.stage.look(explain=self.some_live_tasks())
        compare.tables(look, self.model)
        compare.insight_agrees(look, self.model)
        compare.rules(self.look, look)
        self.look = look
