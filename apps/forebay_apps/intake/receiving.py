"""Take a file that arrives in pieces into a storage, and never hold more than a piece of it."""

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from time import monotonic

from anyio import fail_after, from_thread

from forebay.pdf import HEADER_WINDOW, header_problem
from forebay_agents.reading.limits import MEGABYTE
from forebay_apps.web.errors import Refusal
from forebay_apps.web.turns import Turns, in_thread

PATIENCE = 60
"""Seconds that a sender may say nothing."""

LEAST_SPEED = 8_000
"""Bytes a second that a sender must reach on average after the first minute."""

AT_ONCE = 128
"""How many files arrive at a time: each has a thread of its own, which mostly waits."""

PLACE_SECONDS = 5.0
"""How long one more waits for a place; then it is told so, and the page sends it again."""

AT_ONCE_A_PERSON = 8
"""How many one person may send at a time: the page sends three."""

_places = Turns(
    AT_ONCE, PLACE_SECONDS, "Too many files arrive at this moment: send this one again soon."
)
_senders: Counter[str] = Counter()


@asynccontextmanager
async def sending(person: str) -> AsyncIterator[None]:
    """Give a place to a file that a person sends; raises Refusal for one too many."""
    if _senders[person] >= AT_ONCE_A_PERSON:
        raise Refusal(
            429, f"You send {AT_ONCE_A_PERSON} files already: send this one when one is done."
        )
    _senders[person] += 1
    try:
        async with _places.turn(person):
            yield
    finally:
        _senders[person] -= 1
        if not _senders[person]:
            del _senders[person]


async def receive(
    body: AsyncIterator[bytes], write: Callable[[Iterable[bytes]], int], megabytes: int
) -> int:
    """Have `write` take the body piece by piece, and return what it returns.

    The next piece is asked for when the last one is written. Raises Refusal as soon as the file is
    too large or no PDF, TimeoutError when nothing came for a minute or too little since the start,
    and what `write` or the body raises.
    """
    pieces = _checked(body, megabytes)
    started, size = monotonic(), 0

    async def next_piece() -> bytes:
        nonlocal size
        with fail_after(PATIENCE):
            piece = await anext(pieces, b"")
        size += len(piece)
        if piece and size < LEAST_SPEED * (monotonic() - started - PATIENCE):
            raise TimeoutError
        return piece

    def pulled() -> Iterator[bytes]:
        while piece := from_thread.run(next_piece):
            yield piece

    return await in_thread(write, pulled())


def check_size(size: int, megabytes: int) -> None:
    """Raise Refusal for a file of so many bytes, if they are too many."""
    if size > megabytes * MEGABYTE:
        raise Refusal(
            413, f"The file has more than {megabytes:,} MB, which is the limit: split it."
        )


async def _checked(body: AsyncIterator[bytes], megabytes: int) -> AsyncIterator[bytes]:
    """Yield the pieces of a body that begins like a PDF and has no more bytes than allowed."""
    head, size = b"", 0
    async for piece in body:
        size += len(piece)
        check_size(size, megabytes)
        if len(head) < HEADER_WINDOW:
            head += piece[:HEADER_WINDOW]
            if len(head) >= HEADER_WINDOW:
                _check_head(head)
        if piece:
            yield piece
    if size < HEADER_WINDOW:
        _check_head(head)


def _check_head(head: bytes) -> None:
    if problem := header_problem(head):
        raise Refusal(422, f"The file {problem}")
