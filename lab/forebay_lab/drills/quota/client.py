"""The way from a task to the model server: one call after the other, over one connection."""

from __future__ import annotations

import http.client
import json
import threading
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
    """Make calls that cost what they say; a connection for each thread."""

    def __init__(self, base_url: str, scale: Scale) -> None:
        self._address = urlsplit(base_url)
        self._scale = scale
        self._local = threading.local()

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
        connection = self._connection()
        path = f"{self._address.path}/chat/completions"
        connection.request("POST", path, body.encode(), headers)
        response = connection.getresponse()
        content = response.read()
        if response.status == 429:
            raise Refused(float(response.headers["retry-after-ms"]) / 1000)
        if response.status != 200:
            raise RuntimeError(f"the model server answered {response.status}: {content[:200]!r}")

    def _connection(self) -> http.client.HTTPConnection:
        if not hasattr(self._local, "connection"):
            host = self._address.netloc
            self._local.connection = http.client.HTTPConnection(host, timeout=SLOWEST)
        connection: http.client.HTTPConnection = self._local.connection
        return connection
