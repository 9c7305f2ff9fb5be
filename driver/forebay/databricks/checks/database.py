"""The database: a login, the schema, the roles, and a notification that really arrives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import suppress

import psycopg

from forebay import schema
from forebay.calls import viewer
from forebay.databricks.findings import Case, Finding, missing, ok, told
from forebay.databricks.login import words
from forebay.databricks.principals import CALLERS
from forebay.errors import ConnectError, ForebayError
from forebay.listen import PROBE_SECONDS, Listener
from forebay.memberships import lacking
from forebay.pool import Database
from forebay.settings import DATABASE_URL

LISTEN_SECONDS = 10


def database(case: Case) -> Iterator[Finding]:
    """Connect with a credential of the workspace; then schema, roles, and a real notification."""
    url = case.setting(DATABASE_URL)
    if not url:
        yield missing("database", f"{DATABASE_URL} is not set: set it to lakebase:projects/...")
        return
    here = Database(url, application_name="forebay doctor")
    try:
        here.connect().close()
    except ConnectError as error:
        yield told("database", error)
        return
    yield _database(here, case)
    yield _schema(here)
    said = lacking(here, CALLERS[case.part])
    yield (
        missing("roles", f"{said} 'forebay databricks bootstrap' does it")
        if said
        else ok("roles", f"acts as {', '.join(f'forebay_{one}' for one in CALLERS[case.part])}")
    )
    yield _listen(here)


def _database(here: Database, case: Case) -> Finding:
    """Say who is connected, and to what, as far as this part may see it."""
    is_open = True
    if "viewer" in CALLERS[case.part]:
        with suppress(ForebayError, psycopg.Error), here.connect() as connection:
            is_open = viewer.health(connection).may_dispatch
    if is_open:
        return ok("database", f"connected as {case.who}")
    said = f"connected as {case.who}, to a branch or a copy that is not open: nothing starts in it"
    return missing(
        "database", f"{said} until 'forebay branch open' or open_installation() opens it"
    )


def _schema(here: Database) -> Finding:
    try:
        with here.connect() as connection:
            schema.check_compatible(connection)
            return ok("schema", "this driver can use it")
    except schema.SchemaError as error:
        return missing("schema", words(error))


def _listen(here: Database) -> Finding:
    """Have a notification to itself really arrive."""
    woken = threading.Event()
    listener = Listener(here, woken.set)
    listener.start()
    try:
        woken.wait(LISTEN_SECONDS)
    finally:
        listener.ask_to_stop()
    if woken.is_set():
        return ok("listen", "a notification arrives")
    return missing(
        "listen",
        f"no notification arrives within {PROBE_SECONDS:g} s: name the direct host, not a pooler;"
        " until then work is found by polling",
    )
