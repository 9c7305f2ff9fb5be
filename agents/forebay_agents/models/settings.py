"""What the environment says about the model endpoints: read once for each document."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

from forebay.errors import MissingSettingError, SettingError
from forebay.settings import number, text, whole_number, word

BASE_URL = "FOREBAY_MODEL_BASE_URL"
API_KEY = "FOREBAY_MODEL_API_KEY"
NAME = "FOREBAY_MODEL_NAME"
CONTEXT_TOKENS = "FOREBAY_MODEL_CONTEXT_TOKENS"
TIMEOUT = "FOREBAY_MODEL_TIMEOUT"
STRUCTURED = "FOREBAY_MODEL_STRUCTURED"
VISION_BASE_URL = "FOREBAY_VISION_BASE_URL"
VISION_API_KEY = "FOREBAY_VISION_API_KEY"
VISION_NAME = "FOREBAY_VISION_MODEL_NAME"

DATABRICKS = "databricks"
"""In place of a URL: the serving endpoints of the workspace, with its own way to log in."""

DEFAULT_CONTEXT_TOKENS = 32_000
LEAST_CONTEXT_TOKENS = 4_000
"""Less holds the prompt, the schema and next to no text."""

NO_KEY = "bearer"
"""Stands where an endpoint has no key of its own."""

DEFAULT_TIMEOUT = 120.0
"""Seconds that one call may take."""

Structured = Literal["json_schema", "json_object", "prompt"]
"""How the shape of the answer is asked for: providers differ in what they take."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible endpoint and the model there; the key stays out of the repr.

    `base_url` may be DATABRICKS: then bearers of the workspace are in the place of a key.
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

    @property
    def is_databricks(self) -> bool:
        """Tell whether it is a serving endpoint of the workspace."""
        return self.base_url == DATABRICKS


def model_endpoint(environment: Mapping[str, str]) -> Endpoint | None:
    """Return the endpoint that reads text, None when none is configured.

    Raises SettingError that names the setting which is missing or wrong: an operator mends it.
    """
    if not any(text(environment, setting) for setting in (BASE_URL, API_KEY, NAME)):
        return None
    return _endpoint(environment, BASE_URL, API_KEY, NAME)


def vision_endpoint(environment: Mapping[str, str]) -> Endpoint | None:
    """Return the endpoint that reads pictures, None when none is configured.

    Its URL and key are the model's where it has none of its own. Raises as `model_endpoint`.
    """
    if not text(environment, VISION_NAME):
        return None
    url = VISION_BASE_URL if text(environment, VISION_BASE_URL) else BASE_URL
    key = VISION_API_KEY if text(environment, VISION_API_KEY) else API_KEY
    return _endpoint(environment, url, key, VISION_NAME)


def _endpoint(environment: Mapping[str, str], url: str, key: str, name: str) -> Endpoint:
    """Return the endpoint of these three settings, which belong together."""
    said = {setting: text(environment, setting) for setting in (url, key, name)}
    if is_databricks := said[url].casefold() == DATABRICKS:
        said |= {url: DATABRICKS, key: NO_KEY}
    for setting, value in said.items():
        if not value:
            there = [other for other, value in said.items() if value][-1]
            raise MissingSettingError(
                f"{setting} is not set, but {there} is: set {url}, {key} and {name}, or none."
            )
    if not is_databricks and not re.fullmatch(r"https?://[^\s/]\S*", said[url]):
        raise SettingError(
            f"{url} is {said[url]!r}: set it to a URL that begins with https:// or http://,"
            f" or to {DATABRICKS}."
        )
    if not re.fullmatch(r"[!-~]+", said[key]):
        raise SettingError(f"{key} holds a space or a letter that no key has: set it anew.")
    tokens = {"least": LEAST_CONTEXT_TOKENS, "most": 100_000_000}
    structured = word(environment, STRUCTURED, get_args(Structured), "json_schema")
    return Endpoint(
        base_url=said[url],
        api_key=said[key],
        name=said[name],
        context_tokens=whole_number(environment, CONTEXT_TOKENS, DEFAULT_CONTEXT_TOKENS, **tokens),
        timeout=number(environment, TIMEOUT, DEFAULT_TIMEOUT, least=1, most=86_400),
        structured=cast(Structured, structured),
        url_setting=url,
        key_setting=key,
        name_setting=name,
    )
