"""The attempt as its agent sees it, used from several threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import psycopg

from forebay.calls import operator, submitter, viewer, worker
from forebay.running_attempt import RunningAttempt
from forebay.stop_signal import StopSignal


def test_model_calls_may_be_made_side_by_side(
    db: psycopg.Connection, role_dsn: Callable[..., str]
) -> None:
    """Each asks and is reported once, on one connection; a quota lets them through in turns."""
    limit = {"unit": "concurrent_calls", "amount": 2}
    operator.register_quota(db, quota="q", limits=[limit])
    operator.register_agent(db, agent="parse", quotas=["q"], lease=timedelta(minutes=5))
    task_id = submitter.enqueue(db, agent="parse", payload={})
    (claimed,) = worker.dequeue(db, worker="w", agents=["parse"])
    document = {
        **{"task_id": task_id, "attempt_id": claimed.attempt_id, "attempt_no": 1},
        **{"agent": "parse", "payload": {}, "entry_point": "fake"},
        "conninfo": role_dsn("agent"),
        "deadline_at": claimed.deadline_at.isoformat(),
    }
    attempt = RunningAttempt(document, lambda: False)

    def call(number: int) -> None:
        attempt.wait_to_call(100, 10, f"call-{number}")
        attempt.usage({"call_id": f"call-{number}", "input_tokens": 90, "output_tokens": 10})

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(call, range(24)))
    attempt.close()
    recorded = viewer.task_detail(db, task_id=task_id).usage
    assert sorted(one["call_id"] for one in recorded) == sorted(f"call-{n}" for n in range(24))
    (state,) = viewer.quota_status(db)
    assert (state.open_calls, state.waiting_calls) == (0, 0)


def test_a_stop_signal_outside_of_the_main_thread_is_never_received() -> None:
    """As where a notebook's shell calls the job: it runs, and leaves signals to the shell."""
    with ThreadPoolExecutor(1) as threads:
        assert not threads.submit(StopSignal).result().was_received()
