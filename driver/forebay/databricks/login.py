"""How this package logs in to the workspace: the same for all that it asks there.

The SDK's own way for service principals waits for an answer without end, tells a wrong secret from
a workspace that is away by words alone, and keeps a bearer until its end on this machine's clock,
also when the workspace takes it no more.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import requests
from databricks.sdk.core import Config, DefaultCredentials
from databricks.sdk.credentials_provider import CredentialsProvider, CredentialsStrategy
from databricks.sdk.errors.base import DatabricksError

from forebay.databricks.answer_time import give_answers_time
from forebay.databricks.logins import Logins

SERVICE_PRINCIPAL = "oauth-m2m"
LASTING = ("pat", "basic")
"""Ways to log in whose credentials do not end by themselves."""

UNREADABLE = (requests.JSONDecodeError, json.JSONDecodeError, TypeError, AttributeError)
"""What the SDK raises over an answer of another form than the API's, as a gateway's page is."""

METADATA = "/.well-known/oauth-authorization-server"
WRONG = {
    "invalid_client",
    "invalid_grant",
    "invalid_request",
    "invalid_scope",
    "unauthorized_client",
    "unsupported_grant_type",
}
"""The codes of OAuth with which waiting does not help; whatever else is said may pass."""


class LoginError(DatabricksError):
    """The workspace gives no bearer; `is_transient` is true unless that is certain to stay so.

    The SDK tries what is transient again, as when the workspace does not answer, and raises
    TimeoutError in the end.
    """

    def __init__(self, message: str, *, is_transient: bool) -> None:
        super().__init__(message, retry_after_secs=1 if is_transient else None)
        self.is_transient = is_transient


@dataclass(frozen=True, slots=True)
class Granted:
    """The headers of a login, with the token among them, good for `life` seconds."""

    headers: Mapping[str, str] = field(repr=False)
    life: float

    @property
    def token(self) -> str:
        return self.headers.get("Authorization", "")


class Login(CredentialsStrategy):
    """Log in to one workspace, as its Config says, in `seconds` to connect and as many to answer.

    A service principal is logged in here; all other ways are the SDK's, and its errors are told as
    LoginError.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._ways = DefaultCredentials()
        self._is_service_principal = False
        self._provider: CredentialsProvider | None = None
        self._logins = Logins(self._fetch)

    def auth_type(self) -> str:
        return SERVICE_PRINCIPAL if self._is_service_principal else self._ways.auth_type()

    def __call__(self, cfg: Config) -> CredentialsProvider:
        """Return what gives the headers of each request; no login is made yet."""
        self._config = cfg
        self._is_service_principal = cfg.auth_type in (None, SERVICE_PRINCIPAL) and all(
            (cfg.host, cfg.client_id, cfg.client_secret)
        )
        if not self._is_service_principal:
            self._provider = self._ways(cfg)
        return self.headers

    def headers(self) -> dict[str, str]:
        """Return the headers that are good now. Raises LoginError."""
        try:
            return dict(self._logins.get(2 * self._seconds).headers)
        except TimeoutError:
            raise _away(f"no answer within {2 * self._seconds:g} s") from None

    def again(self, response: requests.Response, **options: Any) -> requests.Response:
        """Send a request whose bearer was refused once more with another one, if there is one.

        It is a hook of a session of `requests`, which sends no bearer along when it is led to
        another host: that gets none here either. Raises LoginError.
        """
        refused = str(response.request.headers.get("Authorization", ""))
        if response.status_code != 401 or not refused:
            return response
        self._provider = None
        self._logins.drop(refused)
        headers = self.headers()
        if headers.get("Authorization") == refused:
            return response
        request = response.request.copy()
        request.headers.update(headers)
        if hasattr(request.body, "seek"):
            requests.utils.rewind_body(request)
        response.content  # noqa: B018  # read, so that the line can be used again
        response.close()
        answer: requests.Response = response.connection.send(request, **options)
        answer.history.append(response)
        return answer

    def _fetch(self) -> Granted:
        if self._is_service_principal:
            return _of_service_principal(self._config, self._seconds)
        try:
            self._provider = provider = self._provider or self._ways(self._config)
            life = math.inf if self.auth_type() in LASTING else 0.0  # 0: the SDK keeps it
            return Granted(provider(), life)
        except (OSError, ValueError) as error:
            self._provider = None
            raise told(error) from error


def told(error: OSError | ValueError) -> LoginError:
    """Return an error of the SDK's own logins as LoginError: a setting is wrong, or it may pass."""
    causes: list[BaseException] = [error]
    while cause := causes[-1].__cause__:
        causes.append(cause)
    is_transient = any(isinstance(each, OSError) for each in causes)
    hint = "" if is_transient else ": check DATABRICKS_HOST and the login"
    return LoginError(f"{words(error)}{hint}", is_transient=is_transient)


def words(error: BaseException) -> str:
    """Return an error's message on one line, without the client's settings that the SDK adds.

    What the SDK raises over an answer that it cannot read says nothing of that.
    """
    if isinstance(error, UNREADABLE):
        return "no answer of the API's"
    return re.split(r"\.? (?:Config|Env): ", " ".join(str(error).split()))[0].rstrip(".")


def _of_service_principal(config: Config, seconds: float) -> Granted:
    """Ask for a bearer by the client credentials of OAuth."""
    asked = {
        "grant_type": "client_credentials",
        "scope": config.get_scopes_as_string(),
        "authorization_details": config.authorization_details,
        "assume_group": config.group_id,
    }
    place = (config.discovery_url or "").removesuffix(METADATA) or f"{config.host}/oidc"
    secret = (config.client_id, config.client_secret)
    try:
        with give_answers_time(requests.Session(), seconds) as session:
            answer = session.post(f"{place}/v1/token", asked, auth=secret, timeout=seconds)
    except OSError as error:
        raise _away(type(error).__name__) from error
    said = _document(answer)
    code, why = said.get("error"), said.get("error_description")
    if code in WRONG:
        raise LoginError(
            f"The workspace refuses the login of {config.client_id} ({code}: {why}): check"
            " DATABRICKS_CLIENT_ID and DATABRICKS_CLIENT_SECRET.",
            is_transient=False,
        )
    try:
        kind, token, life = said["token_type"], said["access_token"], float(said["expires_in"])
    except (KeyError, TypeError, ValueError) as error:
        more = f"{code}: {why}" if code else said.get("message") or "an answer without a bearer"
        raise _away(f"{answer.status_code}, {more}") from error
    return Granted({"Authorization": f"{kind} {token}"}, life)


def _document(answer: requests.Response) -> dict[str, Any]:
    try:
        said = answer.json()
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def _away(reason: str) -> LoginError:
    return LoginError(
        f"The workspace gives no bearer ({reason}): wait until it answers, or check"
        " DATABRICKS_HOST.",
        is_transient=True,
    )
