"""Make a new data directory, whole or not at all."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
from pathlib import Path

from forebay.embedded import binaries, programs
from forebay.embedded.binaries import EmbeddedPostgresError
from forebay.embedded.data_dir import DataDir


def create(data_dir: DataDir, bindir: Path, user: pwd.struct_passwd, superuser: str) -> None:
    """Run initdb beside the data directory and move the result there.

    The superuser's password for TCP is generated into the file `pgpass` of the data directory.
    Raises EmbeddedPostgresError.
    """
    _check_place(data_dir.path, user)
    draft, pgpass = data_dir.beside(".new"), data_dir.beside(".pgpass")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(mode=0o700)
    password = secrets.token_urlsafe(32)
    with open(os.open(pgpass, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(password)
    for path in (draft, pgpass):
        os.chown(path, user.pw_uid, user.pw_gid)
    initdb = (bindir / "initdb", "-D", draft, "-U", superuser, "--pwfile", pgpass)
    auth = ("--auth-local=trust", "--auth-host=scram-sha-256")
    programs.run(user, *initdb, *auth, "-E", "UTF8", "--locale=C.UTF-8", about=data_dir.path)
    pgpass.write_text(f"*:*:*:{superuser}:{password}\n")
    pgpass.rename(draft / "pgpass")
    draft.rename(data_dir.path)


def _check_place(path: Path, user: pwd.struct_passwd) -> None:
    if path.exists() and any(path.iterdir()):
        raise EmbeddedPostgresError(
            f"{path} holds files that are not a Postgres data directory:"
            " pass an empty or new folder."
        )
    if os.geteuid() == 0 and not binaries.reachable(path.parent, user.pw_uid, user.pw_gid):
        raise EmbeddedPostgresError(
            f"User {user.pw_name}, which runs Postgres for root, cannot enter"
            f" {path.parent}: pass a folder such as /var/lib/forebay/pg."
        )
