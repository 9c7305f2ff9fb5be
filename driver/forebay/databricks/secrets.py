"""Settings that are kept in a secret scope: `secret:SCOPE/KEY` stands for what is kept there."""

from __future__ import annotations

import base64
from collections.abc import Mapping

from forebay.errors import SettingError

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
    return {
        name: fetched(name, value) if name.startswith("FOREBAY_") and is_kept(value) else value
        for name, value in environment.items()
    }


def fetched(name: str, value: str) -> str:
    """Return what a secret scope of the workspace keeps for a setting. Raises SettingError."""
    from forebay.databricks.client import workspace_client

    scope, key = where(value)
    try:
        kept = workspace_client().secrets.get_secret(scope, key).value
    except (ValueError, OSError) as error:  # OSError: the SDK's own too
        reason = getattr(error, "error_code", None) or type(error).__name__
        raise SettingError(
            f"{name} is to be the secret {key!r} of the scope {scope!r}, which cannot be read"
            f" ({reason}): grant READ on the scope, or correct the name."
        ) from error
    return base64.b64decode(kept or "").decode()
