"""Run a private Postgres in a folder: for the demo, for tests, and for a laptop.

    dsn = Server(default_data_dir()).start()

The server listens on a socket inside its data directory, which only its owner can enter; on TCP
only when a port is asked for, and then with a generated password that stands in the file `pgpass`
of the data directory. Postgres refuses to run as root: then it runs as the data directory's owner,
or for a new one as `postgres` or `nobody`. Linux only.
"""

from forebay.embedded.binaries import EmbeddedPostgresError
from forebay.embedded.server import SUPERUSER, Server, Status, default_data_dir

__all__ = ["SUPERUSER", "EmbeddedPostgresError", "Server", "Status", "default_data_dir"]
