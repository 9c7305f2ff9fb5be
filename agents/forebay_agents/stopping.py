"""Stop an attempt that is no longer wanted or has no time left, also while something blocks."""

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import TypeVar

from forebay.agent import Attempt, Retry

LOOK_EVERY = 0.1
"""Seconds between two looks at whether to stop."""

T = TypeVar("T")


def check(attempt: Attempt, where: str) -> None:
    """Raise Retry if the attempt is to stop; `where` tells how far it was: "at page 3 of 9"."""
    if attempt.cancelled():
        raise Retry(f"Stopped on request {where}.")
    if attempt.seconds_left() <= 0:
        raise Retry(f"The attempt's time was over {where}.", kind="timeout")


def wait_for(
    attempt: Attempt, where: str, function: Callable[[], T], seconds: float = math.inf
) -> T:
    """Return what `function` returns, from a thread of its own that is left behind on a stop.

    Raises Retry when the attempt is to stop, TimeoutError when `seconds` are over, and whatever
    the function raises.
    """
    end = time.monotonic() + seconds
    future: Future[T] = Future()

    def work() -> None:
        try:
            future.set_result(function())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    while not future.done():
        check(attempt, where)
        if time.monotonic() > end:
            raise TimeoutError
        wait([future], timeout=LOOK_EVERY)
    return future.result()
