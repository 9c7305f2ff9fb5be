"""Log in with a password, and what a session is: a signed cookie that names the person."""

import threading
import time
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request
from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from forebay.logs import EventLog
from forebay_apps.web.pages import page
from forebay_apps.web.people import Person
from forebay_apps.web.users import User, Users

log = EventLog(__name__)

SESSION_SECONDS = 12 * 3600
FREE_TRIES = 5  # wrong passwords before the first wait
LONGEST_WAIT = 60.0  # seconds
FORGET_AFTER = 900.0  # seconds since the last wrong password

router = APIRouter()


class PasswordIdentification:
    """Know people by the session that the login page gave them."""

    has_login_page = True

    def __init__(self, users: Users, key: str, app_name: str) -> None:
        self.users = users
        self.tries = Tries()
        self.cookie = f"forebay_{app_name}"
        self._signer = URLSafeTimedSerializer(key, salt=self.cookie)

    def identify(self, request: HTTPConnection) -> Person | None:
        """Return whose session it is; a new password, a new role or a removal count at once."""
        try:
            said = self._signer.loads(request.cookies.get(self.cookie, ""), SESSION_SECONDS)
        except BadSignature:
            return None
        user = self.users.all().get(said["name"])
        return user.person if user and user.stamp == said["stamp"] else None

    def begin(self, request: Request, response: Response, user: User) -> None:
        """Give the browser a session."""
        response.set_cookie(
            self.cookie,
            self._signer.dumps({"name": user.name, "stamp": user.stamp}),
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )


class Tries:
    """Make guessing slow: after a few wrong passwords each further one has to wait, ever longer."""

    def __init__(self) -> None:
        self._wrong: dict[str, tuple[int, float]] = {}
        self._lock = threading.Lock()

    def wait(self, *keys: str) -> float:
        """Return for how many seconds nothing is tried for these keys."""
        with self._lock:
            return max(self._wait(key) for key in keys)

    def wrong(self, *keys: str) -> None:
        """Count a wrong password."""
        now = time.monotonic()
        with self._lock:
            for key, (_, at) in list(self._wrong.items()):
                if now - at > FORGET_AFTER:
                    del self._wrong[key]
            for key in keys:
                self._wrong[key] = (self._wrong.get(key, (0, 0.0))[0] + 1, now)

    def right(self, *keys: str) -> None:
        """Forget the wrong ones before it."""
        with self._lock:
            for key in keys:
                self._wrong.pop(key, None)

    def _wait(self, key: str) -> float:
        count, at = self._wrong.get(key, (0, 0.0))
        pause = min(2.0 ** (count - FREE_TRIES), LONGEST_WAIT) if count >= FREE_TRIES else 0.0
        return max(0.0, at + pause - time.monotonic())


@router.get("/login")
def login_page(request: Request, next: str = "/") -> Response:
    return _form(request, next)


@router.post("/login")
def log_in(
    request: Request,
    name: Annotated[str, Form(max_length=200)],
    password: Annotated[str, Form(max_length=1000)],
    next: Annotated[str, Form()] = "/",
) -> Response:
    identification: PasswordIdentification = request.app.state.identification
    keys = (f"name {name}", f"address {request.client.host if request.client else ''}")
    if wait := identification.tries.wait(*keys):
        sentence = f"Too many wrong passwords: wait {wait:.0f} s, then try again."
        return _form(request, next, name, sentence, 429)
    user = identification.users.checked(name, password)
    if user is None:
        identification.tries.wrong(*keys)
        log.warning("login_refused", name=name)
        return _form(request, next, name, "The name or the password is wrong.", 401)
    identification.tries.right(*keys)
    log.info("login", name=name)
    response = RedirectResponse(local(next), 303)
    identification.begin(request, response, user)
    return response


@router.post("/logout")
def log_out(request: Request) -> Response:
    response = RedirectResponse("/login", 303)
    response.delete_cookie(request.app.state.identification.cookie)
    return response


def local(address: str) -> str:
    """Return a path of this app to go to, and / for any other address."""
    parts = urlsplit(address)
    is_local = address.startswith("/") and not parts.scheme and not parts.netloc
    return address if is_local and not address.startswith(("//", "/\\")) else "/"


def _form(
    request: Request, next: str, name: str = "", sentence: str | None = None, status: int = 200
) -> Response:
    values: Mapping[str, Any] = {"next": local(next), "name": name, "sentence": sentence}
    return page(request, "login.html", status=status, **values)
