"""What requests send: no more than may be, and in time, whoever sends it."""

import asyncio
from contextlib import suppress

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive

FORM_BYTES = 2 * 1024**2
STRANGERS_BYTES = 32 * 1024  # the longest name and password, and an address, percent-encoded
SECONDS = 20.0  # for all of it to arrive
REFUSED_SECONDS = 2.0  # in which the rest of one that was refused is read and thrown away,
REFUSED_BYTES = 4 * 1024**2  # up to so much of it


class Body:
    """The body of a request: what is too large or too slow is refused while it arrives.

    A route that bounds size and time itself lifts these bounds before it reads:
    `request.state.body.lift()`.
    """

    def __init__(self, receive: Receive, headers: Headers, most: int) -> None:
        self.is_whole = headers.get("Content-Length", "0") == "0" and (
            "Transfer-Encoding" not in headers
        )
        self._receive = receive
        self._size = 0
        self._announced = int(headers.get("Content-Length", 0))
        self._most: int | None = most
        self._ends_at = asyncio.get_running_loop().time() + SECONDS

    def lift(self) -> None:
        """Let any size and time pass."""
        self._most = None

    async def receive(self) -> Message:
        """Receive the next message; raises HTTPException (408, 413)."""
        if self._most is None or self.is_whole:
            return self._noted(await self._receive())
        self._check(self._announced, self._most)
        try:
            async with asyncio.timeout_at(self._ends_at):
                message = self._noted(await self._receive())
        except TimeoutError:
            raise HTTPException(408, f"It did not arrive within {SECONDS:.0f} seconds.") from None
        self._check(self._size, self._most)
        return message

    async def drain(self) -> None:
        """Throw away what still comes, for a moment.

        Where a connection is closed with something unread, its other end may lose the answer.
        """
        most = self._size + REFUSED_BYTES
        with suppress(TimeoutError):
            async with asyncio.timeout(REFUSED_SECONDS):
                while not self.is_whole and self._size < most:
                    if self._noted(await self._receive())["type"] == "http.disconnect":
                        return

    def _noted(self, message: Message) -> Message:
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            self.is_whole = not message.get("more_body", False)
        return message

    def _check(self, size: int, most: int) -> None:
        if size > most:
            raise HTTPException(413, f"It is larger than {most:,} bytes: send less.")
