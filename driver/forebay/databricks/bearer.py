"""OAuth bearers of a principal, for what is not asked by the SDK: serving endpoints and callbacks.

One that is refused is forgotten with its client: the next one comes from a new login.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from forebay.errors import SettingError
from forebay.extras import install

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient

HTTP_SECONDS, RETRY_SECONDS = 5, 8
"""How long a login may take: whoever needs a bearer waits for it."""


class NoBearer(Exception):
    """The workspace gives none at this moment; the text says why, without any credential."""


class Bearer:
    """The bearer of one principal of the workspace; threads may share it."""

    def __init__(self, connect: Callable[[], WorkspaceClient]) -> None:
        self._connect = connect
        self._client: WorkspaceClient | None = None
        self._lock = threading.Lock()

    @classmethod
    def of_service_principal(cls, client_id: str, client_secret: str) -> Bearer:
        """Return that of a service principal, whoever this process is otherwise."""
        return cls(
            lambda: _client(client_id=client_id, client_secret=client_secret, auth_type="oauth-m2m")
        )

    def host(self) -> str:
        """Return the workspace's address, without a slash at its end. Raises as `token`."""
        return str(self._connected().config.host).rstrip("/")

    def token(self) -> str:
        """Return the token that is good now.

        Raises SettingError where no credentials are configured, and NoBearer.
        """
        client = self._connected()
        try:
            authorization = client.config.authenticate().get("Authorization", "")
        except OSError as error:  # LoginError is one
            raise NoBearer(str(error)) from error
        if not authorization.startswith("Bearer "):
            raise SettingError("This way to log in to Databricks gives no bearer: use OAuth.")
        return authorization.removeprefix("Bearer ")

    def headers(self) -> dict[str, str]:
        """Return the header that carries it. Raises as `token`."""
        return {"Authorization": f"Bearer {self.token()}"}

    def renew(self) -> None:
        """Forget the token, which was refused: the next one is a new one."""
        with self._lock:
            self._client = None

    def _connected(self) -> WorkspaceClient:
        with self._lock:
            if self._client is None:
                self._client = self._logged_in()
            return self._client

    def _logged_in(self) -> WorkspaceClient:
        try:
            return self._connect()
        except OSError as error:
            if getattr(error, "is_transient", True):
                raise NoBearer(str(error)) from error
            raise SettingError(f"No login to Databricks: {error}.") from error


@cache
def ambient() -> Bearer:
    """Return that of whoever this process is, as the SDK's own variables and profiles say."""
    return Bearer(_client)


def _client(**options: str) -> WorkspaceClient:
    try:
        from forebay.databricks.client import workspace_client
    except ModuleNotFoundError:
        said = f"The package databricks-sdk is missing: {install('databricks')}."
        raise SettingError(said) from None
    return workspace_client(http_seconds=HTTP_SECONDS, retry_seconds=RETRY_SECONDS, **options)
