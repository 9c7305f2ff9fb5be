"""The example that asks a model keeps to its quota, and says what its calls used."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from conftest import Connect
from forebay.calls import operator, submitter, viewer
from forebay_lab.model_server import CallLog, Fault, Limit, ModelServer, Simulation

EXAMPLE = Path(__file__).parents[2] / "examples" / "ask.py"
Work = Callable[[ModelServer], str]


@pytest.fixture
def conn(connect: Connect) -> psycopg.Connection:
    """Connect as every caller, to a database whose quota admits four calls in two seconds."""
    conn = connect("all")
    limit = {"unit": "requests", "per": "2 s", "amount": 4}
    operator.register_quota(conn, quota="chat", limits=[limit])
    operator.register_agent(conn, agent="ask", quotas=["chat"])
    return conn


@pytest.fixture
def work(role_dsn: Callable[..., str]) -> Work:
    """Return a function that works off what can start, and returns what the worker printed."""
    dsn = role_dsn("worker", "agent")

    def work(server: ModelServer) -> str:
        settings = {
            "FOREBAY_DATABASE_URL": dsn,
            "FOREBAY_MODEL_BASE_URL": server.base_url,
            "FOREBAY_MODEL_API_KEY": "any",
            "FOREBAY_MODEL_NAME": "simulated-model",
        }
        done = subprocess.run(
            [sys.executable, EXAMPLE, "--until-empty"],
            env=os.environ | settings,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "call_not_asked" not in done.stderr
        assert done.returncode == 0, done.stderr
        return done.stdout

    return work


def test_every_call_waits_for_its_turn_and_is_settled(
    conn: psycopg.Connection, db: psycopg.Connection, work: Work
) -> None:
    """More tasks than the quota admits are answered; their usage is what the endpoint counted."""
    for number in range(6):
        submitter.enqueue(conn, agent="ask", payload={"question": f"What is {number}?"})
    log = CallLog()
    with ModelServer(Simulation(limits=(Limit.parse("requests/2s=4"),), log=log)) as server:
        finished = 0
        until = time.monotonic() + 60
        while finished < 6 and time.monotonic() < until:
            finished += int(work(server).split()[0])
    assert finished == 6
    rows = db.execute("select input_tokens, output_tokens from forebay.attempt_usage").fetchall()
    ended = [(each["input"], each["output"]) for each in log.records if each["event"] == "ended"]
    assert sorted(row for row in rows if row != (0, 0)) == sorted(ended)
    assert len(ended) == 6
    row = db.execute("select bool_and(asks_first) from forebay.task_attempts").fetchone()
    assert row == (True,)
    (limit,) = viewer.quota_status(conn, quotas=["chat"])
    assert limit.open_calls == 0


def test_a_refusal_pauses_the_agent_and_costs_no_attempt(
    conn: psycopg.Connection, db: psycopg.Connection, work: Work
) -> None:
    """The task is tried again at the time that the endpoint named, and succeeds."""
    submitter.enqueue(conn, agent="ask", payload={"question": "What is 1?"})
    with ModelServer() as server:
        fault = Fault("rate_limited", headers=(("retry-after", "2"),))
        server.simulation.queued.append(fault)
        assert work(server) == "0 tasks finished\n"
        refused = "select error ->> 'kind', used_input_tokens from forebay.task_attempts"
        assert db.execute(refused).fetchall() == [("rate_limited", 0)]
        time.sleep(2)
        assert work(server) == "1 tasks finished\n"
    tasks = db.execute("select status, attempt_count from forebay.tasks").fetchall()
    assert tasks == [("completed", 1)]


def test_a_task_without_a_question_fails(
    conn: psycopg.Connection, db: psycopg.Connection, work: Work
) -> None:
    """No call is made for it."""
    submitter.enqueue(conn, agent="ask", payload={})
    with ModelServer(Simulation(log=(log := CallLog()))) as server:
        assert work(server) == "1 tasks finished\n"
    assert log.records == []
    assert db.execute("select status from forebay.tasks").fetchall() == [("failed",)]
