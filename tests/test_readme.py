"""The README's sessions and example, and the arithmetic of limits.md, are what really happens."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg.types.json import Jsonb

from conftest import Connect
from forebay.embedded import Server, binaries
from support.clock import Clock

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
EXAMPLE = ROOT / "examples" / "classify.py"
PROMPT = "forebay=# "


def blocks(language: str) -> list[str]:
    """Return what stands between the fences of that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def statements() -> list[str]:
    """Return what the README types into psql."""
    session = "".join(blocks("psql")).splitlines()
    return [line.removeprefix(PROMPT) for line in session if line.startswith(PROMPT)]


def layout(text: str) -> list[str]:
    """Return the lines that say something, without spaces at their end."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


def psql(dsn: str, script: str) -> str:
    """Return what psql prints for a script, its errors included."""
    program = shutil.which("psql") or str(binaries.find().bindir / "psql")
    command = [program, "-X", "-q", "-d", dsn]
    done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr


def test_the_psql_session_prints_what_the_readme_shows(role_dsn: Callable[..., str]) -> None:
    """Every statement runs on a fresh database, as a caller, with the very output shown."""
    session = "".join(blocks("psql")).splitlines()
    shown = "\n".join(line for line in session if not line.startswith(PROMPT))
    assert len(statements()) > 10
    assert layout(psql(role_dsn("all"), "\n".join(statements()))) == layout(shown)


def test_the_python_in_the_readme_is_the_example() -> None:
    """The README shows the whole file: what is read is what was tested."""
    assert [block.strip() for block in blocks("python")] == [EXAMPLE.read_text().strip()]


def test_the_example_works_off_what_waits(
    connect: Connect, role_dsn: Callable[..., str], db: psycopg.Connection
) -> None:
    """Run as a program by a login with two roles, it completes what it can and fails the rest."""
    caller = connect("all")
    caller.execute("select forebay.register_agent('classify')")
    for payload in ({"text": "Invoice 17"}, {"text": "Dear Ada"}, {}):
        caller.execute("select forebay.enqueue('classify', %s)", [Jsonb(payload)])
    done = subprocess.run(
        [sys.executable, EXAMPLE, "--until-empty"],
        env=os.environ | {"FOREBAY_DATABASE_URL": role_dsn("worker", "agent")},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "3 tasks finished\n", done.stderr
    rows = db.execute("select status, result ->> 'kind' from forebay.tasks order by task_id")
    assert rows.fetchall() == [("completed", "invoice"), ("completed", "other"), ("failed", None)]


def test_the_shell_sessions_lead_to_a_worker() -> None:
    """Pasted one after the other, from the first line to the worker's task, nothing fails."""
    home = Path(tempfile.mkdtemp(prefix="forebay-tests-"))
    home.chmod(0o755)
    script = "set -e\n" + "".join(blocks("sh")[1:])
    assert "FOREBAY_HOME=/tmp/forebay-try\n" in script
    try:
        done = subprocess.run(
            ["sh", "-c", script.replace("/tmp/forebay-try", str(home))],
            input="\n".join(statements()),
            cwd=ROOT,
            env=os.environ | {"PSQLRC": "/dev/null"},
            capture_output=True,
            text=True,
            timeout=60,
        )
    finally:
        Server(home / "pg").stop()
        shutil.rmtree(home, ignore_errors=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("CREATE ROLE\n1 tasks finished\n")


@pytest.mark.parametrize("name", ["plain", """My "odd" dir's `echo x` $(echo y) $HOME 書類"""])
def test_a_folder_of_any_name_reaches_the_demo(tmp_path: Path, name: str) -> None:
    """`make demo PDFS=` passes the folder's name on as it was written, and runs none of it."""
    program = tmp_path / ".venv" / "bin" / "forebay"
    program.parent.mkdir(parents=True)
    program.write_text("""#!/bin/sh\nprintf '%s\\n' "$@"\n""")
    program.chmod(0o755)
    command = ["make", "-f", ROOT / "Makefile", "-o", ".venv/demo.stamp", "demo", f"PDFS={name}"]
    env = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.stdout == f"demo\n--pdfs\n{name}\n", done.stderr


def test_a_token_budget_holds_for_tasks_that_end_at_once(connect: Connect, clock: Clock) -> None:
    """Of 60,000 tokens a minute 24 tasks of 2,000 start at once, then one every two seconds."""
    caller = connect("all")
    caller.execute("select forebay.register_agent('classify', p_max_tpm => 60000)")
    tasks = Jsonb([{"payload": {}, "estimated_tokens": 2000}] * 50)
    caller.execute("select forebay.enqueue_many('classify', %s)", [tasks])

    def claim_and_finish() -> int:
        claimed = caller.execute("select attempt_id from forebay.dequeue('w', null, 50)").fetchall()
        for (attempt_id,) in claimed:
            caller.execute("select forebay.complete(%s, '{}')", [attempt_id])
        return len(claimed)

    started = [claim_and_finish(), claim_and_finish()]
    for _ in range(4):
        clock.advance(timedelta(seconds=1))
        started.append(claim_and_finish())
    assert started == [24, 0, 0, 1, 0, 1]


@pytest.mark.parametrize("target", re.findall(r"^make ([a-z]+)", README, re.MULTILINE))
def test_targets_exist(target: str) -> None:
    """Every `make` command of the README is a target."""
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
