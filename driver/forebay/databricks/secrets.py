"""Settings that are kept in a secret scope: `secret:SCOPE/KEY` stands for what is kept there."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from forebay.errors import SettingError

if TYPE_CHECKING:
    from databricks.sdk import WorkspaceClient

SECRET = "secret:"


def is_kept(value: str) -> bool:
    """Tell whether a setting's value says where it is kept, and is not the value itself."""
    return value.strip().startswith(SECRET)


def where(value: str) -> tuple[str, str]:
    """Return the scope and the key of `secret:SCOPE/KEY`."""
    scope, _, key = value.strip().removeprefix(SECRET).partition("/")
    return scope, key


def resolved(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with the secrets of FOREBAY_* in place. Raises SettingError."""
    kept = {
        name: value
        for name, value in environment.items()
        if name.startswith("FOREBAY_") and is_kept(value)
    }
    return {**environment, **fetched(kept)}


def fetched(kept: Mapping[str, str]) -> dict[str, str]:
    """Return what secret scopes of the workspace keep for settings, by one client of it.

    Raises SettingError, which names the setting.
    """
    if not kept:
        return {}
    from forebay.databricks.client import workspace_client

    connect = cache(workspace_client)
    return {name: _fetched(name, value, connect) for name, value in kept.items()}


def _fetched(name: str, value: str, connect: Callable[[], WorkspaceClient]) -> str:
    scope, key = where(value)
    if not scope or not key:
        raise SettingError(f"{name} is {value.strip()!r}: a secret is named secret:SCOPE/KEY.")
    try:
        return base64.b64decode(connect().secrets.get_secret(scope, key).value or "").decode()
    except UnicodeDecodeError as error:
        raise SettingError(
            f"{name} is to be the secret {key!r} of the scope {scope!r}, which is no text in UTF-8:"
            " put it there anew."
        ) from error
    except (ValueError, OSError) as error:  # OSError: the SDK's own too
        reason = getattr(error, "error_code", None) or type(error).__name__
        raise SettingError(
            f"{name} is to be the secret {key!r} of the scope {scope!r}, which cannot be read"
            f" ({reason}): grant READ on the scope, or correct the name."
        ) from error
