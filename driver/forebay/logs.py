"""Log events: a name and key=value on a terminal, one JSON object a line anywhere else.

Never log a payload, a result, a DSN or a token. What looks like a password in a value is masked,
for the texts of other people's errors.
"""

import json
import logging
import re
import sys
from datetime import UTC, datetime
from typing import Any, TextIO

PASSWORD = re.compile(r"(://[^/@\s:]*:)[^/@\s]+(?=@)|(password\s*=\s*)('[^']*'|\S+)", re.IGNORECASE)
FIELDS = "forebay_fields"


class EventLog:
    """Write events under a module's name; the fields are whatever says what happened."""

    def __init__(self, name: str) -> None:
        self._logger = logging.getLogger(name)

    def debug(self, event: str, **fields: Any) -> None:
        self._log(logging.DEBUG, event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._log(logging.INFO, event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._log(logging.WARNING, event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._log(logging.ERROR, event, fields)

    def _log(self, level: int, event: str, fields: dict[str, Any]) -> None:
        self._logger.log(level, "%s", event, extra={FIELDS: fields})


def without_credentials(text: str, authorization: str, mark: str = "***") -> str:
    """Return a text without what the Authorization header of its request carried."""
    credentials = authorization.partition(" ")[2]
    return text.replace(credentials, mark) if credentials else text


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text, or what it is called if it has none."""
    return (str(error).strip() or type(error).__name__).split("\n")[0]


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        fields = {name: _plain(value) for name, value in getattr(record, FIELDS, {}).items()}
        event = _plain(record.getMessage())
        if record.exc_info:
            fields["traceback"] = _plain(self.formatException(record.exc_info))
        return self.line(record, str(event), fields)

    def line(self, record: logging.LogRecord, event: str, fields: dict[str, Any]) -> str:
        raise NotImplementedError


class _TerminalFormatter(_Formatter):
    def line(self, record: logging.LogRecord, event: str, fields: dict[str, Any]) -> str:
        at = datetime.fromtimestamp(record.created).strftime("%H:%M:%S")
        level = f"{record.levelname.lower()} " if record.levelno != logging.INFO else ""
        pairs = "".join(f" {name}={_quoted(value)}" for name, value in fields.items())
        return f"{at} {level}{event}{pairs}"


class _JsonFormatter(_Formatter):
    def line(self, record: logging.LogRecord, event: str, fields: dict[str, Any]) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        head = {"at": at, "level": record.levelname.lower(), "logger": record.name, "event": event}
        return json.dumps(head | fields)


def configure(level: str = "INFO", stream: TextIO | None = None) -> None:
    """Send this process's log to stream (None: stderr), in the form that suits it."""
    stream = stream or sys.stderr
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_TerminalFormatter() if stream.isatty() else _JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    return PASSWORD.sub(lambda found: f"{found[1] or found[2]}***", str(value))


def _quoted(value: Any) -> str:
    text = str(value)
    return json.dumps(text, ensure_ascii=False) if re.search(r'[\s"=]', text) or not text else text
