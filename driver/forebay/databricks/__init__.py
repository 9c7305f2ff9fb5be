"""What speaks with a Databricks workspace, through its SDK: the extra `databricks`.

The SDK takes a second or two to import: only what uses it imports these modules. `lakebase` and
`logins`, which every connection goes through, import it when a credential is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping


def is_on_databricks(environment: Mapping[str, str]) -> bool:
    """Tell whether a workspace is named: the variables of an app, a job, or a person's own."""
    return bool(environment.get("DATABRICKS_HOST") or environment.get("DATABRICKS_CONFIG_PROFILE"))
