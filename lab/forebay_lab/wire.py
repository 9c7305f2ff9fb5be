"""Postgres's protocol as far as a gateway has to know it: mostly how a session begins."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

SSL_REQUEST, GSS_REQUEST, CANCEL_REQUEST = 80877103, 80877104, 80877102
NOTIFICATION = b"A"
CLEARTEXT_PASSWORD = b"R" + struct.pack("!ii", 8, 3)
LONGEST = 1 << 16  # bytes of a message


class Ended(Exception):
    """The connection is over before its session began."""


def _exactly(line: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = line.recv(length - len(data))
        if not more:
            raise Ended
        data += more
    return data


def packet(line: socket.socket) -> bytes:
    """Read a message that has no type, only a length: how a connection begins."""
    length = _exactly(line, 4)
    return length + _exactly(line, min(struct.unpack("!i", length)[0], LONGEST) - 4)


def code(start: bytes) -> int:
    """Return what a first message asks for: one of the requests, or a version of the protocol."""
    asked: int = struct.unpack("!i", start[4:8])[0]
    return asked


def parameters(start: bytes) -> dict[str, str]:
    """Return what a first message says of its session: user, database, options."""
    words = [word.decode() for word in start[8:].split(b"\0")]
    return {name: value for name, value in zip(words[::2], words[1::2], strict=False) if name}


def start_message(version: bytes, said: dict[str, str]) -> bytes:
    """Return the first message of a session."""
    words = "".join(f"{name}\0{value}\0" for name, value in said.items()) + "\0"
    body = version + words.encode()
    return struct.pack("!i", 4 + len(body)) + body


def password(line: socket.socket) -> str:
    """Read a password that is said in clear text. Raises Ended where another message comes."""
    if _exactly(line, 1) != b"p":
        raise Ended
    return packet(line)[4:].rstrip(b"\0").decode()


def refusal(sqlstate: str, message: str) -> bytes:
    """Return the message that ends a login."""
    fields = {"S": "FATAL", "V": "FATAL", "C": sqlstate, "M": message}
    body = b"".join(f"{name}{value}\0".encode() for name, value in fields.items()) + b"\0"
    return b"E" + struct.pack("!i", 4 + len(body)) + body


@dataclass(slots=True)
class WithoutNotifications:
    """What a server says, message by message, without the notifications among it."""

    _rest: bytes = b""

    def of(self, data: bytes) -> bytes:
        """Return the messages that are whole with this piece of them."""
        self._rest += data
        kept = b""
        while len(self._rest) > 4:
            length = 1 + int(struct.unpack("!i", self._rest[1:5])[0])
            if length > len(self._rest):
                break
            message, self._rest = self._rest[:length], self._rest[length:]
            kept += b"" if message.startswith(NOTIFICATION) else message
        return kept
