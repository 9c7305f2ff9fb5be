"""The stream of hints to one browser (Server-Sent Events): bounded in time, memory and patience."""

import asyncio
import json
import time
from collections import Counter

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from forebay_apps.live.hub import Hub

END_AFTER = 90.0  # seconds: platforms cut requests at 120
PING_EVERY = 15.0
SEND_SECONDS = 5.0  # a browser that takes nothing for so long is given up
MOST_STREAMS = 500
MOST_OF_A_PERSON = 100  # so that nobody takes all of them
HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]

router = APIRouter()


@router.get("/events")
async def events(request: Request) -> Response:
    hub: Hub = request.app.state.hub
    name: str = request.state.person.name
    if hub.streams >= MOST_STREAMS or hub.streams_of[name] >= MOST_OF_A_PERSON:
        return PlainTextResponse("Too many streams: poll.", 503, {"Retry-After": "30"})
    return EventStream(hub, name)


class EventStream(Response):
    """Send one `hint` for any number of changes, until the browser leaves or the time is up."""

    def __init__(self, hub: Hub, name: str) -> None:
        self._hub = hub
        self._name = name
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._hub.streams_of[self._name] += 1
        leaving = asyncio.create_task(_left(receive))
        streaming = asyncio.create_task(self._stream(send))
        try:
            await asyncio.wait({leaving, streaming}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._hub.streams_of -= Counter([self._name])
            for task in (leaving, streaming):
                task.cancel()
            await asyncio.gather(leaving, streaming, return_exceptions=True)

    async def _stream(self, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": HEADERS}
        async with asyncio.timeout(SEND_SECONDS):
            await send(start)
        end_at = time.monotonic() + END_AFTER
        seen = self._hub.hints
        await self._send(send, f"retry: 1000\n{self._event('hint')}")
        while not self._hub.is_closing and time.monotonic() < end_at:
            if self._hub.hints == seen:
                await self._hub.wait(min(PING_EVERY, max(0.0, end_at - time.monotonic())))
            name = "ping" if self._hub.hints == seen else "hint"
            seen = self._hub.hints
            await self._send(send, self._event(name))
        await self._send(send, "", is_last=True)

    def _event(self, name: str) -> str:
        said = {"version": self._hub.version, "is_listening": self._hub.is_listening}
        return f"event: {name}\ndata: {json.dumps(said)}\n\n"

    async def _send(self, send: Send, text: str, *, is_last: bool = False) -> None:
        message = {"type": "http.response.body", "body": text.encode(), "more_body": not is_last}
        async with asyncio.timeout(SEND_SECONDS):
            await send(message)


async def _left(receive: Receive) -> None:
    """Return when the browser has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
