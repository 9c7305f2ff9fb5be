"""The documents say what is in the database and on the command line, no less and no more."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType

import psycopg
import pytest
import typer
from typer.core import TyperGroup

from forebay import __version__, errors
from forebay.cli import app
from forebay.settings import DATABASE_URL, LOG_LEVEL
from forebay_apps.web.app import Site
from forebay_apps.web.pages import PageRoute

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
OPERATING = (DOCS / "operating.md").read_text()
LIMITS = (DOCS / "limits.md").read_text()
APPS = (DOCS / "apps.md").read_text()
DATABRICKS = (DOCS / "databricks.md").read_text()
DB_README = (ROOT / "db" / "README.md").read_text()
PARTS = ["driver", "agents", "apps"]
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "db" / "README.md", *DOCS.glob("*.md")]


def build_functions() -> ModuleType:
    """Import the script that writes docs/functions.md."""
    spec = importlib.util.spec_from_file_location("build_functions", DOCS / "build_functions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands(command: object, name: str) -> Iterator[str]:
    """Yield the full name of every command below this one."""
    if not isinstance(command, TyperGroup):
        yield name
        return
    for part, each in command.commands.items():
        yield from commands(each, f"{name} {part}")


def test_the_functions_page_is_current() -> None:
    """`make docs` would change nothing."""
    assert (DOCS / "functions.md").read_text() == build_functions().functions_page()


def test_every_public_function_and_its_comment_is_described(db: psycopg.Connection) -> None:
    """The page has a section for each function that a caller may execute, and for no other."""
    page = (DOCS / "functions.md").read_text()
    public = dict(
        db.execute(
            "select proname::text, obj_description(oid, 'pg_proc') from pg_proc"
            " where pronamespace = 'forebay'::regnamespace and proname !~ '^_'"
        ).fetchall()
    )
    assert set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) == set(public)
    for name, comment in public.items():
        assert f"### {name}\n\n{comment}" in page


def test_every_row_type_is_described_with_its_columns(db: psycopg.Connection) -> None:
    """The columns on the page are those of the catalog, in order, whatever migration made them."""
    page = (DOCS / "functions.md").read_text()
    returned = db.execute(
        """
        select c.relname::text, (
            select string_agg(
                a.attname || ' ' || format_type(a.atttypid, null), ', ' order by a.attnum
            )
            from pg_attribute as a where a.attrelid = c.oid
        )
        from pg_class as c
        where c.relnamespace = 'forebay'::regnamespace and c.relkind = 'c' and exists (
            select from pg_proc as p where p.prorettype = c.reltype and p.proname !~ '^_'
        )
        """
    ).fetchall()
    assert len(returned) > 10
    for name, columns in returned:
        short = columns.replace("timestamp with time zone", "timestamptz")
        assert re.search(rf"\*\*{name}\*\*: [^\n]*\n  `{re.escape(short)}`", page), name


def test_every_command_is_described() -> None:
    """docs/operating.md names each command of the program, and none that is not there."""
    program = set(commands(typer.main.get_command(app), "forebay"))
    table = OPERATING[OPERATING.index("## Commands") : OPERATING.index("## Backups")]
    assert set(re.findall(r"`(forebay [a-z -]+)`", table)) == program


def test_settings_are_described() -> None:
    """Every FOREBAY_ variable that the code reads stands in a table, once, and no other does."""
    read = {DATABASE_URL, LOG_LEVEL}
    for path in chain.from_iterable(ROOT.glob(f"{part}/**/*.py") for part in PARTS):
        read |= set(re.findall(r"\"(FOREBAY_[A-Z_]+)\"", path.read_text()))
    tables = re.findall(r"^\| (`FOREBAY_[^|]*) \|", OPERATING + APPS + DATABRICKS, re.MULTILINE)
    described = re.findall(r"`(FOREBAY_\w+)`", "".join(tables))
    assert sorted(described) == sorted(read)


@pytest.fixture(params=["intake", "orchestrator"])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    """Return what is particular to one of the web apps."""
    settings = {"FOREBAY_HOME": str(tmp_path), "FOREBAY_DATABASE_URL": "postgresql://nowhere/x"}
    made = import_module(f"forebay_apps.{request.param}.app").create_app(settings)
    return made.state.site


def test_every_page_is_described(site: Site) -> None:
    """docs/apps.md has a line for each page of the app, by its address, and for no other."""
    chapter = APPS[APPS.index(f"## {site.name.capitalize()}") :].split("\n## ")[0]
    rows = "".join(re.findall(r"^\| (`/[^|]*) \|", chapter, re.MULTILINE))
    routes = chain.from_iterable(router.routes for router in site.routers)
    pages = sorted(route.path for route in routes if isinstance(route, PageRoute))
    assert sorted(re.findall(r"`([^`]*)`", rows)) == pages


def test_the_apps_logins_are_members_of_what_they_act_as(site: Site) -> None:
    """docs/operating.md gives an app's login its roles, and the orchestrator's its daemon's too."""
    login = re.search(rf"create role forebay_app_{site.name} ([^;]*);", OPERATING)
    assert login is not None
    daemon = {"worker", "agent"} if site.name == "orchestrator" else set()
    assert set(re.findall(r"forebay_(\w+)", login[1])) == set(site.roles) | daemon


def test_error_codes_are_those_of_the_functions(db: psycopg.Connection) -> None:
    """The table has every code that leaves a function, with the class that Python raises."""
    table = re.findall(r"^\| ([0-9A-Z]{5}) \| .* \| (?:`(\w+)`)? ?\|$", DB_README, re.MULTILINE)
    bodies = [
        body
        for (body,) in db.execute(
            "select prosrc from pg_proc where pronamespace = 'forebay'::regnamespace"
        )
    ]
    raised = {code for body in bodies for code in re.findall(r"errcode = '(\w{5})'", body)}
    caught = {code for body in bodies for code in re.findall(r"when sqlstate '(\w{5})'", body)}
    assert {code for code, _ in table} == raised - caught
    classes = {code: cls.__name__ for code, cls in errors.BY_SQLSTATE.items()}
    assert {code: name for code, name in table if name} == classes


def test_policies_are_those_of_the_table(db: psycopg.Connection) -> None:
    """docs/limits.md tells of each kind of error what forebay.error_policies decides."""
    rows = db.execute(
        """
        select
            p.kind, case when p.is_final then 'failed' else 'again' end,
            case when p.spends_attempt then 'spent' else 'not spent' end, p.pauses,
            case
                when p.is_final then ''
                when p.default_wait is null then 'backoff'
                else extract(epoch from p.default_wait)::integer || ' seconds'
            end, p.note
        from forebay.error_policies as p
        """
    )
    table = re.findall(r"^\| `(\w+)` \|" + r" ?([^|]*?) \|" * 5 + "$", LIMITS, re.MULTILINE)
    assert sorted(table) == sorted(rows.fetchall())


def test_roles_are_those_of_the_database(db: psycopg.Connection) -> None:
    """The table in db/README.md names every role of the installation, and no other."""
    rows = db.execute(
        "select rolname from pg_roles where rolname ~ '^forebay_' and not rolcanlogin"
    )
    assert set(re.findall(r"^\| `(forebay_\w+)` \|", DB_README, re.MULTILINE)) == {
        name for (name,) in rows
    }


@pytest.mark.parametrize("page", [OPERATING, LIMITS, DB_README], ids=["operating", "limits", "db"])
def test_the_sql_of_the_pages_runs(superuser: psycopg.Connection, page: str) -> None:
    """A DBA can paste each block of SQL; the roles that it makes are taken back here."""
    blocks = re.findall(r"^```sql\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert blocks
    with superuser.transaction(force_rollback=True):
        for block in blocks:
            superuser.execute(block)


def test_intervals_are_seconds(db: psycopg.Connection) -> None:
    """A day is 24 hours and a month 30 days, in every time zone, as db/README.md says."""
    row = db.execute("select forebay._exact('1 day')::text, forebay._exact('1 month')::text")
    assert row.fetchone() == ("24:00:00", "720:00:00")


def test_the_changelog_begins_with_this_release() -> None:
    """The newest entry is the version of the package, headed by its three lines."""
    text = (ROOT / "CHANGELOG.md").read_text()
    entry = re.search(r"^## \[(.+)\] - \d{4}-\d\d-\d\d\n\n- Migrations: .*\n- Breaks: ", text, re.M)
    assert entry is not None
    assert entry[1] == __version__
    assert "\n- The operator: " in text


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    """A relative link names a file, and a heading that is there."""
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", page.read_text()):
        path = page.parent / target if target else page
        assert path.exists(), target
        headings = re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE) if anchor else []
        slugs = [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]
        assert not anchor or anchor in slugs, anchor
