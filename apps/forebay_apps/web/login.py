"""Log in with a password, and what a session is: a signed cookie that names the person."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from forebay.logs import EventLog, first_line
from forebay_apps.web.errors import Refusal
from forebay_apps.web.names import MOST_CHARACTERS, folded
from forebay_apps.web.pages import local, page
from forebay_apps.web.people import Person
from forebay_apps.web.proxies import address, is_encrypted
from forebay_apps.web.settings import Network
from forebay_apps.web.tries import Tries, guesser
from forebay_apps.web.turns import Turns
from forebay_apps.web.users import User, UserError, Users

log = EventLog(__name__)

SESSION_SECONDS = 12 * 3600
CHECKS_AT_ONCE = 2  # of passwords: each takes 64 MiB
BUSY_SECONDS = 2.0
BUSY = "Too many people log in at this moment: try again."

NOT_ENDED = (
    "This browser is logged out. Your other sessions could not be ended:"
    " the log of this app says why."
)

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
        self.checks = Turns(CHECKS_AT_ONCE, BUSY_SECONDS, BUSY)
        self.cookie = f"forebay_{app_name}"
        self._signer = URLSafeTimedSerializer(key, salt=self.cookie)

    def identify(self, request: HTTPConnection) -> Person | None:
        """Return whose session it is; a new password, a new role or a removal count at once.

        Nobody's, while the users file cannot be read.
        """
        try:
            said = self._signer.loads(request.cookies.get(self.cookie, ""), SESSION_SECONDS)
            match said:
                case {"name": str(name), "stamp": str(stamp)}:
                    user = self.users.find(name)
                    return user.person if user and user.stamp == stamp else None
        except (BadData, UserError):
            pass
        return None

    def why_unknown(self, request: HTTPConnection) -> str:
        return "Your session has ended. Log in again to go on."

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
async def log_in(
    request: Request,
    name: Annotated[str, Form(max_length=MOST_CHARACTERS)],
    password: Annotated[str, Form()],
    next: Annotated[str, Form()] = "/",
) -> Response:
    identification: PasswordIdentification = request.app.state.identification
    where = guesser(address(request, identification.proxies))
    keys = (where, f"{where} {folded(name)}")
    if wait := identification.tries.begin(*keys):
        sentence = f"Too many wrong passwords: wait {wait:.0f} s, then try again."
        return _form(request, next, name, sentence, 429)
    try:
        checked = identification.users.checked
        user = await identification.checks.run(where, checked, name, password)
    except UserError as error:
        log.error("users_unreadable", reason=first_line(error))
        raise Refusal(503, "Nobody can log in now: the log of this app says why.") from None
    if user is None:
        log.warning("login_refused", name=name)
        return _form(request, next, name, "The name or the password is wrong.", 401)
    identification.tries.forget(*keys)
    log.info("login", name=name)
    response = RedirectResponse(local(next), 303)
    identification.begin(request, response, user)
    return response


@router.post("/logout")
def log_out(request: Request) -> Response:
    """End every session of the person, so that no copy of a cookie is good for anything."""
    identification: PasswordIdentification = request.app.state.identification
    name = request.state.person.name
    response: Response = RedirectResponse("/login", 303)
    try:
        identification.users.end_sessions(name)
        log.info("logout", name=name)
    except UserError as error:
        log.error("sessions_not_ended", name=name, reason=first_line(error))
        response = _form(request, "/", name, NOT_ENDED, 503)
    response.delete_cookie(identification.cookie)
    return response


def _form(
    request: Request, next: str, name: str = "", sentence: str | None = None, status: int = 200
) -> Response:
    values: Mapping[str, Any] = {"next": local(next), "name": name, "sentence": sentence}
    return page(request, "login.html", status=status, **values)
