"""Which launchers outside of this machine the environment asks for."""

from __future__ import annotations

from collections.abc import Mapping

from forebay.databricks import is_on_databricks
from forebay.extras import has, install
from forebay.launchers import ExternalLauncher
from forebay.logs import EventLog
from forebay.settings import whole_number

log = EventLog(__name__)

LAKEFLOW_SLOTS = "FOREBAY_LAKEFLOW_SLOTS"
DEFAULT_SLOTS = 200


def external_launchers(environment: Mapping[str, str]) -> list[ExternalLauncher]:
    """Return the launcher of Databricks jobs where a workspace is named, unless it has no slots.

    Nothing is asked of the workspace. Raises SettingError.
    """
    slots = whole_number(environment, LAKEFLOW_SLOTS, DEFAULT_SLOTS, least=0, most=10_000)
    if not is_on_databricks(environment) or not slots:
        return []
    if not has("databricks"):
        log.warning("lakeflow_off", reason=install("databricks"))
        return []
    from forebay.launchers.lakeflow import LakeflowLauncher

    return [LakeflowLauncher(slots)]
