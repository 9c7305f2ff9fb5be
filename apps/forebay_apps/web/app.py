"""Build an app: its parts, its pages, the guard before them and the errors after them."""

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from fastapi import APIRouter, FastAPI, Request
from starlette.responses import PlainTextResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from forebay import __version__
from forebay.pool import Database
from forebay.settings import Settings
from forebay_apps.live import stream
from forebay_apps.live.hub import Hub
from forebay_apps.live.snapshots import Snapshots
from forebay_apps.web import errors, login
from forebay_apps.web.database import Connections
from forebay_apps.web.guard import Guard
from forebay_apps.web.people import (
    DatabricksIdentification,
    Identification,
    ProxyIdentification,
    Role,
)
from forebay_apps.web.rendering import KIT, environment, failed
from forebay_apps.web.settings import WebSettings
from forebay_apps.web.tracing import Tracing
from forebay_apps.web.users import Users


class Part(Protocol):
    """Something that works beside the pages.

    `begin_stop` asks it to end, as soon as the app is to end, and returns at once; `stop` asks too,
    and waits for the end, within a bound.
    """

    def start(self) -> None: ...

    def begin_stop(self) -> None: ...

    def stop(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Site:
    """What is particular to one of the apps; its folder holds templates/ and perhaps static/."""

    name: str
    title: str
    folder: Path
    routers: Sequence[APIRouter]
    nav: Sequence[tuple[str, str, Role]] = ()  # label, path, the least role that sees it
    needs: Role = "submitter"  # to get in at all
    elsewhere: str = ""  # what those who may not get in are told
    roles: Sequence[str] = ()  # that its login acts as
    open_paths: Sequence[str] = ()  # exact paths that see to themselves who may ask

    @property
    def static(self) -> Path:
        return self.folder / "static"


class Static(StaticFiles):
    """Files that a browser may keep for a year under the address that names their content.

    Under another release's address they may not be kept: during a change both are asked.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        named = scope["query_string"].decode("latin-1").removeprefix("v=")
        is_named = named == fingerprint(Path(self.lookup_path(path)[0]))
        response.headers["Cache-Control"] = (
            "public, max-age=31536000, immutable" if is_named else "no-cache"
        )
        return response


def build(
    site: Site,
    variables: Mapping[str, str] = os.environ,
    parts: Callable[[FastAPI], Sequence[Part]] = lambda app: (),
) -> FastAPI:
    """Return the app; it connects to the database when it is first asked something.

    app.state has: settings (WebSettings), variables, database, connections, hub, snapshots,
    identification, templates, site.
    """
    app = FastAPI(title=site.title, lifespan=_lifespan, openapi_url=None, redirect_slashes=False)
    state = app.state
    state.site, state.variables = site, variables
    state.settings = WebSettings.read(variables)
    state.database = Database(
        Settings.read(variables).database_url, application_name=f"forebay {site.name}"
    )
    tracing = state.tracing = Tracing.of(variables, f"forebay-{site.name}")
    state.connections = Connections(state.database, tracing.configure if tracing else None)
    state.hub = Hub(state.database)
    state.snapshots = Snapshots(state.hub)
    state.identification = _identification(state.settings, site.name)
    state.templates = environment([site.folder / "templates"])
    state.templates.globals["asset"] = _Assets({"": KIT / "static", f"{site.name}/": site.static})
    state.templates.globals["version"] = __version__
    state.parts = parts(app)
    state.begin_stop = state.hub.begin_stop
    _add_routes(app, site)
    for kind in (*errors.HANDLED, Exception):
        app.add_exception_handler(kind, _failed)
    app.add_middleware(Guard, site.open_paths, site.needs, site.elsewhere, state.hub.changed)
    if tracing:
        app.add_middleware(tracing.middleware)  # the outermost
    return app


async def _failed(request: Request, error: Exception) -> Response:
    """Answer in the loop: it takes no thread, of which a slow database may have all."""
    return failed(request, error)


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    parts = [*app.state.parts, app.state.hub]
    for part in parts:
        part.start()
    try:
        yield
    finally:
        for part in reversed(parts):
            part.stop()
        app.state.connections.close()
        if app.state.tracing:
            app.state.tracing.close()


def _identification(settings: WebSettings, app_name: str) -> Identification:
    if settings.login == "databricks":
        return DatabricksIdentification(settings.names)
    if settings.login == "proxy":
        return ProxyIdentification(settings.proxy_header, settings.proxies, settings.names)
    users, key = Users(settings.users_file), settings.session_key
    return login.PasswordIdentification(users, key, app_name, settings.proxies)


def _add_routes(app: FastAPI, site: Site) -> None:
    if site.static.is_dir():
        app.mount(f"/static/{site.name}", Static(directory=site.static))
    app.mount("/static", Static(directory=KIT / "static"))
    if app.state.identification.has_login_page:
        app.include_router(login.router)
    app.include_router(stream.router)
    for router in site.routers:
        app.include_router(router)

    @app.get("/healthz")
    async def healthz() -> Response:
        """Answer as long as the process serves."""
        return PlainTextResponse("ok\n")


def fingerprint(path: Path) -> str:
    """Return what names the content of a static file, as it is now."""
    found = path.stat()
    return _fingerprint(path, found.st_mtime_ns, found.st_size)


@lru_cache
def _fingerprint(path: Path, _changed: int, _size: int) -> str:
    return sha256(path.read_bytes()).hexdigest()[:12]


class _Assets:
    """asset("live.js") in a template: the address of a static file, which names its content."""

    def __init__(self, folders: Mapping[str, Path]) -> None:
        self._folders = folders

    def __call__(self, name: str) -> str:
        prefix = max((each for each in self._folders if name.startswith(each)), key=len)
        path = self._folders[prefix] / name.removeprefix(prefix)
        return f"/static/{name}?v={fingerprint(path)}"
