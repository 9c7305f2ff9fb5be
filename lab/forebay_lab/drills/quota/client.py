"""The way from a task to the model server: calls over connections that stay open."""

from __future__ import annotations

import json
import queue
from http.client import HTTPConnection
from urllib.parse import urlsplit

from forebay_lab.drills.quota.scale import Scale
from forebay_lab.drills.quota.workload import Call

MODEL = "synthetic"
MESSAGES = [{"role": "user", "content": "A call of the drill: the headers say what it costs."}]
SLOWEST = 120.0


class Refused(Exception):
    """The provider does not take the call now."""

    def __init__(self, retry_after: float) -> None:
        super().__init__("the provider refused the call")
        self.retry_after = retry_after


class ModelClient:
    """Make calls that cost what they say, at most `most` at a time.

    The connections are opened beforehand, and used once: the first calls take no longer than the
    later ones.
    """

    def __init__(self, base_url: str, scale: Scale, most: int) -> None:
        address = urlsplit(base_url)
        self._path = address.path
        self._scale = scale
        self._idle: queue.SimpleQueue[HTTPConnection] = queue.SimpleQueue()
        for _ in range(most):
            connection = HTTPConnection(address.netloc, timeout=SLOWEST)
            connection.request("GET", f"{self._path}/models")
            connection.getresponse().read()
            self._idle.put(connection)

    def call(self, label: str, call: Call) -> None:
        """Make the call and wait for its answer; raises Refused at a 429."""
        body = json.dumps(
            {"model": MODEL, "messages": MESSAGES, "max_tokens": call.max_output_tokens}
        )
        headers = {
            "content-type": "application/json",
            "x-lab-call": label,
            "x-lab-input-tokens": str(call.input_tokens),
            "x-lab-output-tokens": str(call.output_tokens),
            "x-lab-seconds": f"{self._scale.real(call.seconds):.4f}",
        }
        connection = self._idle.get()
        connection.request("POST", f"{self._path}/chat/completions", body.encode(), headers)
        response = connection.getresponse()
        content = response.read()
        self._idle.put(connection)
        if response.status == 429:
            raise Refused(float(response.headers["retry-after-ms"]) / 1000)
        if response.status != 200:
            raise RuntimeError(f"the model server answered {response.status}: {content[:200]!r}")
