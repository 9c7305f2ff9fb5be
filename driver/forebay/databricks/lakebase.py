"""Databases of Lakebase: what a `lakebase:` URL names, and how a connection logs in there.

A password is a credential that the workspace gives for about an hour. It is looked at only when a
connection begins; connections may outlive it.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from forebay.databricks.logins import Logins
from forebay.errors import ConnectError
from forebay.extras import install

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient

SCHEME = "lakebase:"
ENDPOINT = re.compile(r"projects/[^/?]+/branches/[^/?]+/endpoints/[^/?]+")
INSTANCE = re.compile(r"instances/([^/?]+)")
OF_THE_APP = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}
OWN_ENDPOINT = "LAKEBASE_ENDPOINT"
DEFAULTS = {"port": "5432", "dbname": "databricks_postgres", "sslmode": "require"}
ENCRYPTED = ("require", "verify-ca", "verify-full")
KEYWORDS = (*OF_THE_APP, "sslmode", "sslrootcert", "target_session_attrs", "options")
FIRST_SECONDS = 30
"""How long the first credential may take: the SDK logs in for it."""

LONGEST_LIFE = 3600.0
"""Seconds that a credential lasts at most, whatever the difference of two clocks says."""


@dataclass(frozen=True, slots=True)
class Login:
    """What a new connection logs in with; it ends `life` seconds after it was asked for."""

    host: str
    user: str
    token: str = field(repr=False)
    life: float


@dataclass(frozen=True, slots=True)
class Address:
    """What a URL says: an endpoint, or instances/NAME, and what is given beside it for libpq."""

    place: str
    given: Mapping[str, str]

    @classmethod
    def read(cls, url: str, environment: Mapping[str, str] = os.environ) -> Address:
        """Read a `lakebase:` URL. Raises ConnectError, which does not repeat it.

        Within an app, what the platform says of its database stands in for what is not given. The
        host is that of the app's own endpoint, and of no other.
        """
        place, _, query = url.removeprefix(SCHEME).strip().partition("?")
        given = dict(parse_qsl(query))
        if not (ENDPOINT.fullmatch(place) or INSTANCE.fullmatch(place)):
            raise ConnectError(
                "The database's URL cannot be read: write it as"
                f" {SCHEME}projects/P/branches/B/endpoints/E or {SCHEME}instances/NAME."
            )
        if unknown := [name for name in given if name not in KEYWORDS]:
            raise ConnectError(
                f"The database's URL has {unknown[0][:20]!r}: it may have {', '.join(KEYWORDS)}."
            )
        if given.get("sslmode", ENCRYPTED[0]) not in ENCRYPTED:
            raise ConnectError(
                "The database's URL has an sslmode with which the credential could travel in clear"
                f" text: leave it out, or set one of {', '.join(ENCRYPTED)}."
            )
        if environment.get("DATABRICKS_APP_NAME"):
            said = {name: environment.get(variable, "") for name, variable in OF_THE_APP.items()}
            if ENDPOINT.fullmatch(place) and place != environment.get(OWN_ENDPOINT, "").strip():
                del said["host"]
            given = {name: value for name, value in said.items() if value} | given
        return cls(place, given)


def is_lakebase(conninfo: object) -> bool:
    """Tell whether this is a URL of a Lakebase database."""
    return isinstance(conninfo, str) and conninfo.startswith(SCHEME)


def lakebase(url: str) -> Lakebase:
    """Return the database of a URL: one for all of this process, with its credentials."""
    ours = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("DATABRICKS", "LAKEBASE", "PG"))
    }
    return _lakebase(url, frozenset(ours.items()))


@lru_cache(maxsize=16)
def _lakebase(url: str, environment: frozenset[tuple[str, str]]) -> Lakebase:
    return Lakebase(Address.read(url, dict(environment)))


class Lakebase:
    """One database: what a connection to it is opened with, and what may be tried again."""

    def __init__(
        self, address: Address, make_client: Callable[[], WorkspaceClient] | None = None
    ) -> None:
        self._address = address
        self._make_client = make_client or _make_client
        self._client: WorkspaceClient | None = None
        self._user = address.given.get("user")
        self._logins = Logins(self._log_in)

    @property
    def branch(self) -> str:
        """Return the branch, or instances/NAME: connections say it, so that a copy knows itself."""
        return self._address.place.partition("/endpoints/")[0]

    @property
    def life(self) -> float | None:
        """Return how long its credentials last, in seconds; None until there was one."""
        return self._logins.life

    def parameters(self, timeout: float) -> dict[str, str]:
        """Return libpq's, with a password that is good now. Raises ConnectError.

        It waits for a credential `timeout` seconds at most, for the first one longer. That the SDK
        is imported first does not count: it says nothing of the workspace.
        """
        if not self._client:
            _import_sdk()
            timeout = max(timeout, FIRST_SECONDS)
        login = self._login(timeout)
        return {
            **DEFAULTS,
            "target_session_attrs": "read-write",  # not the node that a failover leaves behind
            **self._address.given,
            "host": login.host,
            "hostaddr": "",  # PGHOSTADDR would lead elsewhere
            "user": login.user,
            "password": login.token,
        }

    def drop(self, token: str) -> None:
        """Forget a credential that the database refused."""
        self._logins.drop(token)

    def _login(self, timeout: float) -> Login:
        try:
            return self._logins.get(timeout)
        except TimeoutError:
            raise ConnectError(
                f"The workspace gave no credential for the database within {timeout:g} s:"
                " wait until it answers.",
                is_transient=True,
            ) from None

    def _log_in(self) -> Login:
        """Ask the workspace who we are, where the database is, and for a credential."""
        with _sentences(self._address.place):
            self._client = client = self._client or self._make_client()
            self._user = self._user or _who(client)
            ask = _instance if INSTANCE.fullmatch(self._address.place) else _endpoint
            host = self._address.given.get("host")
            host, token, ends_at = ask(client, self._address.place, host)
            left = (ends_at - datetime.now(UTC)).total_seconds()
        return Login(host, self._user, token, life=min(max(left, 0.0), LONGEST_LIFE))


def _import_sdk() -> None:
    """Import what logs in; without the SDK, `_sentences` says so."""
    with suppress(ImportError):
        import forebay.databricks.client  # noqa: F401


def _make_client() -> WorkspaceClient:
    from forebay.databricks.client import workspace_client

    return workspace_client()


def _who(client: WorkspaceClient) -> str:
    """Return the name of one's own role: a service principal's application id, or an address."""
    if client.config.client_id:
        return client.config.client_id
    name = client.current_user.me().user_name
    if not name:
        raise ValueError("no name")
    return name


def _endpoint(client: WorkspaceClient, name: str, host: str | None) -> tuple[str, str, datetime]:
    """Return the host of an endpoint (the direct one), a credential, and when that ends."""
    if host is None:
        status = client.postgres.get_endpoint(name).status
        host = status.hosts.host if status and status.hosts else None
        if not host:
            state = status.current_state if status else None
            raise _no_host(f"The endpoint {name}", state.value if state else "unknown")
    given = client.postgres.generate_database_credential(name)
    if not given.expire_time:
        raise ValueError("no time")
    return host, _token(given.token), given.expire_time.ToDatetime(tzinfo=UTC)


def _instance(client: WorkspaceClient, place: str, host: str | None) -> tuple[str, str, datetime]:
    """Return the same of a provisioned instance."""
    name = place.removeprefix("instances/")
    if host is None:
        instance = client.database.get_database_instance(name)
        if instance.stopped:
            raise ConnectError(f"The instance {name} is stopped: start it.")
        host = instance.read_write_dns
        if not host:
            state = instance.state.value if instance.state else "unknown"
            raise _no_host(f"The instance {name}", state)
    given = client.database.generate_database_credential(
        instance_names=[name], request_id=str(uuid.uuid4())
    )
    ends_at = datetime.fromisoformat(given.expiration_time or "")
    return host, _token(given.token), ends_at if ends_at.tzinfo else ends_at.replace(tzinfo=UTC)


def _token(given: object) -> str:
    if not isinstance(given, str) or not given or "\0" in given:
        raise ValueError("no token")
    return given


def _no_host(what: str, state: str) -> ConnectError:
    said = f"{what} has no host (its state is {state}): wait until it is active."
    return ConnectError(said, is_transient=True)


@contextmanager
def _sentences(place: str) -> Iterator[None]:
    """Raise what the workspace refuses as ConnectError; what may pass by itself is transient.

    A login that is refused is all that is certain to stay so. An answer that makes no sense is what
    a workspace says that is not well, and one that is not the API's own says nothing.
    """
    try:
        from databricks.sdk import errors
    except ImportError as error:
        said = f"A database of Lakebase needs the SDK of Databricks: {install('databricks')}."
        raise ConnectError(said) from error

    from forebay.databricks.answers import is_own
    from forebay.databricks.login import LoginError, words

    told = f"The workspace gives no credential for {place}"
    for_good = (
        errors.BadRequest,
        errors.Unauthenticated,
        errors.PermissionDenied,
        errors.NotFound,
    )
    try:
        yield
    except LoginError as error:
        is_final = not error.is_transient
        raise ConnectError(
            f"{told}: {error}", is_transient=not is_final, is_final=is_final
        ) from error
    except OSError as error:  # the SDK's errors are OSErrors
        is_for_good = isinstance(error, for_good) and is_own(error)
        remedy = (
            "check the name, and that it may be used with the credentials of this process"
            if is_for_good
            else "wait until the workspace answers"
        )
        said = f"{type(error).__name__}: {words(error)}"
        raise ConnectError(f"{told} ({said}): {remedy}.", is_transient=not is_for_good) from error
    except (ValueError, TypeError, AttributeError, ArithmeticError, RuntimeError) as error:
        raise ConnectError(
            f"{told}, but an answer that makes no sense ({type(error).__name__}):"
            " wait until the workspace answers.",
            is_transient=True,
        ) from error
