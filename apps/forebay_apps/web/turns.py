"""Who may do at once what takes long: nobody waits for that in a thread that pages need."""

import math
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, move_on_after, to_thread

from forebay_apps.web.errors import Refusal

Found = TypeVar("Found")

_threads = CapacityLimiter(math.inf)  # who starts one has a turn, and those are bounded


class Turns:
    """So many turns at once, and of these so many for each who asks: the others wait in the loop.

    Who got none within `patience` seconds is told so in `sentence`. Those who ask most wait for
    themselves first, so that others come between.
    """

    def __init__(
        self, at_once: int, patience: float, sentence: str, *, each: int | None = None
    ) -> None:
        self._all = CapacityLimiter(at_once)
        self._each = each or at_once
        self._patience = patience
        self._sentence = sentence
        self._of: WeakValueDictionary[str, CapacityLimiter] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self, who: str) -> AsyncIterator[None]:
        """Hold a turn within the block; raises Refusal (503) when none came in time."""
        own = self._of.setdefault(who, CapacityLimiter(self._each))
        async with AsyncExitStack() as held:
            with move_on_after(self._patience) as waiting:
                for limiter in (own, self._all):
                    await held.enter_async_context(limiter)
            if waiting.cancelled_caught:
                raise Refusal(503, self._sentence)
            yield

    async def run(self, who: str, function: Callable[..., Found], *arguments: object) -> Found:
        """Call the function in a thread as soon as there is a turn; raises Refusal (503)."""
        async with self.turn(who):
            return await in_thread(function, *arguments)


async def in_thread(function: Callable[..., Found], *arguments: object) -> Found:
    """Call the function in a thread of its own, for who has a turn: none that pages share."""
    return await to_thread.run_sync(partial(function, *arguments), limiter=_threads)
