"""What the dashboard's pages are made of, without a browser: filters, charts, gauges, links."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from inspect import signature
from typing import Any

import pytest
from starlette.datastructures import QueryParams

from conftest import Connect
from forebay.calls import operator, viewer
from forebay.errors import SettingError
from forebay.rows import MetricPoint
from forebay_apps.orchestrator import charts, gauges
from forebay_apps.orchestrator.acts import ACTS, outcome
from forebay_apps.orchestrator.agent_settings import SETTINGS, read, written
from forebay_apps.orchestrator.filter_form import shown, words
from forebay_apps.orchestrator.filters import NO_CUSTOMER, Filters
from forebay_apps.orchestrator.links import Links
from forebay_apps.orchestrator.shown import MOST_CHARACTERS, MOST_LEVELS
from forebay_apps.orchestrator.shown import shown as document_shown
from forebay_apps.web.errors import Refusal

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
ATTEMPT = {
    "attempt_id": 7,
    "task_id": 3,
    "run_id": "9007199254740993",
    "launcher": "lakeflow",
}


def point(hour: int, **fields: object) -> MetricPoint:
    """Return a point of a series in which nothing happened, but for these fields."""
    nothing = dict.fromkeys(
        ("enqueued", "processing", "completed", "failed", "cancelled"), 0
    ) | dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens"), 0)
    return MetricPoint(
        starts_at=NOON + hour * HOUR,
        ends_at=NOON + (hour + 1) * HOUR,
        **nothing
        | {
            "llm_usd": Decimal(0),
            "compute_usd": Decimal(0),
            "response_median": None,
            "response_p95": None,
        }
        | fields,  # type: ignore[arg-type]
    )


def test_money_of_what_ended_is_not_called_in_flight(connect: Connect) -> None:
    """A cap also counts what ended without a known cost; the gauge says which it may be."""
    operator.register_agent(connect("operator"), agent="a", max_usd_per_day=Decimal(1))
    (state,) = viewer.agent_status(connect("viewer"))

    def note(**fields: Any) -> str | None:
        return gauges.of_agent(replace(state, **fields))[-1].note

    more = Decimal("0.04")
    assert note(usd_projected=Decimal(0)) is None
    ended = note(usd_projected=more)
    assert ended == "up to $0.0400 more, of what ended without a known cost"
    flying = note(usd_projected=more, in_use=1)
    assert flying == "up to $0.0400 more, in flight or ended without a known cost"


def test_the_url_says_the_filters_and_the_filters_the_url() -> None:
    """Whatever was picked comes back from the query that the filters make."""
    text = (
        "range=all&from=2026-01-01T12:00&to=2026-01-02T00:00&status=failed&status=completed"
        "&agent=a%26b&customer=M%C3%BCller+%3Cb%3E&no_customer=1&batch=7&q=50%25&confidence=0.7"
    )
    filters = Filters.read(QueryParams(text))
    assert filters == Filters(
        from_=NOON,
        to=NOON + 12 * HOUR,
        statuses=("failed", "completed"),
        agents=("a&b",),
        customers=("Müller <b>", NO_CUSTOMER),
        batch_id=7,
        search="50%",
        max_confidence=Decimal("0.7"),
    )
    assert Filters.read(QueryParams(filters.query())) == filters


def test_times_of_any_year_come_back() -> None:
    """A year that is typed wrong is no error on the next page."""
    filters = Filters.read(QueryParams("from=0202-01-01T10:05"))
    assert Filters.read(QueryParams(filters.query())) == filters
    assert shown(filters)["inputs"](filters.from_) == "0202-01-01T10:05"
    assert words(filters) == ["created from 0202-01-01 10:05 UTC"]


def test_a_range_is_fixed_before_an_act() -> None:
    """What matched when the person was asked is what is counted again: its start does not move."""
    fixed = Filters.read(QueryParams("range=1h")).fixed()
    assert fixed.range == "all"
    assert fixed.from_ is not None
    assert Filters.read(QueryParams(fixed.query())).from_ == fixed.from_
    assert datetime.now(UTC) - fixed.from_ < HOUR + timedelta(minutes=1)


@pytest.mark.parametrize(
    "query",
    [
        "range=ever",
        "status=done",
        "from=yesterday",
        "batch=-1",
        "batch=1e3",
        "batch=9223372036854775808",
        "confidence=NaN",
        "confidence=2",
        "confidence=much",
        "from=9999-12-31T23:59-23:59",
    ],
)
def test_a_filter_that_makes_no_sense_is_refused(query: str) -> None:
    """It is a sentence of 400, never a page of something else."""
    with pytest.raises(Refusal) as refused:
        Filters.read(QueryParams(query))
    assert refused.value.status == 400


def test_what_is_empty_does_not_filter() -> None:
    """A form sends its empty fields too."""
    assert Filters.read(QueryParams("q=&customer=&batch=&from=&status=&confidence=")).is_open


def test_a_chart_has_gaps_where_nothing_is_known() -> None:
    """A median of no task is a gap in the line and is no zero; cached tokens are not twice."""
    points = [
        point(0, completed=2, input_tokens=100, cached_tokens=40, response_median=HOUR),
        point(1),
    ]
    tasks, tokens, _, response = charts.over_time(points)
    assert json.loads(response.figure)["series"][0]["values"] == [3600.0, None]
    assert [series.values[0] for series in tokens.series] == [60, 0, 40]
    assert [label for label, _, _ in tasks.table] == ["2026-01-01 12:00"]
    assert not tasks.is_empty
    assert charts.over_time([point(0)])[0].is_empty


def test_a_chart_escapes_nothing_and_says_no_more_than_it_draws() -> None:
    """The figure is data for an attribute, which the template escapes."""
    figure = json.loads(charts.over_time([point(0, failed=1)])[0].figure)
    assert set(figure) == {"kind", "unit", "x", "series", "links", "widths"}


def test_the_addresses_of_runs_and_traces_are_made_of_settings() -> None:
    """Ids go in whole and quoted; what is not known or runs here has no address."""
    links = Links.read(
        {
            "FOREBAY_RUN_URL": "https://dbx.example/jobs/{job_id}/runs/{run_id}",
            "FOREBAY_TRACE_URL": "https://dbx.example/t?id={trace_id}",
        }
    )
    assert links.run(ATTEMPT, job_id=5) == "https://dbx.example/jobs/5/runs/9007199254740993"
    assert links.run(ATTEMPT, job_id=None) is None
    assert links.run(ATTEMPT | {"launcher": "local"}, job_id=5) is None
    assert links.run(ATTEMPT | {"run_id": None}, job_id=5) is None
    assert links.trace("a/b&c") == "https://dbx.example/t?id=a%2Fb%26c"
    assert links.trace(None) is None
    assert Links.read({}).run(ATTEMPT, job_id=5) is None


@pytest.mark.parametrize(
    "template", ["javascript:alert({run_id})", "https://x.example/{password}", "//x.example"]
)
def test_a_template_that_makes_no_address_stops_the_start(template: str) -> None:
    """The message names the variable."""
    with pytest.raises(SettingError, match="FOREBAY_RUN_URL"):
        Links.read({"FOREBAY_RUN_URL": template})


def test_every_parameter_of_an_agent_can_be_set() -> None:
    """What register_agent takes is on the form, but for who asks and why."""
    names = [setting.name for setting in SETTINGS]
    parameters = set(signature(operator.register_agent).parameters)
    assert len(names) == len(set(names))
    assert set(names) == parameters - {"connection", "agent", "reason", "actor"}


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("45", 45), ("0.5", 0.5), ("1 h 30 m", 5400), ("90d", 7_776_000), ("0 s", 0)],
)
def test_times_are_written_as_they_are_read(said: str, seconds: float) -> None:
    """A form that is sent as it came changes nothing."""
    (lease,) = [setting for setting in SETTINGS if setting.name == "lease"]
    found = read(lease, said)
    assert found == timedelta(seconds=seconds)
    assert read(lease, written(found)) == found
    assert written(timedelta(days=90)) == "90 d"


@pytest.mark.parametrize("said", ["", "soon", "-5 s", "1 week", "9999999 d", "m", "1e3", "NaN"])
def test_what_is_no_time_is_refused(said: str) -> None:
    """The sentence names the setting."""
    (lease,) = [setting for setting in SETTINGS if setting.name == "lease"]
    with pytest.raises(Refusal, match=r"^Lease "):
        read(lease, said)


def test_an_act_says_what_it_did() -> None:
    """In one sentence: what changed, what did not, what was not there."""
    cancel = ACTS["cancel"]
    assert outcome(cancel, [("cancelled", 1)]) == "1 task cancelled."
    said = outcome(cancel, [("cancelled", 1200), ("none", 2), ("unknown", 1)])
    assert said == "1,200 tasks cancelled, 2 left as they were, 1 unknown."


def nested(value: object, levels: int) -> object:
    """Return value inside of so many lists."""
    for _ in range(levels):
        value = [value]
    return value


def test_a_document_is_shown_as_it_is() -> None:
    """Indented, whatever is in it, and not at all where there is none."""
    document = {"a": [1, "ü", None], "b": {}, "c": nested([], MOST_LEVELS - 2)}
    found = document_shown(document)
    assert found is not None
    assert found.is_whole
    assert json.loads(found.text) == document
    assert "\n  " in found.text
    assert "ü" in found.text
    assert document_shown({"usd": Decimal("0.25")}) == document_shown({"usd": 0.25})
    assert document_shown({}) is None
    assert document_shown(None) is None


@pytest.mark.parametrize(
    "document",
    [
        nested([1] * 340_000, 900),
        [1] * 340_000,
        {str(n): n for n in range(100_000)},
        ["x" * 1_000_000],
        nested(1, 900),
        {"a": nested(1, MOST_LEVELS)},
    ],
    ids=["deep and wide", "a list", "an object", "a text", "deep", "a level too deep"],
)
def test_a_document_of_any_shape_is_shown_in_bounds(document: object) -> None:
    """Its beginning, in less memory than the document has; what is left out is said."""
    tracemalloc.start()
    found = document_shown(document)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found is not None
    assert not found.is_whole
    assert len(found.text) <= MOST_CHARACTERS
    assert most < 20_000_000  # bytes
