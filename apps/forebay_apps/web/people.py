"""Who asks: people, their roles, and the three ways in which a request names one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from starlette.requests import HTTPConnection

from forebay_apps.web.names import folded
from forebay_apps.web.proxies import is_from, peer
from forebay_apps.web.settings import PROXIES, Network

Role = Literal["submitter", "viewer", "operator", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)  # each may do what those before it may
DATABRICKS_HEADERS = (
    "X-Forwarded-Email",
    "X-Forwarded-Preferred-Username",
    "X-Forwarded-User",
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who was identified. The name is what batches belong to and the audit log says.

    It is folded, whichever way it came in.
    """

    name: str
    role: Role

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", folded(self.name))

    def may(self, role: Role) -> bool:
        """Tell whether this person may do what the role may."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Identification(Protocol):
    """A way to tell who sends a request."""

    @property
    def has_login_page(self) -> bool:
        """Tell whether people log in here, rather than before they come."""

    def identify(self, request: HTTPConnection) -> Person | None:
        """Return who it is, or None for a stranger."""

    def why_unknown(self, request: HTTPConnection) -> str:
        """Return a sentence that says why a stranger is one."""


@dataclass(frozen=True, slots=True)
class ProxyIdentification:
    """Believe the header in which a proxy names the person, from the proxy's addresses alone."""

    header: str
    proxies: tuple[Network, ...]
    names: Mapping[str, frozenset[str]]
    has_login_page: bool = False

    def identify(self, request: HTTPConnection) -> Person | None:
        if not is_from(request, self.proxies):
            return None
        return _named(request, (self.header,), self.names)

    def why_unknown(self, request: HTTPConnection) -> str:
        if self.header in request.headers and not is_from(request, self.proxies):
            return (
                f"{self.header} named somebody, and the address {peer(request) or 'it came from'}"
                f" is not in {PROXIES}: only the proxies there are believed."
            )
        return _why_unnamed(request, (self.header,))


@dataclass(frozen=True, slots=True)
class DatabricksIdentification:
    """Believe the headers of Databricks Apps, whose proxy is the only way to an app."""

    names: Mapping[str, frozenset[str]]
    has_login_page: bool = False

    def identify(self, request: HTTPConnection) -> Person | None:
        return _named(request, DATABRICKS_HEADERS, self.names)

    def why_unknown(self, request: HTTPConnection) -> str:
        return _why_unnamed(request, DATABRICKS_HEADERS)


def role_of(name: str, names: Mapping[str, frozenset[str]]) -> Role:
    """Return the highest role whose list has this name, or *; who is in none may submit."""
    for role in reversed(ROLES):
        if {folded(name), "*"} & names.get(role, frozenset()):
            return role
    return "submitter"


def _named(
    request: HTTPConnection, headers: tuple[str, ...], names: Mapping[str, frozenset[str]]
) -> Person | None:
    """Return who the first of these headers names; one that came twice names nobody."""
    for header in headers:
        said = request.headers.getlist(header)
        if len(said) == 1 and (name := _decoded(said[0])):
            return Person(name, role_of(name, names))
        if said:
            return None
    return None


def _decoded(said: str) -> str:
    """Return a header's value, which proxies send in UTF-8; nothing for one that is not.

    Starlette reads headers as Latin-1. A guess at the encoding could take one name for another.
    """
    try:
        return said.encode("latin-1").decode().strip()
    except UnicodeDecodeError:
        return ""


def _why_unnamed(request: HTTPConnection, headers: tuple[str, ...]) -> str:
    for header in headers:
        said = request.headers.getlist(header)
        if len(said) > 1:
            return (
                f"{header} came more than once: the proxy in front of this app has to replace it."
            )
        if said and said[0].strip() and not _decoded(said[0]):
            return f"{header} is not in UTF-8: the proxy in front of this app has to send it so."
    return f"The proxy in front of this app did not say who you are, in {' or '.join(headers)}."
