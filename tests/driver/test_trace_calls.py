"""Calls in traces, each counted once, and their tokens as every provider tells them: CO1, 3, 5."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forebay.tokens import Tokens, tokens_of
from forebay.traces.spans import COST, MODEL, OWN_CALL, OWN_COST, PAGES, USAGE, SpanSeen, calls_of

OPENAI = {
    "prompt_tokens": 17903,
    "completion_tokens": 5,
    "total_tokens": 17908,
    "prompt_tokens_details": {"cached_tokens": 17817},
}
RESPONSES = {
    "input_tokens": 17903,
    "output_tokens": 5,
    "total_tokens": 17908,
    "input_tokens_details": {"cached_tokens": 17817},
}
ANTHROPIC = {
    "input_tokens": 86,
    "output_tokens": 5,
    "cache_read_input_tokens": 17817,
    "cache_creation_input_tokens": 0,
}
OF_MLFLOW = {
    "input_tokens": 17903,
    "output_tokens": 5,
    "total_tokens": 17908,
    "cache_read_input_tokens": 17817,
}
BEDROCK = {"inputTokens": 86, "outputTokens": 5, "cacheReadInputTokens": 17817}
CLAUDE = {"cache_read_input_tokens": 17817, "cache_creation_input_tokens": 0}
BESIDE = {"prompt_tokens": 86, "completion_tokens": 5} | CLAUDE
SMALL_CACHE = {"input_tokens": 900, "output_tokens": 5, "cache_read_input_tokens": 100}


@pytest.mark.parametrize(
    ("usage", "provider", "wanted"),
    [
        pytest.param(OPENAI, "openai", Tokens(17903, 5, 17817), id="OpenAI, chat"),
        pytest.param(RESPONSES, "openai", Tokens(17903, 5, 17817), id="OpenAI, responses"),
        pytest.param(ANTHROPIC, "anthropic", Tokens(17903, 5, 17817), id="Anthropic"),
        pytest.param(ANTHROPIC, None, Tokens(17903, 5, 17817), id="Anthropic, nobody says so"),
        pytest.param(BEDROCK, None, Tokens(17903, 5, 17817), id="Bedrock"),
        pytest.param(
            BEDROCK | {"totalTokens": 91, "cacheWriteInputTokens": 14},
            "bedrock",
            Tokens(17917, 5, 17817),
            id="Bedrock, written and a total",
        ),
        pytest.param(OF_MLFLOW, "anthropic", Tokens(17903, 5, 17817), id="Anthropic by MLflow"),
        pytest.param(OF_MLFLOW, "openai", Tokens(17903, 5, 17817), id="OpenAI by MLflow"),
        pytest.param(
            ANTHROPIC | {"total_tokens": 91}, "anthropic", Tokens(17903, 5, 17817), id="old MLflow"
        ),
        pytest.param(SMALL_CACHE, "anthropic", Tokens(1000, 5, 100), id="Anthropic, little cached"),
        pytest.param(SMALL_CACHE, "openai", Tokens(900, 5, 100), id="OpenAI, little cached"),
        pytest.param(SMALL_CACHE, None, Tokens(900, 5, 100), id="as MLflow documents it"),
        pytest.param(
            SMALL_CACHE | {"total_tokens": 1005}, None, Tokens(1000, 5, 100), id="the sum says it"
        ),
        pytest.param(
            SMALL_CACHE | {"total_tokens": 905}, "anthropic", Tokens(900, 5, 100), id="and so here"
        ),
        pytest.param(
            {"prompt_tokens": 17903, "completion_tokens": 5, "total_tokens": 17908} | CLAUDE,
            "anthropic",
            Tokens(17903, 5, 17817),
            id="Claude on Databricks",
        ),
        pytest.param(BESIDE, None, Tokens(17903, 5, 17817), id="beside the prompt, no total"),
        pytest.param(
            BESIDE | {"total_tokens": 91}, None, Tokens(17903, 5, 17817), id="nor in the total"
        ),
        pytest.param(
            {"prompt_tokens": 900, "completion_tokens": 5, "total_tokens": 1005}
            | {"cache_read_input_tokens": 60, "cache_creation_input_tokens": 40},
            None,
            Tokens(1000, 5, 60),
            id="beside the prompt, the sum says it",
        ),
        pytest.param(
            OPENAI | CLAUDE, None, Tokens(17903, 5, 17817), id="a detail, and by its other name"
        ),
        pytest.param(
            OPENAI | {"prompt_tokens": 86, "total_tokens": 91},
            None,
            Tokens(86, 5, None),
            id="a detail larger than the whole",
        ),
        pytest.param(
            {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 2000},
            "bedrock",
            Tokens(2010, 1, None),
            id="written to the cache, none read",
        ),
        pytest.param(
            {"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 20},
            "openai",
            Tokens(10, 1, None),
            id="more cached than there is",
        ),
        pytest.param(
            {"input_tokens": 10, "output_tokens": 0}, None, Tokens(10, 0, None), id="0 is a number"
        ),
        pytest.param({"output_tokens": 5}, None, Tokens(None, 5, None), id="input unknown"),
        pytest.param({"cache_read_input_tokens": 5}, None, Tokens(), id="cached alone"),
        pytest.param({"total_tokens": 5}, None, Tokens(), id="a total alone"),
        pytest.param({}, None, Tokens(), id="nothing"),
        pytest.param(None, None, Tokens(), id="no usage"),
        pytest.param("12", None, Tokens(), id="a word"),
        pytest.param([1, 2], "openai", Tokens(), id="a list"),
    ],
)
def test_co5_tokens_are_those_of_the_provider(
    usage: object, provider: str | None, wanted: Tokens
) -> None:
    """The input holds what was cached, whoever tells it; so 86 of 17,903 tokens are fresh."""
    assert tokens_of(usage, provider) == wanted


@pytest.mark.parametrize(
    "bad", [-1, 1.5, float("nan"), float("inf"), 10**13, 1e300, "7", True, None, [7], {"a": 7}]
)
@pytest.mark.parametrize("name", ["input_tokens", "output_tokens", "cache_read_input_tokens"])
def test_what_is_no_number_of_tokens_is_unknown(bad: object, name: str) -> None:
    """It is never 0, and the other numbers stay."""
    usage = {"input_tokens": 9, "output_tokens": 9, "cache_read_input_tokens": 9} | {name: bad}
    tokens = tokens_of(usage)
    assert tokens.output == (None if name == "output_tokens" else 9)
    assert tokens.input == (None if name == "input_tokens" else 9)
    assert tokens.cached == (9 if name == "output_tokens" else None)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.decimals().map(str),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
NAMES = st.sampled_from([USAGE, COST, MODEL, OWN_CALL, OWN_COST, PAGES])
KEYS = st.sampled_from(["input_tokens", "output_tokens", "total_tokens", "total_cost"])
IDS = st.sampled_from(["a", "b", "c", "d"])
SPANS = st.lists(
    st.builds(
        SpanSeen,
        span_id=IDS,
        parent_id=st.none() | IDS,
        kind=st.sampled_from(["CHAT_MODEL", "AGENT", "x"]),
        attributes=st.dictionaries(NAMES, ANYTHING | st.dictionaries(KEYS, ANYTHING)),
        started=st.none() | st.integers(),
        ended=st.none() | st.integers(),
    ),
    max_size=5,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(SPANS)
def test_no_span_can_break_the_reading(spans: list[SpanSeen]) -> None:
    """Whatever stands in a trace, numbers that come out are ones that the database takes."""
    for call in calls_of("tr-1", spans):
        for name in ("input_tokens", "output_tokens", "cached_tokens"):
            assert 0 <= call.get(name, 0) <= 10**12
        for name in ("pages", "cost_usd", "list_usd"):
            assert re.fullmatch(r"-?[0-9]{1,40}([.][0-9]{1,40})?", call.get(name, "0"))
            assert 0 <= Decimal(call.get(name, "0")) <= 10**9
        assert call.get("cached_tokens", 0) <= call.get("input_tokens", 0)


def span(
    key: str,
    parent: str | None = None,
    used: tuple[int, int] | None = None,
    kind: str = "CHAT_MODEL",
    **attributes: Any,
) -> SpanSeen:
    """Return a span that used so many tokens in and out."""
    if used:
        attributes[USAGE] = {"input_tokens": used[0], "output_tokens": used[1]}
    return SpanSeen(key, parent, kind, attributes, name=f"name of {key}")


def counted(*spans: SpanSeen) -> dict[str, tuple[int | None, int | None]]:
    """Return what counts of a trace: the tokens of each call."""
    return {
        call["call_id"].removeprefix("tr-1/"): (call.get("input_tokens"), call.get("output_tokens"))
        for call in calls_of("tr-1", spans)
    }


def test_co1_a_sum_is_not_counted_beside_its_parts() -> None:
    """A root that tells 100, above two calls of 50: the calls count."""
    spans = [
        span("root", None, (100, 0), "AGENT"),
        span("1", "root", (50, 0)),
        span("2", "root", (50, 0)),
    ]
    assert counted(*spans) == {"1": (50, 0), "2": (50, 0)}


@pytest.mark.parametrize("hidden", [[], [("2", "TOOL")], [("2", "CHAT_MODEL")]])
def test_co1_what_a_sum_tells_beyond_its_parts_counts(hidden: list[tuple[str, str]]) -> None:
    """It was used all the same, once, by them or by those that tell nothing."""
    spans = [span(key, "root", kind=kind) for key, kind in hidden]
    whole = [span("root", None, (120, 0), "AGENT"), span("1", "root", (50, 0)), *spans]
    assert counted(*whole) == {"1": (50, 0), "root": (70, 0)}
    assert counted(span("top", None, (120, 0), "AGENT"), span("root", "top"), *whole[1:]) == {
        "1": (50, 0),
        "top": (70, 0),
    }


def test_a_sum_erases_nothing_that_its_parts_tell() -> None:
    """Each keeps its model, of a call beside them it is not known; so it is with costs."""
    big, small = ({MODEL: model, OWN_COST: "0.1"} for model in ("big", "small"))
    parts = [span("1", "root", (100, 10), **big), span("2", "root", (100, 10), **small)]
    root = span("root", None, (201, 20), "AGENT", **{OWN_COST: "0.25"})
    calls = calls_of("tr-1", [root, *parts])
    assert [
        (call.get("model"), call["input_tokens"], call["output_tokens"], call["cost_usd"])
        for call in calls
    ] == [("big", 100, 10, "0.1"), ("small", 100, 10, "0.1"), (None, 1, 0, "0.05")]
    for usd, unknown in (("0.15", small), ("0.25", {MODEL: "small"})):
        root = span("root", None, (201, 20), "AGENT", **{OWN_COST: usd})
        [*_, rest] = calls_of("tr-1", [root, parts[0], span("2", "root", (100, 10), **unknown)])
        assert (rest["input_tokens"], "cost_usd" in rest) == (1, False)


def test_what_tells_of_less_than_its_parts_is_not_their_sum() -> None:
    """By one number is enough: it is no measure of them, and they are known."""
    leaf = span("1", "root", (100, 50), **{MODEL: "big"})
    (call,) = calls_of("tr-1", [span("root", None, (120, 10), "AGENT"), leaf])
    assert (call["model"], call["input_tokens"], call["output_tokens"]) == ("big", 100, 50)


def test_what_a_page_costs_is_beside_the_tokens_below_it() -> None:
    """A span that is paid by the page used no tokens itself."""
    parser = span("p", None, kind="PARSER", **{PAGES: 2, OWN_CALL: "c"})
    assert counted(parser, span("1", "p", (7, 1))) == {"1": (7, 1), "p": (0, 0)}


NUMBERS = st.tuples(st.integers(0, 9), st.integers(0, 9))


@given(st.lists(st.tuples(st.integers(0, 4), st.none() | NUMBERS), max_size=6), NUMBERS)
def test_a_root_that_tells_of_all_is_what_is_counted(
    below: list[tuple[int, tuple[int, int] | None]], more: tuple[int, int]
) -> None:
    """However deep the others are: their sum and the rest is what it tells, to each number."""
    told = [used or (0, 0) for _, used in below]
    whole = [sum(each) for each in zip(*told, more, strict=True)]
    spans = [
        span(str(number), "root" if above >= number else str(above), used)
        for number, (above, used) in enumerate(below)
    ]
    found = counted(span("root", None, (whole[0], whole[1]), "AGENT"), *spans).values()
    numbers = [[tokens[n] for tokens in found] for n in range(2)]
    known = [sum(n or 0 for n in each) for each in numbers]
    assert known == list(whole)


def test_a_stream_whose_answer_only_the_outer_span_tells_is_one_call() -> None:
    """The inner span knows the input and the model, the outer one of another library both tokens.

    Of several such, or where it tells of more, it is known together alone.
    """
    inner = SpanSeen("2", "1", "LLM", {USAGE: {"input_tokens": 50}, MODEL: "m"})
    (call,) = calls_of("tr-1", [span("1", None, (50, 7)), inner])
    assert (call["call_id"], call["model"], call["input_tokens"], call["output_tokens"]) == (
        "tr-1/2",
        "m",
        50,
        7,
    )
    assert counted(span("1", None, (60, 7)), inner) == {"1": (60, 7)}
    other = SpanSeen("3", "1", "LLM", {USAGE: {"input_tokens": 50}})
    assert counted(span("1", None, (100, 14)), inner, other) == {"1": (100, 14)}


def test_sums_of_sums_are_not_counted() -> None:
    """Of several levels that tell the same the lowest counts."""
    assert counted(
        span("top", None, (100, 9), "AGENT"),
        span("left", "top", (60, 5), "CHAIN"),
        span("right", "top", (40, 4)),
        span("1", "left", (30, 5)),
        span("2", "left", (30, 0)),
    ) == {"1": (30, 5), "2": (30, 0), "right": (40, 4)}


def test_a_call_is_known_by_trace_and_span() -> None:
    """Ids of spans are unique in their trace only."""
    assert calls_of("tr-1", [span("1")])[0]["call_id"] == "tr-1/1"
    assert calls_of("tr-2", [span("1")])[0]["call_id"] == "tr-2/1"


def test_a_call_that_two_libraries_record_counts_once() -> None:
    """One span in another, through one that tells nothing: the inner one is the call."""
    assert counted(
        span("outer", None, (50, 5)),
        span("chain", "outer", kind="CHAIN"),
        span("inner", "chain", (50, 5)),
    ) == {"inner": (50, 5)}


def test_a_call_takes_the_cost_that_only_the_span_around_it_tells() -> None:
    """And the model; what it tells itself stays, and a sum over several calls is none of theirs."""
    outer = span("outer", None, (50, 5), **{OWN_COST: "0.5", MODEL: "m"})
    between = span("between", "outer", (50, 5), **{COST: {"total_cost": 0.4}})
    (call,) = calls_of("tr-1", [outer, between, span("inner", "between", (50, 5))])
    assert (call["call_id"], call["model"]) == ("tr-1/inner", "m")
    assert (call["cost_usd"], call["list_usd"]) == ("0.5", "0.4")
    (call,) = calls_of("tr-1", [outer, span("i", "outer", (50, 5), **{OWN_COST: 1, MODEL: "n"})])
    assert (call["cost_usd"], call["model"]) == ("1", "n")
    for used in ((50, 5), (0, 0)), ((50, 5), None), ((49, 5), (1, 0)):
        parts = [span(str(n), "outer", each) for n, each in enumerate(used)]
        assert not any("cost_usd" in call for call in calls_of("tr-1", [outer, *parts]))


def test_a_call_takes_the_cached_tokens_that_only_the_span_around_it_tells() -> None:
    """They are cheaper; what the call tells itself stays."""
    used = {"input_tokens": 100, "output_tokens": 20}
    outer = span("outer", **{USAGE: used | {"cache_read_input_tokens": 40}})
    (call,) = calls_of("tr-1", [outer, span("inner", "outer", (100, 20))])
    assert (call["call_id"], call["cached_tokens"]) == ("tr-1/inner", 40)
    own = span("inner", "outer", **{USAGE: used | {"cache_read_input_tokens": 0}})
    (call,) = calls_of("tr-1", [outer, own])
    assert call["cached_tokens"] == 0
    parts = [span(str(n), "outer", (50, 10)) for n in range(2)]
    assert not any("cached_tokens" in call for call in calls_of("tr-1", [outer, *parts]))


def test_a_sum_stands_for_calls_that_tell_nothing() -> None:
    """Where only the span above says what was used, that is what is known, once."""
    spans = [span("root", None, (100, 7), "AGENT"), span("1", "root"), span("2", "root")]
    assert counted(*spans) == {"root": (100, 7)}


def test_co3_a_call_without_usage_is_unknown() -> None:
    """It counts as a call of which nothing is known; so it does beside others that are known."""
    assert counted(span("root", kind="AGENT"), span("1", "root")) == {"1": (None, None)}
    assert counted(
        span("root", None, (50, 0), "AGENT"), span("1", "root", (50, 0)), span("2", "root")
    ) == {"1": (50, 0), "2": (None, None)}


def test_an_unknown_call_that_two_libraries_record_is_one() -> None:
    """Of spans in each other that tell nothing the innermost is the call."""
    assert counted(span("outer"), span("inner", "outer")) == {"inner": (None, None)}


def test_spans_whose_parents_are_not_there_count() -> None:
    """A trace that came in part has calls below spans that are missing, and some in a circle."""
    assert counted(span("1", "gone", (5, 1)), span("2", "2", (6, 1))) == {"1": (5, 1), "2": (6, 1)}
    circle = counted(span("1", "2", (5, 1)), span("2", "1", (6, 1)))
    assert circle == {"1": (5, 1), "2": (1, 0)}


def test_a_sum_is_not_counted_beside_parts_whose_parent_is_missing() -> None:
    """What is below a span that is not there is below the root all the same."""
    root = span("root", None, (100, 0), "AGENT")
    orphans = [span("1", "gone", (50, 0)), span("2", "gone", (50, 0))]
    assert counted(root, *orphans) == {"1": (50, 0), "2": (50, 0)}
    assert counted(root, orphans[0]) == {"1": (50, 0), "root": (50, 0)}


def test_a_span_that_is_paid_by_the_page_used_no_tokens() -> None:
    """Its model is its name, as our own agents record ai_parse_document."""
    parser = span("1", kind="PARSER", **{PAGES: 12, OWN_CALL: "c"})
    (call,) = calls_of("tr-1", [parser])
    assert call == {
        "call_id": "tr-1/1",
        "trace_id": "tr-1",
        "model": "name of 1",
        "input_tokens": 0,
        "output_tokens": 0,
        "pages": "12",
    }
    assert counted(span("1", kind="PARSER", **{OWN_CALL: "c"})) == {"1": (None, None)}
