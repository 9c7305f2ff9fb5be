"""A model's answer counts as far as the document bears it out, and every call is accounted for."""

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pytest

from forebay.agent import Reject, Retry
from forebay.errors import SettingError
from forebay_agents.findings import Findings
from forebay_agents.models.answer import Answer, InvalidAnswer
from forebay_agents.models.answer import read as read_answer
from forebay_agents.models.client import LONGEST_REPEATED
from forebay_agents.models.estimate import ANSWER_SHARE, PROMPT
from forebay_agents.models.model import Model
from forebay_agents.models.settings import API_KEY, BASE_URL, NAME, model_endpoint
from forebay_agents.pages import Page
from forebay_lab.model_server import Fault, ModelServer
from forebay_lab.model_server.faults import FaultKind

from .conftest import RecordedAttempt
from .model_support import (
    INVOICE,
    TRUTH,
    MemoryCheckpoints,
    model_at,
    page,
    settings,
    statement_pages,
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Run a simulated endpoint."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def attempt() -> RecordedAttempt:
    return RecordedAttempt({})


def values(findings: Findings) -> dict[str, str]:
    return {name: found.value for name, found in findings.fields.items()}


def read(server: ModelServer, attempt: RecordedAttempt, *pages: Page, **more: str) -> Findings:
    return model_at(server, **more).extract(pages, attempt, MemoryCheckpoints())


def test_fields_and_lines_come_back_in_plain_form(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """Dates are ISO, sums plain decimals with their printed decimals, the currency a code."""
    found = read(server, attempt, page(1, *INVOICE))
    assert values(found) == TRUTH
    assert [(line.description, line.quantity, line.unit_price, line.amount, line.page)
            for line in found.lines] == [
        ("Pumpe", "2", "40.00", "80.00", 1),
        ("Ventil", "1", "20.00", "20.00", 1),
    ]  # fmt: skip


def test_a_value_has_its_place_as_evidence(server: ModelServer, attempt: RecordedAttempt) -> None:
    """Evidence names page, the box around label and value, the words, and the model as source."""
    evidence = read(server, attempt, page(1, *INVOICE)).fields["total"].evidence
    assert (evidence.page, evidence.source) == (1, "model")
    assert evidence.box == (50.0, 176.0, 270.0, 186.0)
    assert evidence.text == "Gesamtbetrag 119,00 €"
    assert evidence.confidence == 0.95


def test_the_prompt_and_its_version_are_said(server: ModelServer, attempt: RecordedAttempt) -> None:
    """The first note tells which model read the document with which prompt."""
    notes = read(server, attempt, page(1, *INVOICE)).notes
    assert notes == ["Read by the model simulated-model with the prompt extract-v1, in 1 part."]


def test_every_call_is_reported(server: ModelServer, attempt: RecordedAttempt) -> None:
    """A call has an id, a model, tokens as counted, an aware time in UTC, and a latency."""
    server.simulation.latency = 0.05
    read(server, attempt, page(1, *INVOICE))
    (call,) = attempt.calls
    assert call["call_id"] == "extract-1"
    assert (call["model"], call["source"]) == ("simulated-model", "agent")
    assert call["input_tokens"] > 1000
    assert call["output_tokens"] > 100
    assert call["cached_tokens"] == 0
    assert datetime.fromisoformat(call["started_at"]).utcoffset() is not None
    assert 50 <= call["latency_ms"] < 10_000


def test_every_call_waits_for_its_turn(server: ModelServer, attempt: RecordedAttempt) -> None:
    """It asks under its name for a little more than it takes: for prompt, schema and an answer."""
    read(server, attempt, *statement_pages(40), CONTEXT_TOKENS="8000")
    assert len(attempt.asked) == len(attempt.calls) > 5
    for (tokens, output, call_id), call in zip(attempt.asked, attempt.calls, strict=True):
        assert call_id == call["call_id"]
        assert output is not None
        assert 1 <= (tokens - output) / call["input_tokens"] < 1.5


def test_a_repair_waits_for_its_own_turn(server: ModelServer, attempt: RecordedAttempt) -> None:
    """A second call is asked for by itself."""
    server.simulation.queued.append(Fault("no_json"))
    read(server, attempt, page(1, *INVOICE))
    assert [call_id for _, _, call_id in attempt.asked] == ["extract-1", "extract-1-repair"]


def test_tokens_that_were_cached_are_reported(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """A repair repeats the prompt that it is about, so that endpoints can serve it from a cache."""
    server.simulation.queued.append(Fault("no_json"))
    read(server, attempt, *statement_pages(1))
    first, repair = attempt.calls
    assert first["cached_tokens"] == 0
    assert 1024 <= repair["cached_tokens"] <= first["input_tokens"] < repair["input_tokens"]


IN_PROMPT = {"prompt_tokens": 17903, "completion_tokens": 5, "total_tokens": 17908}
BESIDE = {"prompt_tokens": 86, "completion_tokens": 5, "total_tokens": 91}
CLAUDE = {"cache_read_input_tokens": 17817, "cache_creation_input_tokens": 0}


@pytest.mark.parametrize("counted", [IN_PROMPT, BESIDE], ids=["in the prompt", "beside it"])
def test_tokens_that_were_cached_are_reported_as_claude_tells_them(
    counted: dict[str, int], server: ModelServer, attempt: RecordedAttempt
) -> None:
    """Databricks counts them into `prompt_tokens`; where they cannot be in it, they are added."""
    server.simulation.used = counted | CLAUDE | {"prompt_tokens_details": None}
    read(server, attempt, page(1, *INVOICE))
    (call,) = attempt.calls
    assert (call["input_tokens"], call["output_tokens"]) == (17903, 5)
    assert call["cached_tokens"] == 17817


def test_usage_that_the_endpoint_does_not_tell_stays_unknown(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """A missing number is left out, not zero."""
    server.simulation.fault = Fault("no_usage")
    read(server, attempt, page(1, *INVOICE))
    assert attempt.calls[0].keys() == {"call_id", "source", "model", "started_at", "latency_ms"}


@pytest.mark.parametrize("kind", ["no_json", "wrong_shape"])
def test_an_invalid_answer_is_repaired_once(
    kind: str, server: ModelServer, attempt: RecordedAttempt
) -> None:
    """The second request holds the first answer and what is wrong with it; both are reported."""
    server.simulation.queued.append(Fault(kind))  # type: ignore[arg-type]
    assert values(read(server, attempt, page(1, *INVOICE))) == TRUTH
    assert [call["call_id"] for call in attempt.calls] == ["extract-1", "extract-1-repair"]
    *_, answer, complaint = server.simulation.requests[1]["messages"]
    assert answer["role"] == "assistant"
    assert ("total" if kind == "wrong_shape" else "Invalid JSON") in complaint["content"]


def test_an_answer_that_stays_invalid_is_a_note(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """After one repair there are no fields, and the document is left to the rules."""
    server.simulation.fault = Fault("wrong_shape")
    found = read(server, attempt, page(1, *INVOICE))
    assert (found.fields, found.lines) == ({}, [])
    assert found.notes[-1] == "The model's answer about page 1 was not usable."
    assert len(attempt.calls) == 2


def test_a_repair_does_not_repeat_an_answer_without_end(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """Of a long invalid answer the second request holds the beginning: the rest is paid once."""
    server.simulation.said = {"total": "on and on " * 5_000}
    read(server, attempt, page(1, *INVOICE))
    first, repair = attempt.calls
    assert first["output_tokens"] > 10_000
    assert repair["input_tokens"] < first["input_tokens"] + 1500
    answer = server.simulation.requests[1]["messages"][2]
    assert answer["role"] == "assistant"
    assert len(answer["content"]) == LONGEST_REPEATED


@pytest.mark.parametrize("text", ["```json" + " " * 1_000_000, "```" * 500_000, "{" * 1_000_000])
def test_an_answer_without_end_is_refused_in_bounded_time(text: str) -> None:
    """What a model repeats until it is cut off costs no more than its length."""
    started = time.monotonic()
    with pytest.raises(InvalidAnswer):
        read_answer(Answer, text)
    assert time.monotonic() - started < 5


def test_an_answer_that_quotes_a_fence_is_read() -> None:
    """A document may hold what else fences an answer off."""
    said = {"value": "```", "quote": "``` no. ```", "page": 1}
    read = read_answer(Answer, f" {json.dumps({'number': said})}")
    assert read.number is not None
    assert read.number.quote == "``` no. ```"


def test_an_answer_in_a_fenced_block_is_read() -> None:
    """Models that were told the shape in words only like to wrap their answer."""
    answer = read_answer(Answer, 'Here it is:\n```json\n{"lines": []}\n```\nAnything else?')
    assert answer == Answer()


@pytest.mark.parametrize("structured", ["json_schema", "json_object", "prompt"])
def test_the_shape_is_asked_for_as_the_endpoint_takes_it(
    structured: str, server: ModelServer, attempt: RecordedAttempt
) -> None:
    """The schema goes with the request, or into the prompt for endpoints that know no schemas."""
    assert values(read(server, attempt, page(1, *INVOICE), STRUCTURED=structured)) == TRUTH
    (request,) = server.simulation.requests
    form, system = request.get("response_format"), request["messages"][0]["content"]
    if structured == "json_schema":
        assert form["json_schema"]["strict"] is True
        assert "additionalProperties" not in system
    else:
        assert form == ({"type": "json_object"} if structured == "json_object" else None)
        assert '"additionalProperties":false' in system


def test_the_schema_is_strict_all_through(server: ModelServer, attempt: RecordedAttempt) -> None:
    """Every object of the schema requires all its keys and allows no others."""
    read(server, attempt, page(1, *INVOICE))
    schema = server.simulation.requests[0]["response_format"]["json_schema"]["schema"]
    objects = [schema, *schema["$defs"].values()]
    assert len(objects) >= 4
    for part in objects:
        assert part["required"] == list(part["properties"])
        assert part["additionalProperties"] is False


def test_a_document_that_says_nothing_costs_nothing(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """Pages without text are not sent."""
    assert read(server, attempt, page(1), Page(2)) == Findings()
    assert server.simulation.requests == []


def test_text_that_is_no_unicode_is_sent_mended(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """NUL and half surrogate pairs in a document neither stop the call nor reach it."""
    assert values(read(server, attempt, page(1, *INVOICE, "odd \ud800 and \0"))) == TRUTH
    assert "odd \ufffd and \ufffd" in server.simulation.requests[0]["messages"][1]["content"]


def test_without_settings_there_is_no_model() -> None:
    """Nothing configured means that rules do the work; nothing is reported then."""
    assert Model.from_environment({}) is None


@pytest.mark.parametrize("missing", [BASE_URL, API_KEY, NAME])
def test_half_a_configuration_names_what_is_missing(missing: str) -> None:
    """An operator mends it."""
    said = {BASE_URL: "http://127.0.0.1:1/v1", API_KEY: "secret-key", NAME: "m"}
    with pytest.raises(SettingError, match=f"^{missing} is not set, but "):
        Model.from_environment(said | {missing: " "})


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("CONTEXT_TOKENS", "many", "set it to a number from 4,000 to"),
        ("CONTEXT_TOKENS", "100", "set it to a number from 4,000 to"),
        ("TIMEOUT", "nan", "set it to a number from 1 to"),
        ("STRUCTURED", "yes", "set it to one of json_schema, json_object, prompt"),
        ("BASE_URL", "api.example.com/v1", "set it to a URL that begins with https"),
        ("BASE_URL", "http://", "set it to a URL that begins with https"),
    ],
)
def test_a_wrong_setting_is_named(
    setting: str, value: str, message: str, server: ModelServer
) -> None:
    """The sentence quotes the value and says what is possible."""
    with pytest.raises(SettingError, match=f"FOREBAY_MODEL_{setting} is '{value}': {message}"):
        Model.from_environment(settings(server, **{setting: value}))


@pytest.mark.parametrize("key", ["two words", "clé", "line\nbreak"])
def test_a_key_that_cannot_be_sent_is_named_but_not_shown(key: str, server: ModelServer) -> None:
    """What no header may hold is an operator's slip."""
    with pytest.raises(SettingError, match=f"^{API_KEY} holds a space") as refused:
        Model.from_environment(settings(server, API_KEY=key))
    assert key not in str(refused.value)


def test_the_key_shows_nowhere(server: ModelServer, attempt: RecordedAttempt) -> None:
    """Neither the repr of the endpoint nor a refusal that repeats the key shows it."""
    endpoint = model_endpoint(settings(server))
    assert "secret-key" not in repr(endpoint)
    assert "secret-key" not in repr(vars(model_at(server)))
    server.simulation.fault = Fault("unauthorized")
    with pytest.raises(Retry) as refused:
        read(server, attempt, page(1, *INVOICE))
    assert "secret-key" not in refused.value.reason
    assert API_KEY in refused.value.reason


def test_long_documents_are_read_in_chunks(server: ModelServer, attempt: RecordedAttempt) -> None:
    """Chunks fit the context and use it well; lines stay in order, sums are the last chunk's.

    The pages are dense: an answer about them is as long as answers are expected to be at most.
    """
    model = model_at(server, CONTEXT_TOKENS="8000")
    server.simulation.context_tokens = 8000
    found = model.extract(statement_pages(12), attempt, MemoryCheckpoints())
    assert len(attempt.calls) > 2
    used = [call["input_tokens"] + call["output_tokens"] for call in attempt.calls]
    assert 6000 < max(used) < 8000
    shares = [call["output_tokens"] / (call["input_tokens"] - PROMPT) for call in attempt.calls]
    assert max(shares) == pytest.approx(ANSWER_SHARE, rel=0.1)
    assert len({call["call_id"] for call in attempt.calls}) == len(attempt.calls)
    assert values(found)["total"] == "4711.00"
    assert found.fields["total"].evidence.page == 12
    assert values(found)["seller"] == "Harbour Bank"
    assert [line.page for line in found.lines] == [n for n in range(1, 13) for _ in range(40)]


def test_a_page_beyond_the_context_is_cut(server: ModelServer, attempt: RecordedAttempt) -> None:
    """A page that is too large alone is read in parts, also one without rows of its own."""
    lines = [f"Line {number} of a page without end" for number in range(900)]
    text = "\n".join(["Rechnung", "Rechnungsnummer: RE-9", *lines, "Gesamtbetrag: 5,00 €"])
    found = read(server, attempt, Page(1, text=text), CONTEXT_TOKENS="8000")
    assert len(attempt.calls) > 1
    assert (values(found)["number"], values(found)["total"]) == ("RE-9", "5.00")
    assert found.fields["total"].evidence.box is None


def test_a_context_that_is_smaller_than_configured_halves_chunks(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """The endpoint says that a prompt is too long: it is halved, and later chunks are smaller."""
    server.simulation.context_tokens = 4000
    model = model_at(server, CONTEXT_TOKENS="32000")
    found = model.extract(statement_pages(20), attempt, MemoryCheckpoints())
    assert [line.page for line in found.lines] == [n for n in range(1, 21) for _ in range(40)]
    assert values(found)["total"] == "4711.00"
    refused = len(server.simulation.requests) - len(attempt.paid())
    assert 1 <= refused < len(attempt.paid())


def test_a_chunk_that_was_refused_as_too_long_makes_later_ones_smaller(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """Only the first chunk finds out how little the endpoint takes."""
    server.simulation.context_tokens = 4000
    read(server, attempt, *statement_pages(80))
    assert len(attempt.paid()) > 12
    assert len(server.simulation.requests) - len(attempt.paid()) <= 4


def test_a_context_that_holds_nothing_fails_for_good(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """An endpoint that refuses even a short piece as too long is no endpoint for this."""
    server.simulation.context_tokens = 100
    with pytest.raises(Reject, match="larger context") as refused:
        read(server, attempt, *statement_pages(3))
    assert refused.value.kind == "context_too_long"
    assert len(server.simulation.requests) <= 6


def test_an_answer_without_end_is_asked_for_in_halves(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """finish_reason length: the halves are asked for, each call under an id of its own."""
    server.simulation.queued.append(Fault("length"))
    found = read(server, attempt, *statement_pages(2))
    assert [call["call_id"] for call in attempt.calls] == ["extract-1-2", "extract-1", "extract-2"]
    assert len(found.lines) == 80


def test_an_answer_that_was_cut_off_is_not_paid_twice(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """That a chunk has to be halved is kept like an answer."""
    server.simulation.queued.append(Fault("length"))
    model, kept = model_at(server), MemoryCheckpoints()
    found = model.extract(statement_pages(2), attempt, kept)
    assert len(attempt.calls) == 3
    assert model.extract(statement_pages(2), attempt, kept) == found
    assert len(attempt.calls) == 3


def test_an_endpoint_that_never_ends_an_answer_costs_a_bounded_number_of_calls(
    server: ModelServer, attempt: RecordedAttempt
) -> None:
    """After a few halvings the chunk stays without findings, and a note says so."""
    server.simulation.fault = Fault("length")
    found = read(server, attempt, page(1, *(["Some words that fill a row of the page"] * 200)))
    assert found.fields == {}
    assert "had no end" in found.notes[1]
    assert len(attempt.calls) < 64
    assert len({call["call_id"] for call in attempt.calls}) == len(attempt.calls)


def test_what_was_paid_for_is_not_paid_twice(server: ModelServer, attempt: RecordedAttempt) -> None:
    """The attempt after a crash asks only for the chunks that have no answer yet."""
    model, kept = model_at(server, CONTEXT_TOKENS="8000"), MemoryCheckpoints()
    whole = model.extract(statement_pages(12), RecordedAttempt({}), MemoryCheckpoints())
    server.simulation.queued.extend([Fault("slow", seconds=0.01)] * 2 + [Fault("server_error")])
    with pytest.raises(Retry):
        model.extract(statement_pages(12), attempt, kept)
    before = len(attempt.paid())
    assert before == 2
    assert model.extract(statement_pages(12), attempt, kept) == whole
    calls = [call["call_id"] for call in attempt.paid()]
    assert len(calls) == len(set(calls)) > before


@pytest.mark.parametrize("repairs", [0, 1])
def test_a_death_before_the_report_costs_no_call(repairs: int, server: ModelServer) -> None:
    """An answer is kept before it is reported: the next attempt tells what it used, in its name."""

    class Dying(RecordedAttempt):
        def usage(self, call: Mapping[str, Any], attempt_id: int | None = None) -> None:
            raise KeyboardInterrupt

    server.simulation.queued.extend([Fault("no_json")] * repairs)
    model, kept = model_at(server), MemoryCheckpoints()
    with pytest.raises(KeyboardInterrupt):
        model.extract([page(1, *INVOICE)], Dying({}, attempt_id=7), kept)
    attempt = RecordedAttempt({}, attempt_id=8)
    assert values(model.extract([page(1, *INVOICE)], attempt, kept)) == TRUTH
    ((attempt_id, call),) = attempt.earlier
    assert (attempt_id, call["call_id"], call["input_tokens"] > 0) == (7, "extract-1", True)
    assert [call["call_id"] for call in attempt.calls] == ["extract-1-repair"] * repairs
    assert len(server.simulation.requests) == 1 + repairs


def test_another_prompt_model_or_text_is_paid_again(server: ModelServer) -> None:
    """A checkpoint holds for the same text, model and prompt only."""
    kept = MemoryCheckpoints()
    model_at(server).extract([page(1, *INVOICE)], RecordedAttempt({}), kept)
    model_at(server, NAME="another").extract([page(1, *INVOICE)], RecordedAttempt({}), kept)
    model_at(server).extract([page(1, *INVOICE, "more")], RecordedAttempt({}), kept)
    model_at(server).extract([page(1, *INVOICE)], RecordedAttempt({}), kept)
    assert len(server.simulation.requests) == 3
    assert all(re.fullmatch(r"chunk-1-[0-9a-f]{8}", key) for key in kept.values)
    assert json.dumps(kept.values)


def test_a_stop_leaves_a_hanging_call_behind(server: ModelServer) -> None:
    """A cancel or a passed deadline ends the wait within a second."""
    server.simulation.fault = Fault("hang", seconds=30)
    for attempt in (RecordedAttempt({}, cancel_after=0), _Ending()):
        started = datetime.now()
        with pytest.raises(Retry) as stopped:
            read(server, attempt, page(1, *INVOICE))
        assert (datetime.now() - started).total_seconds() < 1.5
    assert stopped.value.kind == "timeout"
    assert "while the model read page 1" in stopped.value.reason


class _Ending(RecordedAttempt):
    """An attempt whose time is over half a second after it was made."""

    def __init__(self) -> None:
        super().__init__({})
        self._end = datetime.now().timestamp() + 0.5

    def seconds_left(self) -> float:
        return self._end - datetime.now().timestamp()


@pytest.mark.parametrize("kind", ["hang", "trickle"])
def test_an_attempt_without_a_deadline_has_the_timeout_of_the_setting(
    kind: FaultKind, server: ModelServer, attempt: RecordedAttempt
) -> None:
    """The call as a whole is bounded, also where the endpoint sends a space now and then."""
    assert attempt.seconds_left() == math.inf
    server.simulation.fault = Fault(kind, seconds=30)
    started = time.monotonic()
    with pytest.raises(Retry, match="FOREBAY_MODEL_TIMEOUT") as refused:
        read(server, attempt, page(1, *INVOICE), TIMEOUT="1")
    assert refused.value.kind == "timeout"
    assert time.monotonic() - started < 3


def test_an_answer_behind_spaces_is_read(server: ModelServer, attempt: RecordedAttempt) -> None:
    """An endpoint that keeps the connection busy for a while is no fault."""
    server.simulation.fault = Fault("trickle", seconds=0.3)
    assert values(read(server, attempt, page(1, *INVOICE))) == TRUTH


def test_what_the_machine_sets_for_openai_is_not_sent(
    server: ModelServer, attempt: RecordedAttempt, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Variables that the package knows are another account's: no header comes from them."""
    theirs = "X-Team: theirs\nauthorization: Bearer theirs\nContent-Type: text/theirs"
    for name, value in {
        "OPENAI_API_KEY": "theirs",
        "OPENAI_ADMIN_KEY": "theirs",
        "OPENAI_ORG_ID": "theirs",
        "OPENAI_PROJECT_ID": "theirs",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/theirs",
        "OPENAI_CUSTOM_HEADERS": theirs,
    }.items():
        monkeypatch.setenv(name, value)
    assert values(read(server, attempt, page(1, *INVOICE))) == TRUTH
    (headers,) = server.simulation.headers
    assert headers["authorization"] == "Bearer secret-key"
    assert headers["content-type"] == "application/json"
    assert "theirs" not in " ".join([*headers, *headers.values()])
    assert not {"x-team", "openai-organization", "openai-project"} & headers.keys()


@pytest.mark.parametrize(
    "kept", [{}, {"is_truncated": True}, {"answer": {"total": 5}}, {"answer": {"lines": "none"}}]
)
def test_a_kept_answer_of_another_shape_is_asked_for_again(
    kept: dict[str, Any], server: ModelServer, attempt: RecordedAttempt
) -> None:
    """What another release kept, or what was damaged, is not there."""
    model, checkpoints = model_at(server), MemoryCheckpoints()
    model.extract([page(1, *INVOICE)], attempt, checkpoints)
    checkpoints.values = dict.fromkeys(checkpoints.values, kept)
    assert values(model.extract([page(1, *INVOICE)], attempt, checkpoints)) == TRUTH
    assert len(attempt.calls) == 2
