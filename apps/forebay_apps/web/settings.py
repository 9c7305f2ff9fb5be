"""What the environment says about an app: who may come in, and how they are known."""

import ipaddress
import os
import re
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from forebay.embedded import default_data_dir
from forebay.errors import SettingError
from forebay.settings import text, word
from forebay_apps.web.names import folded

LOGIN = "FOREBAY_LOGIN"
USERS = "FOREBAY_USERS"
SESSION_KEY = "FOREBAY_SESSION_KEY"
PROXIES = "FOREBAY_TRUSTED_PROXIES"
PROXY_HEADER = "FOREBAY_PROXY_USER_HEADER"
LISTS = {
    "admin": "FOREBAY_ADMINS",
    "operator": "FOREBAY_OPERATORS",
    "viewer": "FOREBAY_VIEWERS",
}
HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token of RFC 9110
KEY_CHARACTERS = 32

Login = Literal["password", "proxy", "databricks"]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The FOREBAY_* variables that both apps read; those that hold secrets stay out of the repr."""

    login: Login
    users_file: Path  # where `forebay user` keeps names and the hashes of passwords
    session_key: str = field(repr=False)
    proxies: tuple[Network, ...] = ()
    proxy_header: str = "X-Forwarded-User"
    names: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, environment: Mapping[str, str] = os.environ) -> "WebSettings":
        """Read the settings; raise SettingError that names what is wrong or missing."""
        home = home_of(environment)
        is_databricks = bool(text(environment, "DATABRICKS_APP_NAME"))
        default = "databricks" if is_databricks else "password"
        login = word(environment, LOGIN, ("password", "proxy", "databricks"), default)
        proxies = _networks(environment)
        header = text(environment, PROXY_HEADER) or "X-Forwarded-User"
        if login == "databricks" and not is_databricks:
            raise SettingError(
                f"{LOGIN} is databricks, and this is no Databricks App: anybody could name"
                " anybody. Set it to password or proxy."
            )
        if login == "proxy" and not proxies:
            raise SettingError(
                f"{LOGIN} is proxy, and {PROXIES} is not set: set it to the proxy's addresses,"
                " such as 10.0.0.5 or 10.0.0.0/24; nobody else is believed."
            )
        if login == "proxy" and _is_everybody(proxies):
            raise SettingError(
                f"{LOGIN} is proxy, and {PROXIES} holds every address: anybody could name anybody."
                " Set it to the proxy's own."
            )
        if not HEADER.fullmatch(header):
            raise SettingError(f"{PROXY_HEADER} is {header!r}, which is no name of a header.")
        return cls(
            login=login,  # type: ignore[arg-type]  # one of the three words
            users_file=users_file(environment),
            session_key=_session_key(environment, home, login),
            proxies=proxies,
            proxy_header=header,
            names={role: _names(text(environment, name)) for role, name in LISTS.items()},
        )


def home_of(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder that holds what Forebay keeps on disk."""
    return default_data_dir(environment).parent


def users_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where `forebay user` keeps names and the hashes of passwords."""
    said = text(environment, USERS)
    return Path(said).expanduser() if said else home_of(environment) / "users.json"


def _names(said: str) -> frozenset[str]:
    """Return the names of a comma list, in the form in which names are compared."""
    return frozenset(folded(name) for name in said.split(",") if name.strip())


def _networks(environment: Mapping[str, str]) -> tuple[Network, ...]:
    """Return the addresses from which a proxy's headers are believed."""
    said = [part.strip() for part in text(environment, PROXIES).split(",") if part.strip()]
    try:
        return tuple(ipaddress.ip_network(part, strict=False) for part in said)
    except ValueError as error:
        raise SettingError(f"{PROXIES} holds what is no address ({error}): correct it.") from None


def _is_everybody(networks: tuple[Network, ...]) -> bool:
    """Tell whether these networks are all of IPv4 or of IPv6, in one or in parts."""
    v4 = ipaddress.collapse_addresses(n for n in networks if isinstance(n, ipaddress.IPv4Network))
    v6 = ipaddress.collapse_addresses(n for n in networks if isinstance(n, ipaddress.IPv6Network))
    return any(not net.prefixlen for net in v4) or any(not net.prefixlen for net in v6)


def _session_key(environment: Mapping[str, str], home: Path, login: str) -> str:
    """Return the key that signs sessions: the one that is set, or this home's."""
    key = text(environment, SESSION_KEY)
    if key and len(key) < KEY_CHARACTERS:
        raise SettingError(
            f"{SESSION_KEY} is short: set it to {KEY_CHARACTERS} random letters or more."
        )
    if login != "password":
        return secrets.token_hex()  # there are no sessions to sign
    return key or _kept_key(home / "session.key")


def _kept_key(path: Path) -> str:
    """Return the key that a file keeps for its owner alone; it is made when there is none."""
    try:
        if not path.exists():
            _make_key(path)
        key = path.read_text().strip()
    except (OSError, ValueError) as error:
        raise SettingError(f"{path} cannot be read or made ({error}): set {SESSION_KEY}.") from None
    if len(key) < KEY_CHARACTERS:
        raise SettingError(f"{path} holds no key: remove it, and it is made anew.")
    return key


def _make_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".session") as file:
        file.write(secrets.token_hex())
        file.flush()
        with suppress(FileExistsError):  # another process was quicker
            os.link(file.name, path)
