"""Print how long a change takes to show: `python bench/live_latency.py --rate 1000 --seconds 30`.

One connection enqueues tasks ten at a time, another claims and completes them, so that tasks change
their state `rate` times a second in all; each call is a transaction of its own. Chromium has the
dashboard's list of tasks open, in as many tabs as `--pages` says; `--viewers` are pages without a
browser, which hear the stream and fetch the list on each hint as live.js does. A change is on the
page when the newest row is the task that was enqueued, or a newer one; it was made when its call
returned. The server writes to memory; the app, the browser, the viewers and what makes the changes
share this machine with it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from html import unescape
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import psycopg
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from forebay.calls import agent, operator, submitter, worker
from forebay.schema import upgrade
from support.server import INSTALLER, TestServer, login_role, running_server

AT_ONCE = 10
STATES = 3  # enqueued, processing, completed
WARM_UP = 3.0  # seconds
NAMED = {"X-Forwarded-User": "bench"}
LIVE = re.compile(r'data-live="(/tasks/list[^"]*)"')
ROW = re.compile(r'id="task-(\d+)"')
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


class Viewers:
    """Clients that show the list of tasks as a page does, in a thread of their own."""

    def __init__(self, url: str, count: int) -> None:
        self.shown: list[list[tuple[float, int]]] = [[] for _ in range(count)]
        self._url = url
        self._thread = threading.Thread(target=lambda: asyncio.run(self._show()))
        self._ended = threading.Event()

    def start(self) -> None:
        """Return when each shows the list."""
        self._thread.start()
        while not all(self.shown):
            time.sleep(0.1)

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    async def _show(self) -> None:
        listed = httpx.get(f"{self._url}/tasks", headers=NAMED).text
        (address,) = LIVE.findall(listed)
        viewing = [asyncio.create_task(self._view(unescape(address), each)) for each in self.shown]
        while not self._ended.is_set():
            await asyncio.sleep(0.1)
        for task in viewing:
            task.cancel()
        await asyncio.gather(*viewing, return_exceptions=True)

    async def _view(self, address: str, shown: list[tuple[float, int]]) -> None:
        """Fetch on every hint, one at a time; a stream that ended is opened again."""
        hinted = asyncio.Event()
        async with httpx.AsyncClient(
            base_url=self._url, headers=NAMED, verify=False, timeout=30
        ) as client:
            fetching = asyncio.create_task(self._fetch(client, address, hinted, shown))
            try:
                while True:
                    with suppress(httpx.TransportError):
                        async with client.stream("GET", "/events") as answer:
                            async for line in answer.aiter_lines():
                                if line == "event: hint":
                                    hinted.set()
            finally:
                fetching.cancel()

    async def _fetch(
        self,
        client: httpx.AsyncClient,
        address: str,
        hinted: asyncio.Event,
        shown: list[tuple[float, int]],
    ) -> None:
        tag = ""
        while True:
            await hinted.wait()
            hinted.clear()
            answer = await client.get(
                address, headers={"If-None-Match": tag, "X-Forebay-Live": "1"}
            )
            if answer.status_code != 200:
                continue
            tag = answer.headers["ETag"]
            newest = max(map(int, ROW.findall(answer.text)), default=0)
            if not shown or shown[-1][1] < newest:
                shown.append((time.time(), newest))


def latencies(
    shown_at: Sequence[tuple[float, int]], enqueued: list[tuple[float, int]]
) -> list[float]:
    """Return how many seconds after each change the page showed it."""
    shown = iter(shown_at)
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
    parser.add_argument("--pages", type=int, default=3, help="tabs of Chromium")
    parser.add_argument("--viewers", type=int, default=0, help="more pages, without a browser")
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
            context = browser.new_context(extra_http_headers=NAMED)
            pages.append(context.new_page())
            pages[-1].goto(f"{url}/tasks")
            pages[-1].evaluate(WATCH)
        viewers = Viewers(url, wanted.viewers)
        viewers.start()
        changes = Changes(dsn, wanted.rate)
        changes.start()
        began = time.monotonic()
        time.sleep(WARM_UP + wanted.seconds)
        changes.stop()
        took = time.monotonic() - began
        time.sleep(3)
        viewers.stop()
        shown = [page.evaluate("window.shown") for page in pages] + viewers.shown
        first = changes.enqueued[0][0] + WARM_UP
        measured = [each for each in changes.enqueued if each[0] >= first]
        found = sorted(each for one in shown for each in latencies(one, measured))
        swaps = statistics.mean(map(len, shown))
        browser.close()
    cuts = statistics.quantiles(found, n=100, method="inclusive")
    changed = len(changes.enqueued) * AT_ONCE + 2 * changes.finished
    print(f"changes of state a second  {changed / took:8.0f}")
    print(f"pages                      {len(shown):8}")
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
