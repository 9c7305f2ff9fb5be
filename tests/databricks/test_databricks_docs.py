"""What docs/databricks.md has people type leads from nothing to a parsed PDF, in the stand-in."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from forebay.embedded import Server
from forebay_lab.samples import DEMO, write_samples

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "databricks.md").read_text()
HOME = "~/forebay-workspace"
SECONDS = 400


def blocks(language: str) -> list[str]:
    """Return what stands between the fences of that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def script(folder: Path, port: int, intake_port: int) -> str:
    """Return all that is to be typed, in order, with a folder and ports of our own."""
    typed = "".join(blocks("sh")).replace(HOME, str(folder)).replace(":8000/", f":{port}/")
    typed = typed.replace("8001", str(intake_port))
    own = f"forebay workspace-server --orchestrator-port {port} "
    typed = typed.replace("forebay workspace-server ", own)
    return f"set -e\ntrap 'kill $(jobs -p); wait' EXIT\nexport DATABRICKS_APP_PORT={port}\n{typed}"


def free_port() -> int:
    """Return a port that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
    return port


@pytest.mark.timeout(SECONDS + 60)
def test_the_page_leads_to_a_parsed_pdf() -> None:
    """Pasted from the first line to the last, nothing fails, and the doctor finds all there is."""
    folder = Path(tempfile.mkdtemp(prefix="forebay-tests-"))
    folder.chmod(0o755)
    ours = {n: v for n, v in os.environ.items() if not n.startswith(("FOREBAY_", "DATABRICKS_"))}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    sample = write_samples(folder / "samples", DEMO)[0]
    shutil.copy(folder / "samples" / sample.name, folder / "invoice.pdf")
    shell = subprocess.Popen(
        ["bash", "-c", script(folder / "workspace", free_port(), free_port())],
        cwd=folder,
        env={**ours, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        said = shell.communicate(timeout=SECONDS)[0]
    finally:
        if shell.poll() is None:
            os.killpg(shell.pid, signal.SIGTERM)
        Server(folder / "workspace" / "pg").stop()
        shutil.rmtree(folder, ignore_errors=True)
    assert shell.returncode == 0, said[-4000:]
    assert "This is a simulated workspace" in said
    assert len(re.findall(r"^ok +callback: a signed report reaches", said, re.MULTILINE)) == 1
    assert not re.findall(r"^(missing|unknown) ", said, re.MULTILINE)
    assert re.search(r"^status +completed$", said, re.MULTILINE)
    assert '"kind": "invoice"' in said
    assert "the orchestrator starts the work" in said
    assert re.search(r"^records +2$", said, re.MULTILINE)
    assert re.search(r"^LLM usd +0\.\d+ \(known of 1 of 1", said, re.MULTILINE)
    assert re.search(r"^compute usd +0\.\d+ \(known of 1 of 1", said, re.MULTILINE)
    assert re.search(r"SQL.* 0\.70", said)


def test_what_is_not_run_is_not_ours() -> None:
    """Only commands of the workspace's CLI, of pip and of SQL are shown without being tried."""
    shown = "".join(blocks("console"))
    assert not re.findall(r"^forebay ", shown, re.MULTILINE)
    assert "databricks bundle deploy" in shown


def test_the_names_are_those_of_the_bundle() -> None:
    """The page's commands name what the target dev deploys."""
    from databricks.support_bundle import joined

    resources = joined("dev")["resources"]
    named = [app["name"] for app in resources["apps"].values()]
    named += [resources["secret_scopes"]["forebay"]["name"], resources["jobs"]["agent"]["name"]]
    for name in named:
        assert f"`{name}`" in PAGE


def test_the_variables_are_those_of_the_bundle() -> None:
    """The page's table has each variable that a deploy can be given, and no other."""
    from databricks.support_bundle import joined

    table = PAGE.split("| `BUNDLE_VAR_...` |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", "".join(rows))) == joined()["variables"].keys()


def test_the_folders_are_built_before_they_are_looked_for() -> None:
    """The CLI refuses a bundle whose apps' folders are not there, and builds them only later."""
    shown = "".join(blocks("console"))
    build = shown.index("python deploy/build.py")
    assert build < shown.index("databricks bundle validate") < shown.index("bundle deploy -t dev")
