"""The daemon: claim what there is room for, launch it, keep its leases, see how it ends.

Any number of daemons run side by side; each works in small steps, and what follows from what it saw
is the answer of a stored function. A notification wakes it early, polling alone is enough.
"""

from forebay.daemon.loop import Daemon, run_until_signalled
from forebay.daemon.pace import Pace

__all__ = ["Daemon", "Pace", "run_until_signalled"]
