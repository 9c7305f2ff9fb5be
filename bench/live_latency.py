"""Print how long a change takes to show: `python bench/live_latency.py --rate 1000 --seconds 30`.

One connection enqueues tasks ten at a time, another claims and completes them, so that tasks change
their state `rate` times a second in all; each call is a transaction of its own. Chromium has the
dashboard's list of tasks open, in as many tabs as `--pages` says. A change is on the page when the
newest row is the task that was enqueued, or a newer one; it was made when its call returned. The
server writes to memory; the app, the browser and what makes the changes share this machine with it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import psycopg
from playwright.sync_api import Page, sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from forebay.calls import agent, operator, submitter, worker
from forebay.schema import upgrade
from support.server import INSTALLER, TestServer, login_role, running_server

AT_ONCE = 10
STATES = 3  # enqueued, processing, completed
WARM_UP = 3.0  # seconds
CHROMIUM = os.environ.get("FOREBAY_CHROMIUM", "/usr/bin/chromium")
WATCH = """() => {
    window.shown = [];
    const note = () => {
        const rows = [...document.querySelectorAll("tr[id^=task-]")];
        const newest = Math.max(0, ...rows.map((row) => Number(row.id.slice(5))));
        const last = window.shown.at(-1);
        if (!last || last[1] < newest) window.shown.push([Date.now() / 1000, newest]);
    };
    document.addEventListener("forebay:swapped", note);
}"""


class Changes:
    """Change tasks at a steady rate, and note when each was enqueued."""

    def __init__(self, dsn: str, rate: int) -> None:
        self.enqueued: list[tuple[float, int]] = []
        self.finished = 0
        self._pause = AT_ONCE * STATES / rate
        self._ended = threading.Event()
        self._dsn = dsn
        self._threads = [threading.Thread(target=each) for each in (self._enqueue, self._work)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _enqueue(self) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as conn:
            for _ in self._beats():
                tasks: list[dict[str, Any]] = [{"payload": {}}] * AT_ONCE
                rows = submitter.enqueue_many(conn, agent="bench", tasks=tasks)
                self.enqueued.append((time.time(), max(row.task_id for row in rows)))

    def _work(self) -> None:
        with psycopg.connect(self._dsn, autocommit=True) as conn:
            for _ in self._beats():
                claimed = worker.dequeue(conn, worker="bench", batch_size=AT_ONCE)
                ids = [row.attempt_id for row in claimed]
                agent.complete_many(conn, attempt_ids=ids, results=[{}] * len(ids))
                self.finished += len(ids)

    def _beats(self) -> Iterator[int]:
        """Give the beat; what was late is caught up."""
        start = time.monotonic()
        for beat in count():
            if self._ended.wait(max(0.0, start + beat * self._pause - time.monotonic())):
                return
            yield beat


@contextmanager
def database(server: TestServer) -> Iterator[str]:
    """Give the DSN of a login that may all, in a new database with an agent."""
    with server.superuser() as conn:
        conn.execute(f"create database bench owner {INSTALLER}")
    upgrade(server.dsn(INSTALLER, "bench"))
    with server.superuser("bench") as conn:
        dsn = server.dsn(login_role(conn, "all"), "bench")
    with psycopg.connect(dsn, autocommit=True) as conn:
        operator.register_agent(conn, agent="bench", max_concurrent_tasks=1000)
    yield dsn


@contextmanager
def dashboard(dsn: str) -> Iterator[str]:
    """Serve the dashboard in a process of its own, and give its address."""
    with tempfile.TemporaryDirectory() as home:
        variables = {
            "FOREBAY_DATABASE_URL": dsn,
            "FOREBAY_HOME": home,
            "FOREBAY_LOGIN": "proxy",
            "FOREBAY_TRUSTED_PROXIES": "127.0.0.1",
            "FOREBAY_VIEWERS": "*",
            "FOREBAY_LOG_LEVEL": "WARNING",
        }
        port = "8735"
        command = (sys.executable, "-m", "forebay.cli", "serve", "orchestrator", "--no-daemon")
        process = subprocess.Popen((*command, "--port", port), env=os.environ | variables)
        url = f"http://127.0.0.1:{port}"
        try:
            while process.poll() is None:
                try:
                    httpx.get(f"{url}/healthz")
                    break
                except httpx.TransportError:
                    time.sleep(0.2)
            yield url
        finally:
            process.terminate()
            process.wait(10)


def latencies(page: Page, enqueued: list[tuple[float, int]]) -> list[float]:
    """Return how many seconds after each change the page showed it."""
    shown = iter(page.evaluate("window.shown"))
    found, (at, newest) = [], (0.0, 0)
    for changed_at, task_id in enqueued:
        while newest < task_id:
            at, newest = next(shown, (float("inf"), sys.maxsize))
        found.append(max(0.0, at - changed_at))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=int, default=1000, help="changes of state a second")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--pages", type=int, default=3)
    wanted = parser.parse_args()
    with (
        running_server() as server,
        database(server) as dsn,
        dashboard(dsn) as url,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        pages = []
        for _ in range(wanted.pages):
            context = browser.new_context(extra_http_headers={"X-Forwarded-User": "bench"})
            pages.append(context.new_page())
            pages[-1].goto(f"{url}/tasks")
            pages[-1].evaluate(WATCH)
        changes = Changes(dsn, wanted.rate)
        changes.start()
        began = time.monotonic()
        pages[0].wait_for_timeout((WARM_UP + wanted.seconds) * 1000)
        changes.stop()
        took = time.monotonic() - began
        pages[0].wait_for_timeout(3000)
        first = changes.enqueued[0][0] + WARM_UP
        measured = [each for each in changes.enqueued if each[0] >= first]
        found = sorted(each for page in pages for each in latencies(page, measured))
        swaps = statistics.mean(len(page.evaluate("window.shown")) for page in pages)
        browser.close()
    cuts = statistics.quantiles(found, n=100, method="inclusive")
    changed = len(changes.enqueued) * AT_ONCE + 2 * changes.finished
    print(f"changes of state a second  {changed / took:8.0f}")
    print(f"pages                      {wanted.pages:8}")
    print(f"changes looked at          {len(found):8}")
    print(f"refreshes a second         {swaps / took:8.1f}")
    for name, value in (
        ("p50", cuts[49]),
        ("p95", cuts[94]),
        ("p99", cuts[98]),
        ("most", found[-1]),
    ):
        print(f"{name:26} {value * 1000:8.0f} ms")


if __name__ == "__main__":
    main()
