"""forebay db: what it prints, and its exit codes: 0 done, 1 refused, 2 usage."""

import json
import subprocess
import sys
from pathlib import Path

import psycopg

from forebay import __version__, schema
from migrations.conftest import Psql


def forebay_db(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "forebay.cli", "db", *arguments],
        check=False,
        capture_output=True,
        text=True,
    )


def test_upgrade_and_status(dsn: str) -> None:
    """plan and upgrade list the steps, then nothing; status tells the release."""
    planned = forebay_db("plan", "--dsn", dsn, "--json")
    done = forebay_db("upgrade", "--dsn", dsn, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(planned.stdout) == json.loads(done.stdout)
    assert json.loads(done.stdout)[0] == {
        "name": "migrations/0001_create_roles.sql",
        "kind": "versioned",
        "why": "new",
    }
    assert forebay_db("upgrade", "--dsn", dsn).stdout == "Nothing to do.\n"
    status = json.loads(forebay_db("status", "--dsn", dsn, "--json").stdout)
    assert (status["installed"], status["pending"]) == (__version__, 0)
    assert forebay_db("verify", "--dsn", dsn).returncode == 0


def test_an_upgrade_has_a_line_a_migration_and_sums_up_the_rest(dsn: str) -> None:
    """Hundreds of functions are one line; --verbose names them, and a single one has its name."""
    told = forebay_db("plan", "--dsn", dsn).stdout
    verbose = forebay_db("plan", "--dsn", dsn, "--verbose").stdout
    done = forebay_db("upgrade", "--dsn", dsn).stdout
    assert done == told
    steps = schema.plan(None)
    migrations = [step.name for step in steps if step.kind == "versioned"]
    functions = [step.name for step in steps if step.name.startswith("functions/")]
    assert all(name in told for name in migrations)
    assert f"{len(functions)} functions" in told
    assert functions[0] not in told
    assert len(told.splitlines()) < len(migrations) + 10
    assert all(step.name in verbose for step in steps)
    with psycopg.connect(dsn) as conn:
        conn.execute("set role forebay_owner")
        conn.execute(
            "update forebay.schema_history set sha256 = '' where name = %s", [functions[0]]
        )
    assert functions[0] in forebay_db("plan", "--dsn", dsn).stdout


def test_verify_ends_with_1_when_something_differs(dsn: str) -> None:
    """verify prints a sentence for each difference, and its exit code is 1."""
    schema.upgrade(dsn)
    with psycopg.connect(dsn) as conn:
        conn.execute("set role forebay_owner")
        conn.execute("create function forebay.extra() returns int language sql as 'select 1'")
    done = forebay_db("verify", "--dsn", dsn)
    assert done.returncode == 1
    assert done.stdout == "Function extra is in no file.\n"


def test_a_refusal_is_one_sentence(dsn: str) -> None:
    """A newer schema is refused with exit code 1 and one line on stderr."""
    schema.upgrade(dsn)
    with psycopg.connect(dsn) as conn:
        conn.execute("set role forebay_owner")
        conn.execute(
            "insert into forebay.schema_history values"
            " ('9.0.0', 'release', null, '9.0.0', now(), 'somebody')"
        )
    done = forebay_db("upgrade", "--dsn", dsn)
    assert done.returncode == 1
    assert done.stderr == (
        f"forebay: The schema is of release 9.0.0 and this driver of {__version__}:"
        " upgrade the driver.\n"
    )


def test_a_wrong_dsn_is_one_sentence() -> None:
    """A database that cannot be reached is refused with exit code 1, wrong usage with 2."""
    done = forebay_db("plan", "--dsn", "host=/nowhere dbname=x")
    assert done.returncode == 1
    assert done.stderr.startswith("forebay: Cannot connect to the database")
    assert done.stderr.count("\n") == 1
    assert forebay_db("plan", "--nosuch").returncode == 2


def test_plan_sql_prints_a_script_for_psql(dsn: str, psql: Psql, tmp_path: Path) -> None:
    """plan --sql --from-empty asks no database; what it prints installs the schema."""
    done = forebay_db("plan", "--sql", "--from-empty")
    assert done.returncode == 0, done.stderr
    file = tmp_path / "install.sql"
    file.write_text(done.stdout)
    installed = psql(dsn, file)
    assert installed.returncode == 0, installed.stderr
    assert schema.plan(dsn) == []
