"""Print how long the overview takes with millions of finished tasks: `python bench/overview.py`.

It seeds a database of its own, in --folder, which is kept: the next run with it only measures. What
it prints is what docs/apps.md holds: each number is the 50th and the 95th percentile, in
milliseconds, of --runs calls one after the other, or of as many as were begun within 10 seconds.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx
import psycopg
from psycopg.conninfo import make_conninfo

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from apps.support.people import logged_in, write_people
from apps.support.serving import served
from forebay.calls import operator, viewer
from forebay.embedded import Server
from forebay.schema import upgrade
from forebay_apps.orchestrator import shared
from support.server import login_role

AGENTS = ("parse_document", "check_totals", "classify", "summarise", "translate")
RANGES = {
    "24 hours": timedelta(hours=24),
    "7 days": timedelta(days=7),
    "90 days": timedelta(days=90),
    "all time": None,
}
FILTERS: dict[str, dict[str, Any]] = {
    "none": {},
    "an agent": {"agents": ["parse_document"]},
    "a customer": {"customers": ["customer 1"]},
    "a state": {"statuses": ["completed"]},
    "all three": {
        "agents": ["parse_document"],
        "customers": ["customer 1"],
        "statuses": ["completed"],
    },
}
SETTINGS = {"shared_buffers": "2GB", "max_wal_size": "8GB", "timezone": "UTC"}
NAMES = {"agents": "agent", "customers": "customer", "statuses": "status"}  # in addresses
PARTS = ("figures", "series", "confidence", "costs")
DIMENSIONS = ("task", "agent", "customer", "batch", "model", "day")
CHUNK = 100_000
BUDGET = 10  # seconds after which no further call is begun

SEED = """
with numbers as (
    select
        n as task_id, random() as chance,
        (%(agents)s::text[])[1 + floor(5 * random() * random())::integer] as agent,
        nullif('customer ' || floor(50 * random() * random()), 'customer 0') as customer,
        %(start)s::timestamptz + %(span)s::interval * (n - random()) / %(tasks)s as created_at,
        exp(3 + sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) as queued,
        exp(3.8 + 0.7 * sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random())) as ran,
        (n %% 20 = 0)::integer as retries,
        floor(2000 + 12000 * random())::bigint as input_tokens,
        floor(300 + 2000 * random())::bigint as output_tokens
    from generate_series(%(first)s::bigint, %(last)s::bigint) as n
), tasks as (
    insert into forebay.tasks (
        task_id, agent, status, batch_id, customer, payload, available_at, attempt_no,
        attempt_count, result, confidence, error, created_at, finished_at, used_input_tokens,
        used_output_tokens, used_cached_tokens, cost_usd, ended_attempts, measured_attempts,
        priced_attempts, run_time
    )
    overriding system value
    select
        task_id, agent,
        case
            when chance < 0.92 then 'completed' when chance < 0.97 then 'failed' else 'cancelled'
        end,
        1 + task_id / 100, customer,
        jsonb_build_object('document', 'uploads/' || gen_random_uuid() || '.pdf'), created_at,
        1 + retries, 1 + retries,
        case when chance < 0.92 then jsonb_build_object(
            'number', task_id, 'total', input_tokens, 'note', repeat(md5(task_id::text), 8)
        ) end,
        case when chance < 0.9 then round((1 - 0.4 * random() * random())::numeric, 3) end,
        case when chance >= 0.92 then '{"kind": "agent_bug"}'::jsonb end,
        created_at, created_at + make_interval(secs => queued + ran * (1 + retries)),
        input_tokens * (1 + retries), output_tokens * (1 + retries),
        input_tokens / 4 * (1 + retries),
        (input_tokens * 3 + output_tokens * 15) * (1 + retries) / 1e6::numeric,
        1 + retries, 1 + retries, 1 + retries, make_interval(secs => ran * (1 + retries))
    from numbers
    returning task_id
), attempts as (
    insert into forebay.task_attempts (
        task_id, agent, launcher, attempt_no, status, worker, launch_token, lease_expires_at,
        deadline_at, estimated_tokens, customer, used_input_tokens, used_output_tokens,
        used_cached_tokens, used_calls, is_usage_known, cost_usd, is_cost_known, error, started_at,
        reported_at, finished_at
    )
    select
        numbers.task_id, numbers.agent, 'pull', no,
        case
            when no <= retries then 'failed' when chance < 0.92 then 'succeeded'
            when chance < 0.97 then 'failed' else 'cancelled'
        end,
        'seed', 'fb-' || gen_random_uuid(), ended_at, ended_at, 2000, customer, input_tokens,
        output_tokens, input_tokens / 4, 1 + numbers.task_id %% 2, true,
        (input_tokens * 3 + output_tokens * 15) / 1e6::numeric, true,
        case when no <= retries or chance >= 0.92 then '{"kind": "agent_bug"}'::jsonb end,
        ended_at - make_interval(secs => ran), ended_at, ended_at
    from numbers
    cross join generate_series(1, 2) as no
    cross join lateral (
        select created_at + make_interval(secs => queued + ran * no) as ended_at
    ) as ends
    where no <= 1 + retries
    returning *
)
insert into forebay.attempt_usage (
    attempt_id, source, call_id, model, input_tokens, output_tokens, cached_tokens, cost_usd, usd,
    counted_usd, started_at, recorded_at
)
select
    a.attempt_id, 'agent', no,
    case when a.task_id %% 20 = 0 or no = 2 then 'large' else 'small' end,
    share.input_tokens, share.output_tokens, a.used_cached_tokens / a.used_calls, share.usd,
    share.usd, share.usd, a.started_at, a.finished_at
from attempts as a
cross join generate_series(1, a.used_calls) as no
cross join lateral (
    select
        case no when 1 then a.used_input_tokens - v.input else v.input end as input_tokens,
        case no when 1 then a.used_output_tokens - v.output else v.output end as output_tokens,
        case no when 1 then a.cost_usd - v.usd else v.usd end as usd
    from (
        select input, output, (input * 3 + output * 15) / 1e6::numeric as usd
        from (
            select
                a.used_input_tokens / 2 * (a.used_calls - 1) as input,
                a.used_output_tokens / 2 * (a.used_calls - 1) as output
        ) as half
    ) as v
) as share
"""


def seed(conn: psycopg.Connection, tasks: int, days: int) -> None:
    """Write finished tasks with their attempts and calls, spread evenly over the days until now."""
    for agent in AGENTS:
        operator.register_agent(conn, agent=agent, max_concurrent_tasks=10)
    span = timedelta(days=days)
    start = datetime.now(UTC) - span
    numbers = {"agents": list(AGENTS), "start": start, "span": span, "tasks": tasks}
    conn.execute("set session_replication_role = replica")  # no trigger: the rows are made up
    for first in range(1, tasks + 1, CHUNK):
        last = min(first + CHUNK - 1, tasks)
        conn.execute(SEED, numbers | {"first": first, "last": last})
        print(f"\r{last:,} tasks", end="", flush=True)
    conn.execute("set session_replication_role = origin")
    print("\nrollups", flush=True)
    conn.execute("select setval('forebay.tasks_task_id_seq', %s)", [tasks])
    conn.execute("select forebay._rebuild_rollups()")
    conn.execute("vacuum analyze")


@contextmanager
def database(folder: Path, tasks: int, days: int) -> Iterator[str]:
    """Run the server of the folder, seeded if it is new, and give the DSN of its viewer."""
    server = Server(folder, settings=SETTINGS, durable=False)
    dsn = server.start()
    try:
        upgrade(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            if not conn.execute("select from forebay.tasks limit 1").fetchall():
                seed(conn, tasks, days)
            viewer_role = login_role(conn, "viewer")
        yield make_conninfo(dsn, user=viewer_role)
    finally:
        server.stop()


def measured(call: Callable[[], object], runs: int) -> str:
    """Call it some times, and write the 50th and the 95th percentile of what it took."""
    took: list[float] = []
    while len(took) < runs and sum(took) < 1000 * BUDGET:
        begin = time.perf_counter()
        call()
        took.append(1000 * (time.perf_counter() - begin))
    took.sort()
    return f"{took[len(took) // 2]:,.0f} / {took[len(took) * 95 // 100]:,.0f}"


def print_parts(conn: psycopg.Connection, client: httpx.Client, runs: int) -> None:
    """Print how long two functions and the page's parts take; no request was answered before."""
    print_row("range", "filter", "`metrics`", "`metric_series`", *PARTS)
    print("|---" * (4 + len(PARTS)) + "|")
    for name, from_ in starts():
        for filter_name, filters in FILTERS.items():
            calls: list[Callable[[], object]] = [
                partial(viewer.metrics, conn, from_=from_, **filters),
                partial(viewer.metric_series, conn, from_=from_, **filters),
                *(partial(fetch, client, part, from_, filters) for part in PARTS),
            ]
            print_row(name, filter_name, *(measured(call, runs) for call in calls))


def print_costs(conn: psycopg.Connection, runs: int) -> None:
    """Print how long `cost_by` takes, by each dimension."""
    print("\n`cost_by`, without a filter:\n")
    print_row("range", *DIMENSIONS)
    print("|---" * (1 + len(DIMENSIONS)) + "|")
    for name, from_ in starts():
        calls = [
            partial(viewer.cost_by, conn, dimension=dimension, from_=from_, limit=26)
            for dimension in DIMENSIONS
        ]
        print_row(name, *(measured(call, runs) for call in calls))


def print_row(*cells: str) -> None:
    """Print a row of a table in Markdown."""
    print("|", " | ".join(cells), "|", flush=True)


def print_sizes(conn: psycopg.Connection) -> None:
    """Print how large the tables are, and how busy the machine was."""
    large = [f"{size.name} {size.bytes / 1e9:.1f} GB" for size in viewer.table_sizes(conn)[:4]]
    print(f"\n{', '.join(large)}; load average {os.getloadavg()[0]:.1f}")


@contextmanager
def client_of(dsn: str) -> Iterator[httpx.Client]:
    """Serve the page from the database, and give the client of somebody who may look at it."""
    with TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        write_people(home / "users.json")
        settings = {"FOREBAY_DATABASE_URL": dsn, "FOREBAY_LOGIN": "password"}
        shared.SECONDS = 0.0  # or a part is answered by what the one before it has asked
        with served("orchestrator", settings, Path(folder)) as app, logged_in(app, "vic") as client:
            yield client


def fetch(client: httpx.Client, part: str, from_: datetime | None, filters: dict[str, Any]) -> None:
    """Get a part of the overview, as nobody has asked for it yet."""
    query: dict[str, Any] = {NAMES[name]: values for name, values in filters.items()}
    query |= {"from": f"{from_:%Y-%m-%dT%H:%M:%S.%f}"} if from_ else {"range": "all"}
    client.get(f"/overview/{part}", params=query | {"n": str(uuid4())}).raise_for_status()


def starts() -> Iterator[tuple[str, datetime | None]]:
    """Give each range, and when it begins."""
    for name, length in RANGES.items():
        yield name, datetime.now(UTC) - length if length else None


def main() -> None:
    """Seed if need be, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=5_000_000)
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args()
    with (
        database(options.folder, options.tasks, options.days) as dsn,
        psycopg.connect(dsn, autocommit=True) as conn,
        client_of(dsn) as client,
    ):
        print_parts(conn, client, options.runs)
        print_costs(conn, options.runs)
        print_sizes(conn)


if __name__ == "__main__":
    main()
