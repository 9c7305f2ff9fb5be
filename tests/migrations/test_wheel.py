"""The wheel carries the SQL, and installs the schema from itself."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from forebay import schema
from forebay.schema.files import load, sql_root
from migrations.conftest import Psql

CHECKOUT = Path(__file__).parents[2]


def run(*command: object, pythonpath: Path | None = None) -> str:
    environment = os.environ | ({"PYTHONPATH": str(pythonpath)} if pythonpath else {})
    done = subprocess.run(
        [str(word) for word in command],
        check=False,
        capture_output=True,
        text=True,
        cwd="/",
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_holds_every_sql_file(wheel: Path) -> None:
    """Each file that upgrade applies is in the wheel as it is on disk, and psql's scripts too."""
    with zipfile.ZipFile(wheel) as archive:
        for file in load():
            assert archive.read(f"forebay/db/{file.name}").decode() == file.sql
        names = set(archive.namelist())
    scripts = [*sql_root().glob("*.sql"), *sql_root().glob("install/*.sql")]
    assert {f"forebay/db/{path.relative_to(sql_root())}" for path in scripts} <= names


def test_the_wheel_holds_what_agents_read(wheel: Path) -> None:
    """The words of the rules and the prompts of the models are in the wheel."""
    agents = CHECKOUT / "agents"
    texts = [*agents.rglob("*.toml"), *agents.rglob("*.md")]
    assert len(texts) > 8
    with zipfile.ZipFile(wheel) as archive:
        assert {str(path.relative_to(agents)) for path in texts} <= set(archive.namelist())


def test_the_wheel_installs_the_schema_from_itself(site: Path, dsn: str, psql: Psql) -> None:
    """An installed wheel upgrades a database with its own files; its install.sql agrees."""
    print_root = "from forebay.schema.files import sql_root; print(sql_root())"
    assert run(sys.executable, "-c", print_root, pythonpath=site).strip() == f"{site}/forebay/db"
    upgrade = f"from forebay.schema import upgrade; print(len(upgrade({dsn!r})))"
    assert int(run(sys.executable, "-c", upgrade, pythonpath=site)) > 3
    assert schema.plan(dsn) == []
    done = psql(dsn, site / "forebay/db/install.sql")
    assert done.returncode == 0, done.stderr
    assert "apply" not in done.stdout
