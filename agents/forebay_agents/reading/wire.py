"""What the reading process and its parent say to each other: one line of JSON each way."""

import base64
import json
from typing import Any

ANSWER_BYTES = 64 << 20
"""How long an answer may be; a longer one means that the page is too much."""


def to_line(message: dict[str, Any]) -> bytes:
    """Return a message as a line of ASCII; raises ValueError when it holds NaN or infinity."""
    return json.dumps(message, allow_nan=False).encode() + b"\n"


def from_line(line: bytes) -> dict[str, Any]:
    """Return the message of a line; raises ValueError when it is none."""
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("not an object")
    return message


def from_bytes(data: bytes) -> str:
    """Return bytes as text."""
    return base64.b64encode(data).decode()


def to_bytes(text: str) -> bytes:
    """Return the bytes that `from_bytes` made this text of."""
    return base64.b64decode(text, validate=True)
