"""What can go wrong with a model endpoint, to be had on demand."""

from dataclasses import dataclass
from typing import Any, Literal, get_args

FaultKind = Literal[
    "rate_limited",
    "quota_used_up",
    "server_error",
    "overloaded",
    "given_up",
    "unauthorized",
    "unknown_model",
    "bad_request",
    "context_exceeded",
    "prompt_filtered",
    "slow",
    "hang",
    "trickle",
    "reset",
    "broken_body",
    "huge_body",
    "compressed",
    "no_choices",
    "no_json",
    "wrong_shape",
    "refusal",
    "answer_filtered",
    "length",
    "no_usage",
]
KINDS: tuple[FaultKind, ...] = get_args(FaultKind)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong with one call.

    `seconds` is how long slow and hang take, and how long trickle sends spaces first, as
    some endpoints do to keep a connection busy. `headers` are sent with a refusal, as
    {"retry-after": "7"}; `reports_usage` lets a refusal tell what it used.
    """

    kind: FaultKind
    seconds: float = 1.0
    headers: tuple[tuple[str, str], ...] = ()
    reports_usage: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error as OpenAI-compatible endpoints send it."""

    status: int
    code: str | None
    message: str

    def body(self) -> dict[str, Any]:
        """Return the JSON of the response."""
        about = {"message": self.message, "type": "simulated", "param": None, "code": self.code}
        return {"error": about}


REFUSALS: dict[FaultKind, Refusal] = {
    "rate_limited": Refusal(429, "rate_limit_exceeded", "Rate limit reached for requests."),
    "quota_used_up": Refusal(429, "insufficient_quota", "You exceeded your current quota."),
    "server_error": Refusal(500, None, "The server had an error."),
    "overloaded": Refusal(503, None, "The engine is currently overloaded."),
    "given_up": Refusal(408, None, "The request took too long."),
    "unauthorized": Refusal(401, "invalid_api_key", "Incorrect API key provided."),
    "unknown_model": Refusal(404, "model_not_found", "The model does not exist."),
    "bad_request": Refusal(400, "unsupported_value", "response_format is not supported."),
    "context_exceeded": Refusal(
        400, "context_length_exceeded", "This model's maximum context length is exceeded."
    ),
    "prompt_filtered": Refusal(400, "content_filter", "The prompt triggered a content filter."),
}
"""The faults that are refusals."""
