"""An upgrade takes over what is in flight: who it is for, what it used, what it cost."""

import json
from decimal import Decimal
from pathlib import Path

import psycopg
import pytest

from forebay import schema
from migrations.conftest import NewDatabase, Psql

RELEASED = Path(__file__).parent / "released"
USAGE = {"call_id": "1", "model": "m", "input_tokens": 4000, "output_tokens": 1000, "cost_usd": 2}


def test_an_upgrade_from_0_1_0_keeps_usage_costs_and_customers(
    new_database: NewDatabase, psql: Psql
) -> None:
    """Usage that was reported before is not refunded after, and counts against caps."""
    dsn = new_database()
    done = psql(dsn, RELEASED / "0.1.0.sql")
    assert done.returncode == 0, done.stderr
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set role forebay_owner")
        conn.execute("select forebay.register_agent('a', p_max_tpm => 20000)")
        conn.execute(
            "select forebay.enqueue('a', '1', p_customer => 'acme', p_estimated_tokens => 5000)"
            " from generate_series(1, 2)"
        )
        attempts = [
            row[0]
            for row in conn.execute(
                "select attempt_id from forebay.dequeue('w', '{a}', 2) order by attempt_id"
            )
        ]
        for attempt in attempts:
            conn.execute("select forebay.report_usage(%s, %s)", [attempt, json.dumps(USAGE)])
    schema.upgrade(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set role forebay_owner")
        seen = "select usd_today, in_flight_tokens, token_level from forebay.agent_status()"
        spent, in_flight, level = conn.execute(seen).fetchone() or (0, 0, 0)
        assert (spent, in_flight) == (Decimal(4), 10000)

        conn.execute("select forebay.release(%s, 'stops')", attempts[:1])
        *_, after = conn.execute(seen).fetchone() or (0,)
        assert after - level < 5000, "what was reported is not given back"

        conn.execute("select forebay.register_customer('acme', p_max_usd_per_day => 3)")
        customer = "select usd_today, in_use from forebay.customer_status()"
        assert conn.execute(customer).fetchone() == (Decimal(4), 1)
        assert conn.execute("select from forebay.dequeue('w', '{a}')").fetchall() == []

        again = USAGE | {"call_id": "2", "cost_usd": 1}
        conn.execute("select forebay.report_usage(%s, %s)", [attempts[1], json.dumps(again)])
        assert conn.execute(customer).fetchone() == (Decimal(5), 1), "each call counts once"


def test_an_upgrade_from_0_2_0_adds_up_what_was_there(
    new_database: NewDatabase, psql: Psql
) -> None:
    """Tasks of before have their totals, and the rollups know them; what follows counts on."""
    dsn = new_database()
    done = psql(dsn, RELEASED / "0.2.0.sql")
    assert done.returncode == 0, done.stderr
    calls = [
        USAGE | {"cached_tokens": 1000},
        {"call_id": "1", "source": "trace", "input_tokens": 1},
    ]
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set role forebay_owner")
        conn.execute("select forebay.register_agent('a')")
        conn.execute(
            "select forebay.enqueue('a', '1', p_customer => 'acme') from generate_series(1, 4)"
        )
        claim = "select attempt_id from forebay.dequeue('w', '{a}', %s) order by attempt_id"
        first, second, third = [row[0] for row in conn.execute(claim, [3])]
        conn.execute("select forebay.report_usage(%s, %s)", [first, json.dumps(calls)])
        conn.execute("select forebay.complete(%s, '{}', 0.8)", [first])
        conn.execute("select forebay.release(%s, 'no room')", [second])
        conn.execute("select forebay.report_usage(%s, %s)", [third, json.dumps(USAGE)])
    schema.upgrade(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set role forebay_owner")
        seen = """
            select enqueued, processing, completed, ended_attempts, measured_attempts,
                priced_attempts, input_tokens, output_tokens, cached_tokens, llm_usd,
                response_median > '0' and run_median > '0', confidence_median
            from forebay.metrics(p_customers => '{acme}')
        """
        before = (2, 1, 1, 2, 2, 2, 8000, 2000, 1000, Decimal(4), True, Decimal("0.8"))
        assert conn.execute(seen).fetchone() == before
        rollups = "select count(*) from forebay.task_rollups"
        assert (conn.execute(rollups).fetchone() or (0,))[0] > 0
        days = "select sum(tasks), sum(llm_usd) from forebay.cost_by('day')"
        assert conn.execute(days).fetchone() == (4, Decimal(4))

        conn.execute("select forebay.complete(%s, '{}')", [third])
        after = (2, 0, 2, 3, 3, 3, *before[6:])
        assert conn.execute(seen).fetchone() == after


@pytest.mark.parametrize("lost", ["", "drop table forebay.wakeups"], ids=["there", "lost"])
def test_an_upgrade_from_0_4_0_keeps_wakeups_in_a_logged_table(
    new_database: NewDatabase, psql: Psql, lost: str
) -> None:
    """Also where Lakebase lost the one that was not logged: tasks are enqueued, and notified of."""
    dsn = new_database()
    done = psql(dsn, RELEASED / "0.4.0.sql")
    assert done.returncode == 0, done.stderr
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set role forebay_owner")
        conn.execute(lost.encode())
    schema.upgrade(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("set role forebay_owner")
        unlogged = """
            select relname from pg_class
            where relnamespace = 'forebay'::regnamespace and relpersistence <> 'p'
        """
        assert conn.execute(unlogged).fetchall() == []
        conn.execute("listen forebay_work")
        conn.execute("select forebay.register_agent('a'), forebay.enqueue('a', '1')")
        assert next(conn.notifies(timeout=10), None)
