"""The one way in which this package makes a client of the workspace: no call may take for long."""

from __future__ import annotations

import logging
from typing import Any

from databricks.sdk import WorkspaceClient
from databricks.sdk.core import Config

import forebay
from forebay.databricks import is_on_databricks as is_on_databricks

HTTP_SECONDS = 10
"""How long one request may take before it counts as lost."""

RETRY_SECONDS = 20
"""How long the SDK may try again before the call fails."""

PART_TRIES = 5
"""How often a part of a file is sent or asked for before the transfer fails: for about 10 s."""


def workspace_client(
    *, http_seconds: int = HTTP_SECONDS, retry_seconds: int = RETRY_SECONDS, **options: Any
) -> WorkspaceClient:
    """Return a client for the workspace that the SDK's own variables and profiles name.

    `options` are those of the SDK's Config, such as host and token. The SDK tries again whatever it
    takes to be passing, posts included: a call that must not happen twice carries a token of its
    own. Raises ValueError where no credentials are found, and takes up to `retry_seconds` where the
    workspace does not answer.
    """
    config = Config(
        http_timeout_seconds=http_seconds,
        retry_timeout_seconds=retry_seconds,
        product="forebay",
        product_version=forebay.__version__,
        **options,
    )
    config.files_ext_network_transfer_inactivity_timeout_seconds = http_seconds
    config.experimental_files_ext_cloud_api_max_retries = PART_TRIES
    return WorkspaceClient(config=config)


def _keep_bodies_out(record: logging.LogRecord) -> bool:
    """Cut a line of the SDK's debug log before the bodies: they hold tokens and documents."""
    record.msg, record.args = record.getMessage().split("\n")[0], None
    return True


logging.getLogger("databricks.sdk").addFilter(_keep_bodies_out)
