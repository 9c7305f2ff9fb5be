"""Serve one of the apps with uvicorn, and stop within 3 seconds also while streams are open."""

import gc
import signal
import socket
from types import FrameType

import uvicorn
from fastapi import FastAPI

from forebay.errors import ForebayError
from forebay.logs import EventLog

log = EventLog(__name__)

GRACE_SECONDS = 2  # for answers that are being sent
STALLED_MS = 20_000  # a browser that acknowledges nothing for so long is cut off


class ServeError(ForebayError):
    """The app cannot be served there: the message says why."""


class Server(uvicorn.Server):
    """uvicorn's server, which ends the streams of hints as soon as it is to stop."""

    def __init__(self, config: uvicorn.Config, app: FastAPI) -> None:
        super().__init__(config)
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal: streams end now, what else is being answered has its grace.

        A second Ctrl-C ends at once. The signal is not raised again: stopping so is no failure.
        """
        self._app.state.begin_stop()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End what is being answered, and meanwhile what works beside the pages."""
        for part in self._app.state.parts:
            part.begin_stop()
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one. Raises ServeError."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.create_server((host, port), family=family, backlog=512)
    except OSError as error:
        raise ServeError(
            f"Cannot listen on {host} port {port} ({error.strerror}): choose another."
        ) from None
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS)
    return found


def server(app: FastAPI) -> Server:
    """Return the server for an app; `run(sockets=[listening(…)])` serves until it is stopped."""
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
        proxy_headers=False,
    )
    return Server(config, app)


def serve(app: FastAPI, at: socket.socket) -> None:
    """Serve until SIGTERM or Ctrl-C."""
    host, port = at.getsockname()[:2]
    name, people = app.state.site.name, app.state.identification
    if people.has_login_page and not people.users.all():
        log.warning("nobody_can_log_in", app=name, hint="forebay user add NAME --role ROLE")
    address = f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
    log.info("serving", app=name, host=host, port=port, address=address)
    server(app).run(sockets=[at])
    log.info("stopped", app=name)
    gc.freeze()  # looking through all that was loaded would take longer than all of the above
