"""The queue in plain Python: every call of the API as a method that answers what it must answer.

It is written from the contract, holds everything in memory, and knows neither locks nor SQL. What
the database draws by itself (ids, launch tokens, the tenth off a backoff) it takes over from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

from model.bucket import MICROSECOND, Bucket, Limit
from model.line import LOWEST, Desk, Outcome, Waiting, outcomes
from model.records import (
    FOREVER,
    TERMINAL,
    Agent,
    Attempt,
    Between,
    Definition,
    Expected,
    Json,
    Learned,
    Refusal,
    Task,
)

ADOPTION_GRACE = timedelta(minutes=2)
REPORT_GRACE = timedelta(seconds=30)
SAMPLES, FEWEST_SAMPLES = 50, 10
FAILING_LAUNCHES = 3  # of an agent, that hold it up
LEAST_SHARE = Fraction(1, 10)


class Policy(NamedTuple):
    """What follows from the kind of an error; pauses: None means when it came with a time."""

    is_final: bool = False
    spends_attempt: bool = True
    pauses: bool | None = False
    wait: timedelta | None = None


POLICIES = {
    "rate_limited": Policy(spends_attempt=False, pauses=True, wait=timedelta(minutes=1)),
    "overloaded": Policy(spends_attempt=False, pauses=None),
    "infrastructure": Policy(),
    "agent_bug": Policy(),
    "bad_input": Policy(is_final=True),
}

# What a state of a lakeflow run leads to, and whether the run has ended.
RUN_OUTCOMES = {
    "RUNNING": ("renew", False),
    "LAUNCH_FAILED": ("renew", False),
    "SKIPPED": ("requeue", True),
    "TERMINATED": ("retry", True),
    "INTERNAL_ERROR": ("retry", True),
    "UNAUTHORIZED": ("pause_agent", True),
}


class Model:
    """Agents, tasks and attempts, and the moment that it is."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.agents: dict[str, Agent] = {}
        self.tasks: dict[int, Task] = {}
        self.attempts: dict[int, Attempt] = {}
        self.acts: list[tuple[str, int | None, str | None]] = []

    # Agents

    def register(self, name: str, definition: Definition) -> None:
        """Define an agent: a bucket keeps its level, cut to the new burst; a new one is full."""
        agent = self.agents.setdefault(name, Agent(name, definition))
        old, agent.definition = agent.definition, definition
        agent.tokens = self._limit(agent.tokens, old.token_limit, definition.token_limit)
        agent.requests = self._limit(agent.requests, old.request_limit, definition.request_limit)
        self.acts.append(("register_agent", None, name))

    def _limit(self, bucket: Bucket | None, old: Limit | None, new: Limit | None) -> Bucket | None:
        if new is None:
            return None
        if bucket is None or old is None:
            return Bucket(new.burst, self.now)
        bucket.resize(old, new, self.now)
        return bucket

    def effective(self, agent: Agent) -> Definition:
        """Return the agent's limits as a provider's refusals lower them now."""
        refusal = agent.last_refusal
        share = refusal.share_at(self.now) if refusal else 1
        if not refusal or share == 1:
            return agent.definition

        def lowered(limit: int | None) -> int | None:
            return None if limit is None else min(limit, max(1, int(limit * share // 1)))

        configured = agent.definition
        slots = configured.max_concurrent_tasks
        return replace(
            configured,
            max_concurrent_tasks=lowered(refusal.in_flight if slots is None else slots),
            max_tpm=lowered(configured.max_tpm),
            max_rpm=lowered(configured.max_rpm),
        )

    def levels(self, agent: Agent) -> tuple[Fraction | None, Fraction | None]:
        """Return what its buckets hold now: tokens and claims, None without the limit."""
        limits = self.effective(agent)
        return (
            agent.tokens.at(self.now, limits.token_limit)
            if agent.tokens and limits.token_limit
            else None,
            agent.requests.at(self.now, limits.request_limit)
            if agent.requests and limits.request_limit
            else None,
        )

    def pause(self, name: str | None, until: datetime | None) -> int:
        """Pause an agent until a moment, or until it is resumed; None: each not paused as long."""
        end = until or FOREVER
        paused = [
            a
            for a in self.agents.values()
            if a.name == name or (name is None and (a.paused_until is None or a.paused_until < end))
        ]
        for agent in paused:
            agent.paused_until = end
            self.acts.append(("pause_agent", None, agent.name))
        return len(paused)

    def resume(self, name: str | None) -> int:
        """End the pauses of an agent, or every one: an operator's, and a provider's."""
        named = [a for a in self.agents.values() if name in (None, a.name)]
        paused = [a for a in named if a.paused_until is not None or self._asked_to_wait(a)]
        for agent in paused:
            agent.paused_until = None
            for refusal in agent.refusals:
                refusal.paused_until = min(refusal.paused_until, self.now)
            self.acts.append(("resume_agent", None, agent.name))
        return len(paused)

    def _asked_to_wait(self, agent: Agent) -> bool:
        refusal = agent.last_refusal
        return refusal is not None and refusal.paused_until > self.now

    def paused_until(self, agent: Agent) -> datetime | None:
        """Return the end of the pause that holds now, an operator's or a provider's."""
        ends = [agent.paused_until, agent.last_refusal and agent.last_refusal.paused_until]
        return max((end for end in ends if end is not None and end > self.now), default=None)

    def refuse(self, agent: Agent, attempt: Attempt, wait: timedelta) -> None:
        """Note a refusal: it halves the share, unless the attempt began before the last halving."""
        last, until = agent.last_refusal, self.now + wait
        share = last.share_at(self.now) if last else Fraction(1)
        if last and attempt.started_at <= last.lowered_at and share == last.share:
            agent.refusals.append(replace(last, paused_until=until))
            return
        in_flight = len(self.open_attempts(agent.name)) + 1
        if last and share < 1:
            in_flight = max(in_flight, last.in_flight)
        halved = max(LEAST_SHARE, Fraction(int(share / 2 * 1000), 1000))
        agent.refusals.append(Refusal(in_flight, until, halved, self.now))

    def forget_refusals(self) -> None:
        """Drop the refusals that lower nothing any more."""
        for agent in self.agents.values():
            agent.refusals = [r for r in agent.refusals if r.share_at(self.now) < 1]

    # Tasks

    def find_key(self, agent: str, key: str | None) -> Task | None:
        """Return the agent's task with this idempotency key."""
        return next(
            (
                t
                for t in self.tasks.values()
                if key and (t.agent, t.idempotency_key) == (agent, key)
            ),
            None,
        )

    def enqueue(self, task_id: int, agent: str, document: Json) -> None:
        """Put a new task in line, or beside it until its run_after."""
        fields = {"priority": 0, **document}
        run_after = fields.pop("run_after", None) or self.now
        self.tasks[task_id] = Task(
            task_id, agent, created_at=self.now, available_at=max(self.now, run_after), **fields
        )

    def cancel(self, ids: Iterable[int]) -> Iterator[tuple[int, str | None, str]]:
        """End tasks that wait or run; tell their workers; the tokens stay charged."""
        for task_id in sorted(set(ids)):
            task = self.tasks.get(task_id)
            if task and task.status not in TERMINAL:
                if task.attempt_id is not None:
                    self._end(self.attempts[task.attempt_id], "cancelled", is_stop_pending=True)
                self._move(task, "cancelled")
                self.acts.append(("cancel", task_id, None))
                yield task_id, "cancelled", "cancelled"
            else:
                yield task_id, task.status if task else None, "none" if task else "unknown"

    def retry(
        self, ids: Iterable[int], priority: int | None
    ) -> Iterator[tuple[int, str | None, str]]:
        """Put failed and cancelled tasks back in line, their attempts afresh."""
        for task_id in sorted(set(ids)):
            task = self.tasks.get(task_id)
            if task and task.status in ("failed", "cancelled"):
                self._move(task, "enqueued")
                task.priority = task.priority if priority is None else priority
                task.attempt_count = task.release_count = task.deferral_count = 0
                task.deferred_since = None
                task.error_kind, task.available_at = None, self.now
                self.acts.append(("retry", task_id, None))
                yield task_id, "enqueued", "retried"
            else:
                yield task_id, task.status if task else None, "none" if task else "unknown"

    def reprioritize(
        self, ids: Iterable[int], priority: int
    ) -> Iterator[tuple[int, str | None, str]]:
        """Give tasks that have not ended another priority."""
        for task_id in sorted(set(ids)):
            task = self.tasks.get(task_id)
            if task and task.status not in TERMINAL and task.priority != priority:
                task.priority = priority
                self.acts.append(("reprioritize", task_id, None))
                yield task_id, task.status, "reprioritized"
            else:
                yield task_id, task.status if task else None, "none" if task else "unknown"

    def reprocess(self, old_id: int, new_id: int, agent: str | None, priority: int) -> None:
        """Enqueue a finished task anew, linked to the old one, which stays as it is."""
        old = self.tasks[old_id]
        document = {
            "priority": priority,
            "payload": old.payload,
            "estimated_tokens": old.estimated_tokens,
            "max_attempts": old.max_attempts,
            "customer": old.customer,
            "reprocess_of": old_id,
        }
        self.enqueue(new_id, agent or old.agent, document)
        self.acts.append(("reprocess", old_id, agent))

    # Claims

    def line(self, agent: Agent) -> tuple[Waiting, ...]:
        """Return the agent's due tasks in the order in which they are served."""
        return self.desk(agent).ordered

    def is_due(self, task: Task) -> bool:
        """Whether a task waits and is not delayed."""
        return task.status == "enqueued" and bool(task.available_at <= self.now)

    def open_attempts(self, agent: str | None = None) -> list[Attempt]:
        """Return the attempts that hold a task."""
        return [a for a in self.attempts.values() if a.is_open and agent in (None, a.agent)]

    def is_failing(self, attempt: Attempt) -> bool:
        """Whether the launch of an attempt failed, and somebody tries it again."""
        is_tried = attempt.is_open and attempt.lease_expires_at > self.now
        return is_tried and attempt.run_id is None and attempt.run_state == "LAUNCH_FAILED"

    def is_held_up(self, agent: Agent) -> bool:
        """Whether so many of the agent's launches fail that nothing more is claimed for it."""
        failing = [a for a in self.open_attempts(agent.name) if self.is_failing(a)]
        return agent.definition.launcher == "lakeflow" and len(failing) >= FAILING_LAUNCHES

    def claims(
        self, agents: list[str] | None, launchers: list[str] | None, batch_size: int
    ) -> list[Outcome]:
        """Return all that a dequeue may do now."""
        if agents is None and launchers is None:
            launchers = ["pull"]
        serving = [
            self.desk(agent)
            for agent in self.agents.values()
            if (agents is None or agent.name in agents)
            and (launchers is None or agent.definition.launcher in launchers)
            and self.paused_until(agent) is None
            and not self.is_held_up(agent)
        ]
        return outcomes(serving, batch_size)

    def desk(self, agent: Agent) -> Desk:
        """Return the agent as a dequeue finds it now."""
        limits = self.effective(agent)
        learned = self.learned(agent.name)
        slots = limits.max_concurrent_tasks
        tokens, requests = self.levels(agent)
        expired = self.expired(agent.name)
        return Desk(
            agent.name,
            tuple(
                self._waiting(task, limits, learned)
                for task in self.tasks.values()
                if task.agent == agent.name and self.is_due(task)
            ),
            tuple(self._returning(a, limits, learned) for a in expired),
            0
            if limits.is_closed
            else None
            if slots is None
            else slots - len(self.open_attempts(agent.name)),
            requests,
            tokens,
            limits.token_limit and limits.token_limit.burst,
            limits.reserve_after,
            agent.turns if limits.fair_by_customer else None,
            max((self._aged(self.tasks[a.task_id], limits) for a in expired), default=LOWEST),
        )

    def learned(self, agent: str) -> Learned:
        """Return what the latest attempts that succeeded and told their usage say of the next."""
        known = [
            (a, a.used())
            for a in self.attempts.values()
            if (a.agent, a.status) == (agent, "succeeded") and a.used().is_known
        ]
        known.sort(key=lambda each: (each[0].finished_at, each[0].attempt_id))
        known = known[-SAMPLES:]
        if len(known) < FEWEST_SAMPLES:
            return Learned(len(known))
        typical = Expected(
            median([used.calls for _, used in known]),
            median([used.input for _, used in known]),
            median([used.output for _, used in known]),
        )
        rated = [(used, self.tasks[a.task_id].estimated_tokens) for a, used in known]
        ratios = [(u.input * 1000 // e, u.output * 1000 // e) for u, e in rated if e]
        if len(ratios) < FEWEST_SAMPLES:
            return Learned(len(known), typical=typical)
        inputs, outputs = (median(list(each)) for each in zip(*ratios, strict=True))
        ratio = inputs + outputs
        bounded = min(10_000, max(100, ratio))
        if bounded != ratio:
            inputs = inputs * bounded // ratio if ratio else bounded * 4 // 5
            outputs = bounded - inputs
        return Learned(len(known), inputs, outputs, typical)

    def expected(self, task: Task, learned: Learned, limits: Definition) -> Expected:
        """Return what a claim of the task expects it to use, and charges where tokens count."""
        estimate = self.estimate_of(task)
        if limits.max_tpm is None:  # nobody weighs it
            return Expected(1, -(-estimate * 4 // 5), estimate // 5)
        calls = max(1, learned.typical.calls) if learned.typical else 1
        if task.estimated_tokens is None and learned.typical:
            return learned.typical._replace(calls=calls)
        inputs = -(-estimate * learned.input_permille // 1000)
        tokens = -(-estimate * (learned.input_permille + learned.output_permille) // 1000)
        return Expected(calls, inputs, tokens - inputs)

    def estimate_of(self, task: Task) -> int:
        """Return the task's estimate, or the agent's default."""
        if task.estimated_tokens is not None:
            return task.estimated_tokens
        return self.agents[task.agent].definition.default_estimated_tokens

    def _aged(self, task: Task, limits: Definition) -> int:
        """Return the task's priority with what it has gained by waiting."""
        waited = max(timedelta(0), self.now - task.created_at)
        return task.priority + (waited // limits.aging if limits.aging else 0)

    def waiting(self, task: Task) -> Waiting:
        """Return the task as it stands, or would stand, in its agent's line."""
        agent = self.agents[task.agent]
        return self._waiting(task, self.effective(agent), self.learned(agent.name))

    def _waiting(self, task: Task, limits: Definition, learned: Learned) -> Waiting:
        since = max(task.created_at, task.available_at)
        return Waiting(
            task.task_id,
            self._aged(task, limits),
            task.created_at,
            self.expected(task, learned, limits).tokens,
            max(timedelta(0), self.now - since),
            task.customer or "",
        )

    def _returning(self, attempt: Attempt, limits: Definition, learned: Learned) -> Waiting | None:
        """Return what stands in line again once an expired attempt was ended."""
        task = self.tasks[attempt.task_id]
        is_lost = attempt.deadline_at > self.now
        if is_lost and self._may_retry(task) and limits.on_lost_lease == "retry":
            return replace(self._waiting(task, limits, learned), waited=timedelta(0))
        return None

    def claimed(self, worker: str, attempt_id: int, task_id: int, launch_token: str) -> Attempt:
        """Turn a task into an attempt with a lease, and pay for it."""
        task = self.tasks[task_id]
        agent = self.agents[task.agent]
        limits = self.effective(agent)
        expected = self.expected(task, self.learned(agent.name), limits)
        deadline = self.now + agent.definition.timeout
        if agent.tokens and limits.token_limit:
            agent.tokens.pay(expected.tokens, self.now, limits.token_limit)
        if agent.requests and limits.request_limit:
            agent.requests.pay(1, self.now, limits.request_limit)
        task.status, task.attempt_id, task.locked_by = "processing", attempt_id, worker
        task.attempt_no += 1
        task.attempt_count += 1
        attempt = self.attempts[attempt_id] = Attempt(
            attempt_id,
            task_id,
            agent.name,
            agent.definition.launcher,
            task.attempt_no,
            worker,
            min(self.now + agent.definition.lease, deadline),
            deadline,
            self.now,
            self.estimate_of(task),
            expected.tokens if agent.tokens else None,
            launch_token,
            expected,
            bucket=agent.tokens,
        )
        return attempt

    # Leases

    def expired(self, agent: str | None = None) -> list[Attempt]:
        """Return the open attempts that have lost their right to their task."""
        return [a for a in self.open_attempts(agent) if self._is_expired(a)]

    def _is_expired(self, attempt: Attempt) -> bool:
        grace = ADOPTION_GRACE if attempt.is_external else timedelta(0)
        run_ended_at = attempt.run_ended_at
        return (
            attempt.deadline_at <= self.now
            or attempt.lease_expires_at + grace <= self.now
            or (run_ended_at is not None and run_ended_at + REPORT_GRACE <= self.now)
        )

    def end_expired(self, agent: str | None = None) -> tuple[int, int]:
        """End them; say how many tasks went back in line, and how many failed."""
        statuses = [self._end_one_expired(attempt) for attempt in self.expired(agent)]
        return statuses.count("enqueued"), statuses.count("failed")

    def _end_one_expired(self, attempt: Attempt) -> str:
        """A lost lease goes back at once, a passed deadline waits as any failure does."""
        definition = self.agents[attempt.agent].definition
        may_run = attempt.run_ended_at is None
        if attempt.deadline_at <= self.now:
            self._end(attempt, "failed", is_stop_pending=may_run)
            return self._give_back(attempt, "timeout", True, None)
        self._end(attempt, "lost", is_stop_pending=may_run)
        may_retry = definition.on_lost_lease == "retry"
        return self._give_back(attempt, "infrastructure", may_retry, timedelta(0))

    def renew(self, worker: str, attempt_id: int) -> tuple[str, datetime | None]:
        """Extend the lease that a worker still holds; answer its state and its lease."""
        attempt = self.attempts.get(attempt_id)
        if attempt is None:
            return "lost", None
        return self._renewed(worker, attempt), attempt.lease_expires_at

    def _renewed(self, worker: str, attempt: Attempt) -> str:
        if attempt.worker != worker:
            return "lost"
        if attempt.is_open:
            if attempt.lease_expires_at <= self.now:
                return "lost"
            self._extend(attempt)
            return "renewed"
        if attempt.status in ("cancelled", "superseded") and attempt.is_stop_pending:
            return "cancel_requested"
        is_taken = attempt.status == "failed" and attempt.reported_at is None
        return "lost" if attempt.status == "lost" or is_taken else "finished"

    def _extend(self, attempt: Attempt) -> None:
        lease = self.agents[attempt.agent].definition.lease
        attempt.lease_expires_at = min(self.now + lease, attempt.deadline_at)

    def adoptable(self) -> list[Attempt]:
        """Return the attempts whose driver has gone, the longest expired first."""
        return sorted(
            (
                a
                for a in self.open_attempts()
                if a.is_external and a.lease_expires_at <= self.now < a.deadline_at
            ),
            key=lambda a: a.lease_expires_at,
        )

    def adopted(self, worker: str, attempt: Attempt) -> None:
        """Move the lease to another worker; attempt and launch token stay."""
        attempt.worker = self.tasks[attempt.task_id].locked_by = worker
        self._extend(attempt)

    # Runs

    def record_run(self, attempt: Attempt, run_id: str) -> None:
        """Note the run of an attempt, also of one that has ended."""
        if attempt.run_id is None:
            attempt.run_id = run_id
            attempt.status = "running" if attempt.status == "claimed" else attempt.status

    def observe_run(self, attempt: Attempt, state: str) -> str:
        """Take in what the launcher saw of a run; answer what follows."""
        agent, task = self.agents[attempt.agent], self.tasks[attempt.task_id]
        outcome, is_ended = ("renew", False)
        if attempt.is_external:
            outcome, is_ended = RUN_OUTCOMES.get(state, (outcome, is_ended))
        if outcome == "pause_agent" and attempt.is_open:
            self.pause(agent.name, None)
        attempt.run_state = state
        if state != "LAUNCH_FAILED":
            attempt.run_ended_at = (attempt.run_ended_at or self.now) if is_ended else None
        attempt.is_stop_pending = attempt.is_stop_pending and not is_ended
        if not attempt.is_open:
            return "none"

        if attempt.deadline_at <= self.now:
            self._end(attempt, "failed", is_stop_pending=attempt.run_ended_at is None)
            self._give_back(attempt, "timeout", True, None)
            return "fail" if task.status == "failed" else "retry"
        may_report = (
            state == "TERMINATED"
            and attempt.run_ended_at is not None
            and attempt.run_ended_at + REPORT_GRACE > self.now
        )
        if outcome == "renew" or may_report:
            self._extend(attempt)
            return "renew"
        if outcome == "retry":
            self._end(attempt, "lost", is_stop_pending=False)
            may_retry = agent.definition.on_lost_lease == "retry"
            self._give_back(attempt, "infrastructure", may_retry, None)
        else:
            self._release(attempt, None)
        return "fail" if task.status == "failed" else outcome

    # Reports

    def succeed(self, attempt: Attempt, result: Json, confidence: Any) -> tuple[str, str]:
        """Take in a success: the left column of the table of what a report means."""
        task = self.tasks[attempt.task_id]
        attempt.is_stop_pending = False
        reported_before, attempt.reported_at = attempt.reported_at, attempt.reported_at or self.now
        is_reported_failure = attempt.status == "failed" and reported_before is not None
        accepts = self.agents[task.agent].definition.late_results == "accept"

        if task.attempt_id == attempt.attempt_id:
            effect = "completed"
        elif task.status in TERMINAL or attempt.status == "cancelled":
            effect = "kept"
        else:
            effect = "completed" if is_reported_failure or accepts else "kept"

        if effect == "completed":
            if task.attempt_id not in (None, attempt.attempt_id):
                self._end(self.attempts[task.attempt_id], "superseded", is_stop_pending=True)
            attempt.status, attempt.finished_at = "succeeded", self.now
            self._move(task, "completed")
            task.result, task.confidence, task.error_kind = result, confidence, None
        elif result in (attempt.result, task.result):
            effect = "none"
        else:
            attempt.result = result
        self._settle(attempt)
        return task.status, effect

    def fail(
        self, attempt: Attempt, error: Json, retryable: bool, retry_after: timedelta | None
    ) -> tuple[str, str]:
        """Take in a failure: the right column of the table of what a report means."""
        task = self.tasks[attempt.task_id]
        attempt.is_stop_pending = False
        reported_before, attempt.reported_at = attempt.reported_at, attempt.reported_at or self.now
        is_reported_failure = attempt.status == "failed" and reported_before is not None

        effect = "none"
        if task.attempt_id == attempt.attempt_id:
            attempt.status, attempt.finished_at, attempt.error = "failed", self.now, error
            status = self._after_failure(attempt, error["kind"], retryable, retry_after)
            effect = "retrying" if status == "enqueued" else "failed"
        elif task.status in TERMINAL or attempt.status == "cancelled" or is_reported_failure:
            effect = "none"
        elif attempt.error != error:
            attempt.error = error
            effect = "recorded"
        self._settle(attempt)
        return task.status, effect

    def release(self, attempt: Attempt, retry_in: timedelta) -> str:
        """Hand a task back without spending the attempt, or say that a worker has stopped."""
        task = self.tasks[attempt.task_id]
        if attempt.is_open:
            self._release(attempt, retry_in)
        else:
            has_stopped = attempt.status == "cancelled" and attempt.is_stop_pending
            attempt.is_stop_pending = False
            self._settle(attempt, is_release=has_stopped)
        return task.status

    def _release(self, attempt: Attempt, retry_in: timedelta | None) -> None:
        task = self.tasks[attempt.task_id]
        self._end(attempt, "released", is_stop_pending=False)
        self._settle(attempt, is_release=True)
        if task.release_count < self.agents[attempt.agent].definition.max_releases:
            task.available_at = self._after(task, retry_in, task.release_count + 1)
            task.attempt_count -= 1
            task.release_count += 1
            self._move(task, "enqueued")
        else:
            self._give_back(attempt, "infrastructure", True, retry_in)

    # Usage

    def report_usage(self, attempt: Attempt, calls: list[Json]) -> int:
        """Record calls once each: the first numbers win, unknown ones are filled."""
        changed = sum(self._record(attempt, dict(call)) for call in calls)
        if changed:
            self._settle(attempt)
        return changed

    def _record(self, attempt: Attempt, call: Json) -> bool:
        key = (call.pop("source"), call.pop("call_id"))
        known = attempt.usage.get(key, {})
        merged = {name: call[name] if known.get(name) is None else known[name] for name in call}
        attempt.usage[key] = merged
        return merged != known

    def _settle(self, attempt: Attempt, is_release: bool = False) -> None:
        """Replace what the attempt was charged with by what it used, as far as that is known."""
        charged, used = attempt.charged_tokens, attempt.used()
        if charged is None:
            return
        if not attempt.is_open and used.is_known:
            actual = used.tokens
        elif is_release and not used.calls:
            actual = 0
        else:
            actual = max(charged, used.tokens)
        bucket = self.agents[attempt.agent].tokens
        if bucket is not None and bucket is attempt.bucket and actual != charged:
            bucket.given_back.append((self.now, charged - actual))
        attempt.charged_tokens = actual

    # What the acts have in common

    def _move(self, task: Task, status: str) -> None:
        task.status, task.attempt_id, task.locked_by = status, None, None
        task.finished_at = self.now if status in TERMINAL else None

    def _end(self, attempt: Attempt, status: str, *, is_stop_pending: bool) -> None:
        """End an attempt from outside: it stays charged until it is heard of again."""
        attempt.status, attempt.finished_at = status, self.now
        attempt.is_stop_pending = is_stop_pending

    def _may_retry(self, task: Task) -> bool:
        own = task.max_attempts
        most = self.agents[task.agent].definition.max_attempts if own is None else own
        return task.attempt_count < most

    def _after_failure(
        self, attempt: Attempt, kind: str, retryable: bool, retry_after: timedelta | None
    ) -> str:
        """Do what the policy of the error's kind says: pause, defer, or give back."""
        task, agent, policy = (
            self.tasks[attempt.task_id],
            self.agents[attempt.agent],
            POLICIES[kind],
        )
        wait = policy.wait if retry_after is None else retry_after
        if policy.pauses or (policy.pauses is None and retry_after is not None):
            self.refuse(agent, attempt, wait or timedelta(0))
        may_retry = retryable and not policy.is_final
        since = task.deferred_since or self.now
        if (
            may_retry
            and not policy.spends_attempt
            and task.deferral_count < agent.definition.max_deferrals
            and self.now < since + agent.definition.max_deferral_time
        ):
            task.attempt_count -= 1
            task.deferral_count += 1
            task.deferred_since, task.error_kind = since, kind
            task.available_at = self._after(task, wait, task.deferral_count)
            self._move(task, "enqueued")
            return task.status
        return self._give_back(attempt, kind, may_retry, wait)

    def _give_back(
        self, attempt: Attempt, kind: str, retryable: bool, retry_in: timedelta | None
    ) -> str:
        """Put a task whose attempt has ended back in line, or fail it."""
        task = self.tasks[attempt.task_id]
        if retryable and self._may_retry(task):
            task.available_at = self._after(task, retry_in, task.attempt_count)
            self._move(task, "enqueued")
        else:
            self._move(task, "failed")
        task.error_kind = kind
        return task.status

    def _after(self, task: Task, delay: timedelta | None, count: int) -> datetime | Between:
        """Return when a delay is over; None is the backoff: it doubles, less up to a tenth."""
        if delay is not None:
            return self.now + delay
        definition = self.agents[task.agent].definition
        doubled = definition.backoff_base * 2 ** (max(1, count) - 1)
        longest = min(definition.backoff_max, doubled)
        return Between(self.now + longest * 9 / 10 - MICROSECOND, self.now + longest + MICROSECOND)


def median(numbers: list[int]) -> int:
    """Return the middle one; of an even count the lower one of the two."""
    return sorted(numbers)[(len(numbers) - 1) // 2]
