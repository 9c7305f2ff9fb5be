"""Make a branch called fix of a DSN, and die right after one step of it: DSN STEP."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import psycopg
from psycopg import sql

from forebay.branches import Branches
from forebay.calls import upkeep
from forebay.clones import Clones
from forebay.databricks.branches import LakebaseBranches


def dying(real: Any) -> Any:
    """Return what does the same, and then ends this process."""

    def die(*args: Any, **named: Any) -> None:
        real(*args, **named)
        os.kill(os.getpid(), signal.SIGKILL)

    return die


def main(dsn: str, step: str) -> None:
    """Have the step be the last one."""
    if step == "make":
        Clones.make = dying(Clones.make)  # type: ignore[method-assign]
    elif step == "masking":  # all of it, and nothing afterwards
        Clones.cleaning = LakebaseBranches.cleaning = ("select 1",)
        upkeep.finish_branch = dying(upkeep.branch_state)
    elif step in ("vacuum", "create database", "revoke connect"):
        real = psycopg.Connection.execute

        def execute(self: Any, query: Any, *args: Any, **named: Any) -> Any:
            text = query.as_string() if isinstance(query, sql.Composed) else str(query)
            done = real(self, query, *args, **named)
            if text.removeprefix("b'").startswith(step):
                os.kill(os.getpid(), signal.SIGKILL)
            return done

        psycopg.Connection.execute = execute  # type: ignore[method-assign]
    elif step == "mask_data":
        mask = upkeep.mask_data
        upkeep.mask_data = dying(lambda conn: mask(conn, limit=1))
    else:
        setattr(upkeep, step, dying(getattr(upkeep, step)))
    Branches(dsn).create("fix")


if __name__ == "__main__":
    main(*sys.argv[1:])
