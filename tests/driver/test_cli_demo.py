"""The demo and the daemon as processes: results come out, and nothing is left running."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest
from reportlab.pdfgen.canvas import Canvas

from conftest import Connect
from forebay.calls import viewer
from forebay.cli import demo, simulated
from forebay.embedded import Server
from forebay.schema import upgrade
from forebay_lab.model_server import CallLog
from support.server import TestServer

COMMAND = (sys.executable, "-m", "forebay.cli")
SECONDS = 60


@pytest.fixture
def home() -> Iterator[Path]:
    """Return a FOREBAY_HOME that the user who runs Postgres for root can enter."""
    folder = Path(tempfile.mkdtemp(prefix="forebay-tests-"))
    folder.chmod(0o755)
    yield folder
    Server(folder / "pg").stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def pdfs(tmp_path: Path) -> Path:
    """Return a folder of three small PDF files, one in a subfolder, and an empty one."""
    folder = tmp_path / "pdfs"
    folder.mkdir()
    for number in range(3):
        canvas = Canvas(str(folder / f"{number}.pdf"))
        for place, line in enumerate(
            ("Invoice", f"Invoice number: INV-{number}", "Total: 12.00 EUR")
        ):
            canvas.drawString(72, 720 - 20 * place, line)
        canvas.save()
    (folder / "deep.pdf").mkdir()
    (folder / "2.pdf").rename(folder / "deep.pdf" / "0.pdf")
    (folder / "empty.PDF").touch()
    return folder


def start(home: Path, *args: object, dsn: str = "") -> subprocess.Popen[str]:
    """Start a command, without a terminal."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("FOREBAY_")}
    return subprocess.Popen(
        [*COMMAND, *map(str, args)],
        env=kept | {"FOREBAY_HOME": str(home), "FOREBAY_DATABASE_URL": dsn},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def processes_naming(home: Path) -> list[str]:
    """Return the command lines of the processes that run with this home."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"FOREBAY_HOME={home}\0" in (process / "environ").read_text(errors="replace"):
                found.append((process / "cmdline").read_text())
        except OSError:  # ended, or another user's
            continue
    return found


def test_demo_turns_pdfs_into_results(dsn: str, home: Path, pdfs: Path) -> None:
    """Each document reaches a final state, told by its path below the folder.

    A refused file is told and stops nothing.
    """
    demo = start(home, "demo", "--pdfs", pdfs, "--json", dsn=dsn)
    out, err = demo.communicate(timeout=SECONDS)
    assert demo.returncode == 0, err
    outcomes = {outcome["document"]: outcome for outcome in json.loads(out)}
    assert {name: outcome["state"] for name, outcome in outcomes.items()} == {
        "0.pdf": "completed",
        "1.pdf": "completed",
        "deep.pdf/0.pdf": "completed",
        "empty.PDF": "refused",
    }
    assert outcomes["0.pdf"]["pages"] == 1
    assert outcomes["0.pdf"]["attempts"] == 1
    assert outcomes["0.pdf"]["found"] == "invoice INV-0, 12.00 EUR"
    assert outcomes["0.pdf"]["fields"] >= 4
    assert outcomes["0.pdf"]["confidence"] > 0
    assert "empty" in outcomes["empty.PDF"]["reason"]
    assert "3 of 3 done: 3 completed" in err
    assert (
        "not served. The database's login may not act as forebay_submitter, forebay_reader, " in err
    )
    assert "made up" not in err
    assert "simulated" not in err
    assert processes_naming(home) == []


@pytest.mark.timeout(240)
def test_the_samples_are_read_with_a_simulated_model_that_is_throttled(
    dsn: str, home: Path, db: psycopg.Connection
) -> None:
    """Calls wait for the quota, fields are right all the same, and what is made up is said.

    The agent that a person uses has neither the quota nor the model.
    """
    demo = start(home, "demo", "--json", dsn=dsn)
    out, err = demo.communicate(timeout=200)
    assert demo.returncode == 0, err
    outcomes = {Path(outcome["document"]).stem: outcome for outcome in json.loads(out)}
    for name, outcome in outcomes.items():
        truth = json.loads((home / "samples" / f"{name}.json").read_text())
        assert outcome["state"] == truth["status"]
        if outcome["state"] == "completed":
            fields = {field: truth["fields"].get(field) for field in ("number", "total")}
            assert all(value is None or value in outcome["found"] for value in fields.values())
    read = [outcome for outcome in outcomes.values() if outcome["cost_usd"]]
    assert len(read) == 11  # neither the e-invoice, nor what cannot be opened
    assert any((outcome["waited"] or 0) > 0.5 for outcome in read)
    assert "simulated model, whose quota is 5 calls and 12,000 tokens in any 12 seconds" in err
    assert "read 2 at a time" in err
    assert re.search(r"\.pdf: a call of [\d,]+ tokens waits until \d\d:\d\d:\d\d", err)
    assert "At made-up prices" in err
    quotas = dict(db.execute("select agent, quotas from forebay.agents").fetchall())
    assert quotas == {"parse_document": [], "demo_documents": ["simulated-model"]}


def test_the_audit_log_names_the_demo(connect: Connect) -> None:
    """Whoever reads what was registered sees that nobody did it by hand."""
    conn = connect("all")
    model = simulated.SimulatedModel("http://127.0.0.1:9", CallLog())
    demo._register(conn, model)
    acted = viewer.list_audit(conn)
    assert {act.action for act in acted} == {"register_agent", "register_quota", "register_price"}
    assert {act.actor for act in acted} == {"forebay demo"}


@pytest.mark.long
def test_demo_runs_twice_on_the_embedded_server_and_stops_it(home: Path, pdfs: Path) -> None:
    """The second run finds the first one's database; a server that ran before keeps running."""
    for path in (pdfs / "1.pdf", pdfs / "deep.pdf" / "0.pdf", pdfs / "empty.PDF"):
        path.unlink()
    first = start(home, "demo", "--pdfs", pdfs)
    out, err = first.communicate(timeout=SECONDS)
    assert first.returncode == 0, err
    assert "completed" in out
    assert "forebay pg start'" in err
    assert not Server(home / "pg").status().is_running
    Server(home / "pg").start()
    second = start(home, "demo", "--pdfs", pdfs)
    _, err = second.communicate(timeout=SECONDS)
    assert second.returncode == 0, err
    assert "batch 2" in err
    assert "forebay pg start'" not in err
    assert Server(home / "pg").status().is_running


def test_demo_says_how_to_leave_another_checkouts_database(home: Path, pdfs: Path) -> None:
    """A database that these migrations did not make is refused with the way to begin anew."""
    dsn = Server(home / "pg").start()
    upgrade(dsn)
    with psycopg.connect(dsn) as conn:
        conn.execute(
            "update forebay.schema_history set sha256 = repeat('0', 64) where kind = 'versioned'"
        )
    _, err = start(home, "demo", "--pdfs", pdfs).communicate(timeout=SECONDS)
    assert f"remove {home / 'pg'}" in err


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, 130), pytest.param(signal.SIGTERM, 143, marks=pytest.mark.long)],
)
def test_an_interrupted_demo_leaves_nothing_running(
    home: Path, pdfs: Path, number: signal.Signals, code: int
) -> None:
    """Ctrl-C in the middle stops the daemon and the server, without a traceback."""
    demo = start(home, "demo", "--pdfs", pdfs)
    assert demo.stderr
    while "0 of 3" not in (line := demo.stderr.readline()):
        assert line, "the demo ended early"
    demo.send_signal(number)
    _, err = demo.communicate(timeout=SECONDS)
    assert demo.returncode == code, err
    assert "Traceback" not in err
    assert not Server(home / "pg").status().is_running
    assert processes_naming(home) == []


def test_the_web_apps_are_up_until_the_demo_is_stopped(
    server: TestServer, superuser: psycopg.Connection, home: Path, pdfs: Path
) -> None:
    """Both answer where it says, and let in who it says; --keep-running ends with Ctrl-C alone."""
    dsn = server.dsn(server.user, superuser.info.dbname)
    demo = start(home, "demo", "--pdfs", pdfs, "--keep-running", dsn=dsn)
    assert demo.stderr
    told = ""
    while "press Ctrl-C" not in told:
        line = demo.stderr.readline()
        assert line, f"the demo ended early: {told}"
        told += line
    assert "3 of 3 done" in told
    addresses = re.search(r"Watch it at (\S+), hand in more at (\S+)", told)
    login = re.search(r"Log in as (.+) with the password (\S+), for this run", told)
    assert addresses
    assert login
    for url in addresses.groups():
        with httpx.Client(base_url=url, headers={"Origin": url}, timeout=20) as client:
            assert client.get("/healthz").status_code == 200
            wrong = {"name": login[1], "password": login[2] + "x"}
            assert client.post("/login", data=wrong).status_code == 401
            right = {"name": login[1], "password": login[2]}
            assert client.post("/login", data=right).status_code == 303
            assert client.get("/batches/1").status_code == 200
    demo.send_signal(signal.SIGINT)
    out, err = demo.communicate(timeout=SECONDS)
    assert demo.returncode == 0, err
    assert "0.pdf" in out
    assert processes_naming(home) == []
    assert not list(home.glob("demo-*/"))
    with pytest.raises(httpx.ConnectError):
        httpx.get(addresses[1])


@pytest.mark.parametrize("kind", ["missing", "empty"])
def test_demo_refuses_a_folder_without_pdfs(home: Path, tmp_path: Path, kind: str) -> None:
    """A folder that is missing, or holds no PDF, is one sentence; no server is started."""
    folder = tmp_path / kind
    if kind == "empty":
        folder.mkdir()
    demo = start(home, "demo", "--pdfs", folder)
    out, err = demo.communicate(timeout=SECONDS)
    assert (demo.returncode, out, err.count("\n")) == (1, "", 1)
    assert str(folder) in err
    assert not (home / "pg").exists()


def test_run_serves_only_the_agents_it_is_told_until_sigterm(
    dsn: str, home: Path, pdfs: Path
) -> None:
    """`run --agents` leaves the others' tasks alone; SIGTERM ends it with 0."""
    for agent in ("mine", "other"):
        options = ("--launcher", "local", "--entry-point", "parse_document")
        assert start(home, "agent", "set", agent, *options, dsn=dsn).wait(SECONDS) == 0
        submit = start(home, "submit", pdfs / "0.pdf", "--agent", agent, dsn=dsn)
        assert submit.wait(SECONDS) == 0
    daemon = start(home, "run", "--agents", "mine", "--concurrency", 1, dsn=dsn)
    give_up_at = time.monotonic() + SECONDS
    counts: dict[str, str] = {}
    while counts.get("mine") != "completed":
        assert time.monotonic() < give_up_at
        out, _ = start(home, "tasks", "--json", dsn=dsn).communicate(timeout=SECONDS)
        counts = {row["agent"]: row["status"] for row in json.loads(out)}
    daemon.terminate()
    assert daemon.wait(SECONDS) == 0
    assert counts["other"] == "enqueued"
    assert list((home / "logs").iterdir())


def test_run_says_what_is_wrong_with_the_database(home: Path) -> None:
    """Without a database the daemon ends with 1 and one sentence."""
    daemon = start(home, "run")
    _, err = daemon.communicate(timeout=SECONDS)
    assert (daemon.returncode, err.count("\n")) == (1, 1)
    assert "FOREBAY_DATABASE_URL" in err


def test_demo_on_a_closed_copy_says_so(
    dsn: str, home: Path, pdfs: Path, db: psycopg.Connection
) -> None:
    """Where nothing may start, the demo ends with the reason instead of waiting."""
    db.execute("update forebay.installation set is_branch = true")
    demo = start(home, "demo", "--pdfs", pdfs, dsn=dsn)
    _, err = demo.communicate(timeout=SECONDS)
    assert demo.returncode == 1
    assert "forebay.open_installation" in err.splitlines()[-1]
