"""Do the same for many things, a few at a time: what waits for others, such as requests."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

AT_ONCE = 8
LONGEST = 5.0  # seconds after which no other is begun: whoever waits for the rest has more to do


def side_by_side(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    *,
    end_at: type[Exception],
) -> list[tuple[Item, Result | Exception]]:
    """Return what the work gave for each item, or raised for it, in the order of their ends.

    Once it raises `end_at` for one, or after five seconds, no other is begun; those are left out of
    the answer. What is no Exception is raised. The threads hold up no end of the process.
    """
    give_up_at = time.monotonic() + LONGEST
    waiting = list(items)[::-1]
    done: list[tuple[Item, Result | Exception]] = []
    raised: list[BaseException] = []

    def take() -> None:
        while waiting and time.monotonic() < give_up_at:
            try:
                item = waiting.pop()
            except IndexError:  # another one took the last
                return
            try:
                done.append((item, work(item)))
            except Exception as error:
                done.append((item, error))
                if isinstance(error, end_at):
                    waiting.clear()
            except BaseException as error:
                raised.append(error)
                waiting.clear()

    helpers = [
        threading.Thread(target=take, daemon=True) for _ in range(min(AT_ONCE, len(waiting)) - 1)
    ]
    for helper in helpers:
        helper.start()
    take()
    for helper in helpers:
        helper.join()
    if raised:
        raise raised[0]
    return done
