"""What the environment says about the model endpoints: read once for each document."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

from forebay.agent import Retry

BASE_URL = "FOREBAY_MODEL_BASE_URL"
API_KEY = "FOREBAY_MODEL_API_KEY"
NAME = "FOREBAY_MODEL_NAME"
CONTEXT_TOKENS = "FOREBAY_MODEL_CONTEXT_TOKENS"
TIMEOUT = "FOREBAY_MODEL_TIMEOUT"
STRUCTURED = "FOREBAY_MODEL_STRUCTURED"
VISION_BASE_URL = "FOREBAY_VISION_BASE_URL"
VISION_API_KEY = "FOREBAY_VISION_API_KEY"
VISION_NAME = "FOREBAY_VISION_MODEL_NAME"

DEFAULT_CONTEXT_TOKENS = 32_000
DEFAULT_TIMEOUT = 120.0
"""Seconds that one call may take."""

Structured = Literal["json_schema", "json_object", "prompt"]
"""How the shape of the answer is asked for: providers differ in what they take."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint and the model there; the key stays out of the repr.

    `name_setting` and `url_setting` are the variables that a refusal of the endpoint names.
    """

    base_url: str
    api_key: str = field(repr=False)
    name: str
    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    timeout: float = DEFAULT_TIMEOUT
    structured: Structured = "json_schema"
    url_setting: str = BASE_URL
    key_setting: str = API_KEY
    name_setting: str = NAME


def model_endpoint(environment: Mapping[str, str]) -> Endpoint | None:
    """Return the endpoint that reads text, None when none is configured.

    Raises Retry that names the setting which is missing or wrong: an operator mends it.
    """
    said = _said(environment, BASE_URL, API_KEY, NAME)
    return _endpoint(environment, said) if said else None


def vision_endpoint(environment: Mapping[str, str]) -> Endpoint | None:
    """Return the endpoint that reads pictures, None when none is configured.

    Its URL and key are the model's where it has none of its own. Raises as `model_endpoint`.
    """
    if not _value(environment, VISION_NAME):
        return None
    url = VISION_BASE_URL if _value(environment, VISION_BASE_URL) else BASE_URL
    key = VISION_API_KEY if _value(environment, VISION_API_KEY) else API_KEY
    said = _said(environment, url, key, VISION_NAME)
    return _endpoint(environment, said)


def _endpoint(environment: Mapping[str, str], said: dict[str, str]) -> Endpoint:
    url, key, name = said
    if not re.fullmatch(r"https?://[^\s/]\S*", said[url]):
        raise Retry(
            f"{url} is {said[url]!r}: set it to a URL that begins with https:// or http://."
        )
    if not re.fullmatch(r"[!-~]+", said[key]):
        raise Retry(f"{key} holds a space or a letter that no key has: set it anew.")
    return Endpoint(
        base_url=said[url],
        api_key=said[key],
        name=said[name],
        context_tokens=int(_number(environment, CONTEXT_TOKENS, DEFAULT_CONTEXT_TOKENS, 4000)),
        timeout=_number(environment, TIMEOUT, DEFAULT_TIMEOUT, 1),
        structured=_structured(environment),
        url_setting=url,
        key_setting=key,
        name_setting=name,
    )


def _said(environment: Mapping[str, str], *settings: str) -> dict[str, str]:
    """Return the settings that belong together, {} when none of them is set."""
    said = {setting: _value(environment, setting) for setting in settings}
    if not any(said.values()):
        return {}
    for setting, value in said.items():
        if not value:
            there = [name for name, value in said.items() if value][-1]
            raise Retry(f"{setting} is not set, but {there} is: set both, or neither.")
    return said


def _value(environment: Mapping[str, str], setting: str) -> str:
    return environment.get(setting, "").strip()


def _number(environment: Mapping[str, str], setting: str, default: float, least: int) -> float:
    text = _value(environment, setting)
    try:
        number = float(text) if text else default
    except ValueError:
        number = math.nan
    if not least <= number < 1e9:
        raise Retry(f"{setting} is {text!r}: set it to a number, {least:,} at least.")
    return number


def _structured(environment: Mapping[str, str]) -> Structured:
    text = _value(environment, STRUCTURED) or "json_schema"
    for word in get_args(Structured):
        if text == word:
            return word  # type: ignore[no-any-return]
    raise Retry(f"{STRUCTURED} is {text!r}: set it to {' or '.join(get_args(Structured))}.")
