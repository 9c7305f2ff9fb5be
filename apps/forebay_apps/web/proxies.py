"""What a request went through: a proxy that is trusted is believed about both its ends."""

import ipaddress

from starlette.requests import HTTPConnection

from forebay_apps.web.settings import Network


def is_from(request: HTTPConnection, networks: tuple[Network, ...]) -> bool:
    """Tell whether a request comes straight from one of these networks."""
    return _is_in(peer(request), networks)


def address(request: HTTPConnection, proxies: tuple[Network, ...]) -> str:
    """Return where a request comes from: the last address that no trusted proxy has."""
    said = ",".join(request.headers.getlist("X-Forwarded-For")).split(",")
    found = peer(request)
    for hop in reversed([part.strip() for part in said if part.strip()]):
        if not _is_in(found, proxies):
            break
        found = hop
    return found


def is_encrypted(request: HTTPConnection, proxies: tuple[Network, ...]) -> bool:
    """Tell whether the browser speaks https, with us or with a trusted proxy."""
    if request.url.scheme == "https":
        return True
    return is_from(request, proxies) and request.headers.get("X-Forwarded-Proto") == "https"


def peer(request: HTTPConnection) -> str:
    """Return the address at the other end of the line; empty when it has none."""
    return request.client.host if request.client else ""


def _is_in(said: str, networks: tuple[Network, ...]) -> bool:
    try:
        found = ipaddress.ip_address(said)
    except ValueError:
        return False
    return any(found in network for network in networks)
