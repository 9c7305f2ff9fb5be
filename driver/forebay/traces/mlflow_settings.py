"""Where MLflow is, what it may take, and by what an attempt's traces are known; without MLflow."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping

from forebay.databricks import is_on_databricks
from forebay.settings import text

EXPERIMENT = "FOREBAY_MLFLOW_EXPERIMENT"
"""The setting: the name of the MLflow experiment that traces are in; unset, there are none."""

TRACKING_URI = "MLFLOW_TRACKING_URI"

LAUNCH_KEY = "forebay.launch_key"
"""The tag by which an attempt's traces are found: ids of attempts are not unique in an experiment
that several installations share."""

BOUNDS = {
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_DATABRICKS_ENDPOINT_HTTP_RETRY_TIMEOUT": "20",  # where a workspace is, 500 by default
    "MLFLOW_ASYNC_TRACE_LOGGING_RETRY_TIMEOUT": "20",
    "MLFLOW_GET_TRACE_OTEL_RETRY_TIMEOUT_SECONDS": "0",  # what is not there is looked for later
    "MLFLOW_MODEL_CATALOG_URI": "",  # else it asks github.com for prices, in the middle of a span
}
"""MLflow's own settings, unless the environment has them."""


def launch_key(launch_token: str) -> str:
    """Return what the traces of the attempt with this token are tagged with: it tells nothing."""
    return hashlib.sha256(launch_token.encode()).hexdigest()


def tracking_uri(environment: Mapping[str, str]) -> str | None:
    """Return where traces are, as MLflow calls it; None: where MLflow itself would look."""
    named = text(environment, TRACKING_URI)
    return named or ("databricks" if is_on_databricks(environment) else None)


def bound_mlflow() -> None:
    """Have MLflow, which reads its settings from the environment, end every request some time."""
    for name, value in BOUNDS.items():
        os.environ.setdefault(name, value)
