"""The demo: PDF files go through the queue and come out as results, in one command."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from forebay.cli import background, demo_apps, documents, output, simulated
from forebay.cli.database import connect
from forebay.cli.errors import Refused
from forebay.cli.options import PRIORITIES, Dsn, Json
from forebay.cli.outcomes import TABLE, Outcome, outcome_of

if TYPE_CHECKING:
    import psycopg

AGENT = "parse_document"
TIMEOUT = timedelta(minutes=10)
AT_ONCE = 2


def demo(
    pdfs: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            readable=False,
            show_default="made-up samples",
            help="Your own PDF files, also those in subfolders.",
        ),
    ] = None,
    keep_running: Annotated[
        bool,
        typer.Option(
            "--keep-running", help="Leave the web apps and the daemon up at the end, until Ctrl-C."
        ),
    ] = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Send documents through the queue, from an empty database to a table of results.

    Serves the web apps meanwhile. Starts the embedded Postgres unless a database is given, and
    stops what it started. The samples are read with a simulated model whose quota is tight, your
    own files with the model that FOREBAY_MODEL_BASE_URL points to, else by rules alone.
    """
    documents.require("agents", "The demo")
    documents.require("apps", "The demo")
    if not pdfs:
        documents.require("lab", "The demo")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    folder = pdfs.expanduser() if pdfs else documents.home() / "samples"
    files = _own_files(folder) if pdfs else _samples(folder)
    with background.database(dsn) as where, _model(is_wanted=not pdfs) as model:
        _install(where, is_own=not dsn)
        agent = simulated.THROTTLED if model else AGENT
        with connect(where) as conn:
            _register(conn, model)
            with (
                _daemon(where, agent, model) as check_daemon,
                demo_apps.served(where, agent) as check_apps,
            ):
                outcomes = _process(conn, folder, files, agent, model, check_daemon)
                if keep_running:
                    _tell(outcomes, model, as_json)
                    demo_apps.stay(lambda: (check_daemon(), check_apps()))
    if not keep_running:
        _tell(outcomes, model, as_json)
    done = [row.task_id for row in outcomes if row.task_id and row.state == "completed"]
    if done:
        output.note(_how_to_see(done[0], dsn))
    if not pdfs:
        output.note("These documents are made up, with every name and amount in them.")


def _tell(outcomes: list[Outcome], model: simulated.SimulatedModel | None, as_json: bool) -> None:
    """Print what came of the documents, and tell why."""
    output.print_rows(outcomes, TABLE, as_json)
    for outcome in outcomes:
        if outcome.reason:
            output.note(f"{outcome.document}: {outcome.reason}")
    for note in model.notes(outcomes) if model else ():
        output.note(note)


@contextmanager
def _model(*, is_wanted: bool) -> Iterator[simulated.SimulatedModel | None]:
    """Give the simulated model where one is wanted and none is configured."""
    if not is_wanted or os.environ.get("FOREBAY_MODEL_BASE_URL"):
        yield None
        return
    with simulated.model() as model:
        yield model


def _own_files(folder: Path) -> dict[Path, int]:
    """Return the PDF files below folder, with priorities of every kind."""
    found = documents.own_pdfs(folder)
    return dict(zip(found, cycle(PRIORITIES.values()), strict=False))


def _samples(folder: Path) -> dict[Path, int]:
    """Write the sample documents into folder, and return them with their priorities."""
    from forebay_lab.samples import DEMO, write_samples

    output.note(f"Writing sample documents, all made up, to {folder}")
    return {folder / each.name: PRIORITIES[each.priority] for each in write_samples(folder, DEMO)}


def _install(dsn: str, *, is_own: bool) -> None:
    """Install the schema; if the embedded server's is of another checkout, say how to do without.

    Raises Refused, or SchemaError for somebody's own database.
    """
    from forebay import schema

    try:
        schema.upgrade(dsn)
    except schema.SchemaError as error:
        if not is_own:
            raise
        raise Refused(
            f"{error} This is the embedded server's database: to begin anew without its tasks,"
            f" run 'forebay pg stop' and remove {documents.home() / 'pg'}."
        ) from error


def _register(conn: psycopg.Connection[Any], model: simulated.SimulatedModel | None) -> None:
    """Register the agents that the database does not know, and what limits the demo's own."""
    from forebay.calls import operator, viewer

    known = {state.agent: state for state in viewer.agent_status(conn)}.get(AGENT)
    register = partial(
        operator.register_agent,
        conn,
        launcher="local",
        entry_point=AGENT,
        timeout=TIMEOUT,
        actor=simulated.DEMO,
        reason="for its documents",
    )
    if known is None:
        register(agent=AGENT)
    if model:
        model.register(conn)
        register(agent=simulated.THROTTLED, quotas=[simulated.NAME])
    elif known is None:
        return
    elif known.launcher != "local":
        raise Refused(
            f"Agent {AGENT} of this database has launcher {known.launcher}, not local:"
            " run the demo on another database."
        )
    elif known.state == "paused":
        raise Refused(f"Agent {AGENT} is paused: run 'forebay agent resume {AGENT}' first.")


@contextmanager
def _daemon(
    dsn: str, agent: str, model: simulated.SimulatedModel | None
) -> Iterator[Callable[[], None]]:
    """Run a daemon for the agent beside the block; gives what raises Refused once it has died."""
    arguments = ("run", "--agents", agent, "--concurrency", str(AT_ONCE))
    variables = model.environment if model else {}
    log = documents.home() / "demo.log"
    with background.running(
        [background.Program("The daemon", dsn, arguments, log, variables)]
    ) as check:
        yield check


def _process(
    conn: psycopg.Connection[Any],
    folder: Path,
    files: dict[Path, int],
    agent: str,
    model: simulated.SimulatedModel | None,
    check: Callable[[], None],
) -> list[Outcome]:
    """Submit the files as one batch, follow it until it is done, and tell what came of each."""
    from forebay import looking
    from forebay.cli.batch import follow
    from forebay.cli.submit import enqueue

    names = {path: documents.display_name(path.relative_to(folder)) for path in files}
    problems = {path: documents.problem(path) for path in files}
    accepted = [path for path, problem in problems.items() if problem is None]
    outcomes = [
        Outcome(names[path], None, "refused", reason=f"It {problem}")
        for path, problem in problems.items()
        if problem
    ]
    if not accepted:
        return outcomes
    with documents.stored(conn, looking.look(accepted)) as copies:
        priorities = [files[path] for path in accepted]
        batch_id, task_ids = enqueue(conn, copies, agent, priorities, name="demo")
    output.note(f"Submitted {len(copies)} documents as batch {batch_id}, read {AT_ONCE} at a time")
    submitted = {task_id: names[path] for task_id, path in zip(task_ids, accepted, strict=True)}

    def look() -> None:
        check()
        if model:
            model.tell_waits(conn, submitted)

    follow(conn, batch_id, look)
    return [outcome_of(conn, task_id, name) for task_id, name in submitted.items()] + outcomes


def _how_to_see(task_id: int, dsn: str | None) -> str:
    """Return what to run next; whoever has no `forebay` on PATH gets its whole path."""
    from forebay.embedded import Server

    beside = shutil.which("forebay", path=os.path.dirname(sys.executable))
    program = "forebay" if shutil.which("forebay") else beside or "forebay"
    is_there = dsn or Server(documents.home() / "pg").status().is_running
    start = "" if is_there else f"'{program} pg start', then "
    return f"See what was found: {start}'{program} task {task_id} --result'."
