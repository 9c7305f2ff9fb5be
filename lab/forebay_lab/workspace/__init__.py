"""A stand-in for a Databricks workspace, on loopback: simulated, there is no Databricks behind it.

It speaks the paths, JSON, errors, retries and idempotency that the real SDK relies on. Each area of
the API is a module here; `Workspace` serves them, logs each request and has faults befall them.
"""

from forebay_lab.workspace.access import Principal
from forebay_lab.workspace.faults import Fault
from forebay_lab.workspace.routing import Answer, ApiError, Area, Request, route
from forebay_lab.workspace.server import Workspace

__all__ = ["Answer", "ApiError", "Area", "Fault", "Principal", "Request", "Workspace", "route"]
