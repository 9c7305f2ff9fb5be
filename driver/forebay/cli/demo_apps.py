"""The web apps beside the demo: on free ports, with a login that is made up for the run."""

from __future__ import annotations

import json
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from forebay.cli import background, documents, output
from forebay.cli.database import person
from forebay.cli.errors import Refused

APPS = {"orchestrator": ("--no-daemon",), "intake": ()}
SECONDS_TO_START = 30
LOOK_EVERY = 0.1
MADE_UP_RATE = {"FOREBAY_COMPUTE_USD_PER_HOUR": "0.36"}


@contextmanager
def served(dsn: str, agent: str) -> Iterator[Callable[[], None]]:
    """Serve both apps beside the block, and tell where, and how to log in.

    Intake offers that agent. Gives a function that raises Refused once an app has died. Where the
    login may not act as the apps do, it says so, and nothing is served.
    """
    from forebay.memberships import lacking
    from forebay.pool import Database
    from forebay_apps import intake, orchestrator

    roles = dict.fromkeys((*intake.ROLES, *orchestrator.ROLES))
    if said := lacking(Database(dsn), roles):
        output.note(f"The web apps are not served. {said}")
        yield lambda: None
        return
    with tempfile.TemporaryDirectory(prefix="demo-", dir=documents.home()) as folder:
        users_file, name, password = Path(folder) / "users.json", person(), secrets.token_hex(8)
        _write_user(users_file, name, password)
        variables = _variables(users_file, agent)
        programs = {
            app: background.Program(
                f"The app {app}",
                dsn,
                ("serve", app, "--port", "0", *options),
                documents.home() / f"demo-{app}.log",
                variables,
            )
            for app, options in APPS.items()
        }
        with background.running(list(programs.values())) as check:
            where = {app: _address(program) for app, program in programs.items()}
            output.note(f"Watch it at {where['orchestrator']}, hand in more at {where['intake']}")
            output.note(f"Log in as {name} with the password {password}, for this run only")
            yield check


def stay(check: Callable[[], object]) -> None:
    """Return when the person presses Ctrl-C; raises what check raises."""
    output.note("All of it stays up: press Ctrl-C to stop it")
    try:
        while True:
            check()
            time.sleep(LOOK_EVERY)
    except KeyboardInterrupt:
        return


def _write_user(file: Path, name: str, password: str) -> None:
    from forebay_apps.web.users import Users

    Users(file).put(name, "admin", password)


def _variables(users_file: Path, agent: str) -> Mapping[str, str]:
    from forebay.storage import ROOTS, named_roots

    return {
        **MADE_UP_RATE,
        **os.environ,
        ROOTS: named_roots(),
        "FOREBAY_LOGIN": "password",
        "FOREBAY_USERS": str(users_file),
        "FOREBAY_INTAKE_AGENTS": agent,
    }


def _address(program: background.Program) -> str:
    """Return where an app answers, which it logs as soon as it listens."""
    give_up_at = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < give_up_at:
        for line in program.log.read_text(errors="replace").splitlines():
            if line.startswith("{") and (said := json.loads(line)).get("event") == "serving":
                return f"http://{said['host']}:{said['port']}"
        program.check()
        time.sleep(LOOK_EVERY)
    raise Refused(f"A web app did not start within {SECONDS_TO_START} s: see {program.log}.")
