"""Each refusal of an endpoint becomes what the queue has to do about it, in one clear sentence."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import httpx2
import openai
import pytest

from forebay.agent import ErrorKind, Retry
from forebay_agents.findings import Findings
from forebay_agents.models.connection import MOST_BYTES, Connection
from forebay_agents.models.refusals import LONGEST_WAIT, meaning, retry_after
from forebay_agents.models.settings import API_KEY, BASE_URL, CONTEXT_TOKENS, NAME, STRUCTURED
from forebay_lab.model_server import Fault, ModelServer
from forebay_lab.model_server.faults import FaultKind

from .conftest import RecordedAttempt
from .model_support import INVOICE, MemoryCheckpoints, model_at, page, statement_pages


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Run a simulated endpoint."""
    with ModelServer() as server:
        yield server


def refused(server: ModelServer, attempt: RecordedAttempt | None = None, **more: str) -> Retry:
    """Return what an extraction raises."""
    with pytest.raises(Retry) as caught:
        read(server, attempt, **more)
    assert caught.value.reason.endswith(".")
    return caught.value


def read(server: ModelServer, attempt: RecordedAttempt | None = None, **more: str) -> Findings:
    pages = [page(1, *INVOICE)]
    return model_at(server, **more).extract(
        pages, attempt or RecordedAttempt({}), MemoryCheckpoints()
    )


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ("rate_limited", "rate_limited", "called less often"),
        ("quota_used_up", "rate_limited", "quota is used up"),
        ("server_error", "infrastructure", r"failed \(500\)"),
        ("overloaded", "overloaded", r"overloaded \(503\)"),
        ("given_up", "timeout", rf"too slow \(408\).* lower {CONTEXT_TOKENS}"),
        ("unauthorized", "infrastructure", f"mend {API_KEY}"),
        ("unknown_model", "infrastructure", f"mend {NAME} or {BASE_URL}"),
        ("bad_request", "infrastructure", f"set {STRUCTURED}"),
        ("reset", "infrastructure", f"cannot be reached .*: check {BASE_URL}"),
        ("broken_body", "infrastructure", "speaks the chat API"),
        ("no_choices", "infrastructure", "speaks the chat API"),
        ("huge_body", "infrastructure", "too large.* speaks the chat API"),
        ("compressed", "infrastructure", "compressed .* speaks the chat API"),
    ],
)
def test_a_refusal_is_a_reason_to_try_again(
    fault: FaultKind, kind: ErrorKind, words: str, server: ModelServer
) -> None:
    """None is the document's fault: the kind tells the queue, the sentence tells the operator."""
    server.simulation.fault = Fault(fault)
    error = refused(server)
    assert error.kind == kind
    assert re.search(words, error.reason)


@pytest.mark.parametrize("carried", ["Bearer secret-key", "Bearer of-the-workspace", "Basic dTpw"])
def test_an_endpoint_that_repeats_the_key_does_not_spread_it(
    carried: str, server: ModelServer
) -> None:
    """An endpoint's own words are passed on without the credentials of the request."""
    key = carried.split()[1]
    request = httpx2.Request("POST", server.base_url, headers={"authorization": carried})
    body = {"message": f"Key {key} is\nnot for this model."}
    refusal = openai.BadRequestError(
        "refused", response=httpx2.Response(400, request=request), body=body
    )
    error = meaning(refusal, model_at(server).endpoint)
    assert "(400: Key … is not for this model)" in str(error)


@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_is_taken_in_up_to_a_size_only(status: int, server: ModelServer) -> None:
    """A body of 1 GB, be it that of a refusal, is left after 10 MB."""
    endpoint = model_at(server).endpoint
    sent: list[int] = []

    class Endless(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            for _ in range(1000):
                sent.append(1_000_000)
                yield b" " * 1_000_000

    response = httpx2.Response(status, stream=Endless())
    response.request = httpx2.Request("POST", endpoint.base_url)
    response.request.extensions["timeout"] = {"read": 60.0}
    (bound,) = Connection(endpoint)._openai._client.event_hooks["response"]
    bound(response)
    with pytest.raises(Retry, match="too large"):
        response.read()
    assert sum(sent) <= MOST_BYTES + 1_000_000


def test_the_package_does_not_try_again_by_itself(server: ModelServer) -> None:
    """One refusal is one request: waiting belongs to the queue."""
    server.simulation.fault = Fault("overloaded")
    refused(server)
    assert len(server.simulation.requests) == 1


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({}, None),
        ({"retry-after": "7"}, timedelta(seconds=7)),
        ({"retry-after": "0.5"}, timedelta(seconds=0.5)),
        ({"retry-after-ms": "1500", "retry-after": "2"}, timedelta(seconds=1.5)),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:30 GMT"}, timedelta(seconds=30)),
        ({"retry-after": "Wed, 21 Oct 2026 07:00:00 GMT"}, timedelta(0)),
        ({"retry-after": "-3"}, timedelta(0)),
        ({"retry-after": "86400"}, LONGEST_WAIT),
        ({"retry-after": "1e300"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
    ],
)
def test_the_wait_is_what_the_endpoint_asks_for(
    headers: dict[str, str], wait: timedelta | None
) -> None:
    """Seconds, milliseconds or a date; an hour at most; what makes no sense says nothing."""
    assert retry_after(headers, datetime(2026, 10, 21, 7, 28, tzinfo=UTC)) == wait


@pytest.mark.parametrize("kind", ["rate_limited", "overloaded", "server_error"])
def test_a_refusal_carries_its_wait(kind: FaultKind, server: ModelServer) -> None:
    """The header of any refusal that passes is heeded."""
    server.simulation.fault = Fault(kind, headers=(("retry-after", "7"),))
    assert refused(server).after == timedelta(seconds=7)


def test_a_refusal_that_used_tokens_is_reported(server: ModelServer) -> None:
    """What an endpoint says a failed call used is paid for, and so it is kept."""
    server.simulation.fault = Fault("server_error", reports_usage=True)
    attempt = RecordedAttempt({})
    refused(server, attempt)
    (call,) = attempt.calls
    assert call["call_id"] == "extract-1"
    assert call["input_tokens"] > 500


def test_a_refused_call_gives_back_what_it_asked_for(server: ModelServer) -> None:
    """It is reported to have used nothing; what is unknown after a failure stays unknown."""
    server.simulation.queued.extend(map(Fault, ("rate_limited", "server_error", "given_up")))
    attempt = RecordedAttempt({})
    for _ in range(3):
        refused(server, attempt)
    limited, failed, given_up = attempt.calls
    assert (limited["input_tokens"], limited["output_tokens"]) == (0, 0)
    assert "input_tokens" not in failed | given_up
    assert {call["call_id"] for call in attempt.calls} == {"extract-1"}


def test_a_call_that_takes_too_long_is_reported(server: ModelServer) -> None:
    """What it used is not known."""
    server.simulation.fault = Fault("hang", seconds=30)
    attempt = RecordedAttempt({})
    with pytest.raises(Retry):
        model_at(server, TIMEOUT="1").extract([page(1, *INVOICE)], attempt, MemoryCheckpoints())
    (call,) = attempt.calls
    assert call["call_id"] == "extract-1"
    assert "input_tokens" not in call


@pytest.mark.parametrize("fault", ["refusal", "answer_filtered", "prompt_filtered"])
def test_a_filtered_chunk_leaves_the_others(fault: FaultKind, server: ModelServer) -> None:
    """What the model will not read has no findings and a note; the rest of the document has."""
    server.simulation.queued.append(Fault(fault))
    attempt = RecordedAttempt({})
    model = model_at(server, CONTEXT_TOKENS="8000")
    found = model.extract(statement_pages(12), attempt, MemoryCheckpoints())
    assert sum("refused to read pages 1 to" in note for note in found.notes) == 1
    assert found.fields["total"].value == "4711.00"


def test_nobody_at_the_address_is_infrastructure(server: ModelServer) -> None:
    """A port that nobody listens at names the setting to check."""
    model = model_at(server, BASE_URL="http://127.0.0.1:9/v1")
    with pytest.raises(Retry, match=f"check {BASE_URL}") as error:
        model.extract([page(1, *INVOICE)], RecordedAttempt({}), MemoryCheckpoints())
    assert error.value.kind == "infrastructure"
