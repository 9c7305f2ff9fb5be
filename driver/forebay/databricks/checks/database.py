"""The database: a login, the schema, the roles, and a notification that really arrives."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from forebay import schema
from forebay.databricks.findings import Case, Finding, missing, ok
from forebay.databricks.login import words
from forebay.databricks.principals import CALLERS
from forebay.errors import ConnectError
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
        yield missing("database", words(error))
        return
    yield ok("database", f"connected as {case.who}")
    yield _schema(here)
    said = lacking(here, CALLERS[case.part])
    yield (
        missing("roles", f"{said} 'forebay databricks bootstrap' does it")
        if said
        else ok("roles", f"acts as {', '.join(f'forebay_{one}' for one in CALLERS[case.part])}")
    )
    yield _listen(here)


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
