"""Log in with a password, and what a session is: a signed cookie that names the person."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from itsdangerous import BadSignature, URLSafeTimedSerializer
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from forebay.logs import EventLog
from forebay_apps.web.pages import local, page
from forebay_apps.web.people import Person
from forebay_apps.web.proxies import address, is_encrypted
from forebay_apps.web.settings import Network
from forebay_apps.web.tries import Tries, guesser
from forebay_apps.web.users import User, Users

log = EventLog(__name__)

SESSION_SECONDS = 12 * 3600

router = APIRouter()


class PasswordIdentification:
    """Know people by the session that the login page gave them."""

    has_login_page = True

    def __init__(
        self, users: Users, key: str, app_name: str, proxies: tuple[Network, ...] = ()
    ) -> None:
        self.users = users
        self.proxies = proxies
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
            secure=is_encrypted(request, self.proxies),
        )


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
    where = guesser(address(request, identification.proxies))
    if wait := identification.tries.begin(where, f"{where} {name}"):
        sentence = f"Too many wrong passwords: wait {wait:.0f} s, then try again."
        return _form(request, next, name, sentence, 429)
    user = identification.users.checked(name, password)
    if user is None:
        log.warning("login_refused", name=name)
        return _form(request, next, name, "The name or the password is wrong.", 401)
    identification.tries.forget(where, f"{where} {name}")
    log.info("login", name=name)
    response = RedirectResponse(local(next), 303)
    identification.begin(request, response, user)
    return response


@router.post("/logout")
def log_out(request: Request) -> Response:
    response = RedirectResponse("/login", 303)
    response.delete_cookie(request.app.state.identification.cookie)
    return response


def _form(
    request: Request, next: str, name: str = "", sentence: str | None = None, status: int = 200
) -> Response:
    values: Mapping[str, Any] = {"next": local(next), "name": name, "sentence": sentence}
    return page(request, "login.html", status=status, **values)
