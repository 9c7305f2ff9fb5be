"""What was released stays: its migrations never change, and it upgrades to today's schema."""

import re
from pathlib import Path

import pytest

from forebay import __version__, schema
from forebay.schema import files
from migrations import catalog
from migrations.conftest import NewDatabase, Psql

FOLDER = Path(__file__).parent / "released"
THIS = FOLDER / f"{__version__}.sql"
RELEASED = sorted({*FOLDER.glob("*.sql"), THIS})
MIGRATION = re.compile(r"values \('(migrations/[^']+)', 'versioned', '([0-9a-f]{64})'")

released = pytest.mark.parametrize("release", RELEASED, ids=lambda path: path.stem)


def test_this_release_is_kept() -> None:
    """The schema of this version is kept beside those of earlier releases."""
    assert THIS.exists(), f"{THIS.name} is missing: `make release-sql` writes it"


@released
def test_a_released_schema_upgrades_to_the_fresh_one(
    new_database: NewDatabase, psql: Psql, release: Path
) -> None:
    """An installation of a release, upgraded, has the catalogs of a new installation."""
    upgraded, fresh = new_database(), new_database()
    done = psql(upgraded, release)
    assert done.returncode == 0, done.stderr
    assert schema.status(upgraded).installed == release.stem
    schema.upgrade(upgraded)
    schema.upgrade(fresh)
    assert schema.verify(upgraded) == []
    assert _without_releases(catalog.read(upgraded)) == _without_releases(catalog.read(fresh))


@released
def test_a_released_migration_never_changes(release: Path) -> None:
    """Every migration of a release is on disk with the sha256 that it was released with."""
    today = {file.name: file.sha256 for file in files.load()}
    frozen = dict(MIGRATION.findall(release.read_text()))
    assert "migrations/0001_create_roles.sql" in frozen
    assert frozen == {name: today.get(name) for name in frozen}


def _without_releases(read: catalog.Catalog) -> catalog.Catalog:
    """Leave out by which release a file was applied: an upgrade keeps the first one."""
    ledger = [
        re.sub(r", '[0-9.]+'\)$", ")", row) for row in read["ledger"] if "'release'" not in row
    ]
    return read | {"ledger": ledger}
