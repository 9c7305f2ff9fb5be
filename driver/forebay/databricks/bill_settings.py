"""What the environment says about the bill of the workspace; no SDK is needed to read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from forebay.errors import SettingError
from forebay.settings import text, word

WAREHOUSE = "FOREBAY_WAREHOUSE_ID"
TAG = "FOREBAY_BILLING_TAG"
APPS = "FOREBAY_BILLING_APPS"
PRICE = "FOREBAY_BILLING_PRICE"
WORKSPACE = "DATABRICKS_WORKSPACE_ID"

Price = Literal["effective_list", "default"]


@dataclass(frozen=True, slots=True)
class BillSettings:
    """How a bill is read: through which warehouse, and what of it is ours.

    `workspace_id` None: the workspace itself is asked. `tag` marks what is shared and ours, as a
    key and value; without one nothing shared is read. So are `apps`, by their names: they bear no
    tag. `price` is the list price that counts: `effective_list` with promotions, `default` without.
    """

    warehouse_id: str
    workspace_id: str | None = None
    tag: tuple[str, str] | None = None
    price: Price = "effective_list"
    apps: tuple[str, ...] = ()

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> BillSettings | None:
        """Return the settings; None without a warehouse. Raises SettingError."""
        warehouse_id = text(environment, WAREHOUSE)
        if not warehouse_id:
            return None
        return cls(
            warehouse_id,
            text(environment, WORKSPACE) or None,
            _tag(environment),
            _price(environment),
            _apps(environment),
        )


def _tag(environment: Mapping[str, str]) -> tuple[str, str] | None:
    said = text(environment, TAG)
    if not said:
        return None
    key, _, value = (part.strip() for part in said.partition("="))
    if not key or not value:
        raise SettingError(f"{TAG} is {said!r}: set it to a tag such as project=forebay.")
    return key, value


def _apps(environment: Mapping[str, str]) -> tuple[str, ...]:
    names = (name.strip() for name in text(environment, APPS).split(","))
    return tuple(sorted({name for name in names if name}))


def _price(environment: Mapping[str, str]) -> Price:
    said = word(environment, PRICE, ("effective_list", "default"), "effective_list")
    return "default" if said == "default" else "effective_list"
