"""Traces of MLflow: what is told of each as JSON, and its spans as a file in the cloud's storage.

Simulated, and kept in memory. Paths and JSON are as MLflow's own client 3.17 sends and reads them
(mlflow.store.tracking: databricks_rest_store and rest_store; mlflow.store.artifact:
databricks_artifact_repo), and unverified of a real workspace, as are: which search answers for an
experiment (`has_long_search`; without it the client falls back to the one of 3.0), that a trace
which is sent again takes the place of the one before and keeps its spans, that signed URLs are
those of AWS, what may stand in a filter, and the words of errors.
"""

from __future__ import annotations

import operator
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from forebay_lab.workspace.experiments import Experiments
from forebay_lab.workspace.routing import Answer, ApiError, Area, Request, route

TRACE = "/api/3.0/mlflow/traces"
CREDENTIALS = "/api/2.0/mlflow/traces/{trace_id}/credentials-for-data"
STORAGE = "/trace-storage/{key}"
LONG_SEARCH = "/api/4.0/mlflow/traces/search-long-running"

MOST_FOUND = 500
COMPARED = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
TAG = re.compile(
    r"tags?\.(`(?P<quoted>[^`]+)`|(?P<plain>\w+))\s*(?P<sign>!?=)\s*'(?P<value>[^']*)'"
)
TIME = re.compile(r"(\w+\.)?timestamp(_ms)?\s*(?P<sign>[<>!]?=|<|>)\s*(?P<value>\d+)")
ORDER = re.compile(r"(\w+\.)?timestamp(_ms)?(\s+(?P<way>ASC|DESC))?", re.IGNORECASE)


@dataclass(slots=True)
class Kept:
    """What is told of a trace, as it came, and its spans; without spans nobody uploaded them."""

    info: dict[str, Any]
    spans: bytes | None = None

    @property
    def experiment_id(self) -> str:
        """The experiment that it is in."""
        return str(self.info["trace_location"]["mlflow_experiment"]["experiment_id"])

    @property
    def tags(self) -> dict[str, str]:
        """Its tags, which may be changed."""
        tags: dict[str, str] = self.info.setdefault("tags", {})
        return tags

    @property
    def at(self) -> int:
        """When it began, in milliseconds since 1970."""
        return int(datetime.fromisoformat(self.info["request_time"]).timestamp() * 1000)


@dataclass(slots=True)
class Traces(Area):
    """The traces of all experiments, by their ids; CAN_READ reads, CAN_EDIT writes."""

    experiments: Experiments
    has_long_search: bool = False
    kept: dict[str, Kept] = field(default_factory=dict)
    _signed: dict[str, tuple[str, str]] = field(default_factory=dict, repr=False)

    @route("POST", TRACE)
    def start(self, request: Request) -> dict[str, Any]:
        info = request.json()["trace"]["trace_info"]
        new = Kept(info)
        self.experiments.require(request, new.experiment_id, "CAN_EDIT")
        trace_id = info["trace_id"]
        artifacts = f"dbfs:/databricks/mlflow-tracking/{new.experiment_id}/{trace_id}/artifacts"
        new.tags["mlflow.artifactLocation"] = artifacts
        before = self.kept.get(trace_id)
        new.spans = before.spans if before else None
        self.kept[trace_id] = new
        return {"trace": {"trace_info": info}}

    @route("GET", TRACE + "/{trace_id}")
    def get(self, request: Request) -> dict[str, Any]:
        return {"trace": {"trace_info": self._trace(request, "CAN_READ").info}}

    @route("PATCH", "/api/2.0/mlflow/traces/{trace_id}/tags")
    def set_tag(self, request: Request) -> dict[str, Any]:
        said = request.json()
        self._trace(request, "CAN_EDIT").tags[said["key"]] = said["value"]
        return {}

    @route("POST", TRACE + "/search")
    def search(self, request: Request) -> dict[str, Any]:
        found, token = self._search(request)
        return {"traces": found} | ({"next_page_token": token} if token else {})

    @route("POST", LONG_SEARCH)
    def search_for_long(self, request: Request) -> dict[str, Any]:
        if not self.has_long_search:
            raise ApiError(404, "ENDPOINT_NOT_FOUND", f"No API found for '{request.path}'.")
        found, token = self._search(request)
        answer = {"trace_infos": found} | ({"next_page_token": token} if token else {})
        return {"name": secrets.token_hex(8), "done": True, "response": answer}

    def _search(self, request: Request) -> tuple[list[dict[str, Any]], str | None]:
        """Return a page of what is told of traces, and the token of the next one."""
        said = request.json()
        ids = [one["mlflow_experiment"]["experiment_id"] for one in said["locations"]]
        for experiment_id in ids:
            self.experiments.require(request, experiment_id, "CAN_READ")
        clauses = list(_clauses(said.get("filter", "")))
        found = [
            one
            for one in list(self.kept.values())
            if one.experiment_id in ids and all(_holds(one, clause) for clause in clauses)
        ]
        found.sort(key=lambda one: one.at, reverse=_is_backwards(said.get("order_by", [])))
        start = int(said.get("page_token") or 0)
        end = start + min(int(said.get("max_results", 100)), MOST_FOUND)
        return [one.info for one in found[start:end]], str(end) if end < len(found) else None

    @route("GET", CREDENTIALS + "-upload")
    def upload(self, request: Request) -> dict[str, Any]:
        self._trace(request, "CAN_EDIT")
        return self._sign(request, "PUT")

    @route("GET", CREDENTIALS + "-download")
    def download(self, request: Request) -> dict[str, Any]:
        self._trace(request, "CAN_READ")
        return self._sign(request, "GET")

    @route("PUT", STORAGE, is_open=True)
    def put(self, request: Request) -> Answer:
        self._behind(request).spans = request.body.read()
        return Answer()

    @route("GET", STORAGE, is_open=True)
    def read(self, request: Request) -> Answer:
        spans = self._behind(request).spans
        if spans is None:
            raise ApiError(404, "NoSuchKey", "The specified key does not exist.")
        return Answer(headers={"content-length": str(len(spans))}, chunks=[spans])

    def _trace(self, request: Request, level: str) -> Kept:
        trace_id = request.params["trace_id"]
        found = self.kept.get(trace_id)
        if found is None:
            message = f"Traces with ids ({trace_id}) do not exist."
            raise ApiError(404, "RESOURCE_DOES_NOT_EXIST", message)
        self.experiments.require(request, found.experiment_id, level)
        return found

    def _sign(self, request: Request, method: str) -> dict[str, Any]:
        trace_id = request.params["trace_id"]
        key = f"{trace_id}-{secrets.token_urlsafe(24)}"
        self._signed[key] = (method, trace_id)
        url = f"{request.base_url}{STORAGE.format(key=key)}?X-Signature=simulated"
        return {"credential_info": {"type": "AWS_PRESIGNED_URL", "signed_uri": url, "headers": []}}

    def _behind(self, request: Request) -> Kept:
        """Return the trace that a signed URL is of."""
        method, trace_id = self._signed.get(request.params["key"], ("", ""))
        if method != request.method or "authorization" in request.headers:
            raise ApiError(403, "SignatureDoesNotMatch", "The signature is wrong.")
        return self.kept[trace_id]


def _clauses(said: str) -> Iterator[re.Match[str]]:
    """Yield the comparisons of a filter, all of which are to hold."""
    for part in filter(None, re.split(r"\s+AND\s+", said.strip(), flags=re.IGNORECASE)):
        clause = TAG.fullmatch(part) or TIME.fullmatch(part)
        if clause is None:
            raise ApiError(400, "INVALID_PARAMETER_VALUE", f"Invalid filter '{part}'.")
        yield clause


def _holds(kept: Kept, clause: re.Match[str]) -> bool:
    compared = COMPARED[clause["sign"]]
    if clause.re is TIME:
        return bool(compared(kept.at, int(clause["value"])))
    value = kept.tags.get(clause["quoted"] or clause["plain"])
    return value is not None and bool(compared(value, clause["value"]))


def _is_backwards(said: list[str]) -> bool:
    """Tell whether the latest comes first, as it does unless another order is asked for."""
    order = ORDER.fullmatch(said[0]) if len(said) == 1 else None
    if said and order is None:
        raise ApiError(400, "INVALID_PARAMETER_VALUE", f"Invalid order_by {said}.")
    return order is None or (order["way"] or "ASC").upper() == "DESC"
