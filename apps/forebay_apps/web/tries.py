"""Make guessing passwords slow."""

import ipaddress
import threading
import time

FREE = 5  # tries before the first wait
LONGEST_WAIT = 60.0  # seconds
FORGET_AFTER = 900.0  # seconds since the last try


class Tries:
    """Count tries by key; after a few, each further one has to wait, ever longer.

    Keys have the address in them, so that nobody can keep another person out by guessing.
    """

    def __init__(self) -> None:
        self._tries: dict[str, tuple[int, float]] = {}
        self._lock = threading.Lock()

    def begin(self, *keys: str) -> float:
        """Count a try; or return for how many seconds there is none, and count nothing.

        It counts before the password is looked at, so that many at once are no way around.
        """
        now = time.monotonic()
        with self._lock:
            self._forget_old(now)
            if wait := max(self._wait(key, now) for key in keys):
                return wait
            for key in keys:
                count, _ = self._tries.get(key, (0, 0.0))
                self._tries[key] = (count + 1, now)
            return 0.0

    def forget(self, *keys: str) -> None:
        """Forget these tries: the last one was right."""
        with self._lock:
            for key in keys:
                self._tries.pop(key, None)

    def _wait(self, key: str, now: float) -> float:
        count, at = self._tries.get(key, (0, 0.0))
        if count < FREE:
            return 0.0
        return max(0.0, at + min(2.0 ** (count - FREE), LONGEST_WAIT) - now)

    def _forget_old(self, now: float) -> None:
        for key, (_, at) in list(self._tries.items()):
            if now - at > FORGET_AFTER:
                del self._tries[key]


def guesser(address: str) -> str:
    """Return what counts as one guesser: an address, of IPv6 the network that one customer has."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else address
