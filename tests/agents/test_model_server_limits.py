"""The simulated endpoint holds its callers to limits exactly, and logs what it decided."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import openai
import pytest

from forebay_lab.model_server import CallLog, Limit, ModelServer, Simulation
from forebay_lab.model_server.limits import Bucket, Window

Answer = tuple[int, dict[str, str], dict[str, Any]]
Post = Callable[..., Answer]


@contextmanager
def serving(*limits: str, **more: Any) -> Iterator[ModelServer]:
    """Run the endpoint with these limits and a log in memory."""
    parsed = tuple(map(Limit.parse, limits))
    with ModelServer(Simulation(limits=parsed, log=CallLog(), **more)) as server:
        yield server


def caller(server: ModelServer) -> Post:
    """Return what makes one call that costs what it says, on a connection that stays open."""
    line = http.client.HTTPConnection("127.0.0.1", int(server.base_url.split(":")[2][:-3]))

    def post(tokens: float = 1, output: int = 0, seconds: float = 0, **body: Any) -> Answer:
        headers = {
            "x-lab-input-tokens": str(tokens),
            "x-lab-output-tokens": str(output),
            "x-lab-seconds": str(seconds),
            "x-lab-call": "mine",
        }
        said = json.dumps({"model": "synthetic", "messages": []} | body)
        line.request("POST", "/v1/chat/completions", said, headers)
        answer = line.getresponse()
        return answer.status, dict(answer.getheaders()), json.loads(answer.read())

    return post


def records(server: ModelServer) -> list[dict[str, Any]]:
    log = server.simulation.log
    assert log
    return log.records


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("requests/minute=60", Limit("requests/minute", "requests", 60, 60)),
        ("tokens/6s=400:window", Limit("tokens/6s", "tokens", 400, 6)),
        ("input_tokens/hour=9:bucket", Limit("input_tokens/hour", "input_tokens", 9, 3600, 9)),
        (
            "output_tokens/0.5s=8:bucket:0.5",
            Limit("output_tokens/0.5s", "output_tokens", 8, 0.5, 4),
        ),
        ("concurrent_calls=8", Limit("concurrent_calls", "concurrent_calls", 8)),
    ],
)
def test_limits_are_written_as_text(text: str, limit: Limit) -> None:
    """Units and periods as the queue's, a window where nothing else is said."""
    assert Limit.parse(text) == limit


@pytest.mark.parametrize(
    "text",
    [
        *("", "requests", "requests=6", "requests/minute", "requests/minute=-1", "bees/minute=1"),
        *("requests/week=1", "requests/6=1", "requests/0s=1", "requests/minute=1:jar"),
        *("concurrent_calls/minute=1", "concurrent_calls=1:bucket", "tokens/minute=1:window:2"),
    ],
)
def test_what_is_no_limit_is_refused(text: str) -> None:
    """With a sentence."""
    with pytest.raises(ValueError, match=r"\.$"):
        Limit.parse(text)


def test_a_window_counts_each_call_for_its_period() -> None:
    """What was taken in the last period and a call may reach the amount; the wait is exact."""
    window = Window(10, 6.0)
    first = window.take(100.0, 6)
    window.take(103.0, 4)
    assert window.left(105.999) == 0
    assert window.wait(104.0, 1) == pytest.approx(2.0)
    assert window.wait(104.0, 7) == pytest.approx(5.0)
    assert window.wait(104.0, 11) == float("inf")
    window.correct(104.0, first, 1)
    assert window.left(104.0) == 5
    assert window.left(106.0) == 6
    window.correct(107.0, first, 9)
    assert window.left(107.0) == 6
    assert window.left(109.0) == 10


def test_a_bucket_refills_all_the_time() -> None:
    """From full at the start, never above its size; what was too much comes back."""
    bucket = Bucket(10, rate=2.0, now=100.0)
    charge = bucket.take(100.0, 10)
    assert bucket.left(101.5) == 3
    assert bucket.wait(101.5, 4) == pytest.approx(0.5)
    assert bucket.wait(101.5, 11) == float("inf")
    bucket.correct(101.5, charge, 6)
    assert bucket.left(101.5) == 7
    assert bucket.left(1000.0) == 10


def test_a_strict_window_is_never_exceeded_by_threads() -> None:
    """By the log of decisions, however many call at once; and it is used up."""
    with serving("tokens/0.5s=100") as server:
        end = time.monotonic() + 2

        def go() -> None:
            post = caller(server)
            while time.monotonic() < end:
                post(tokens=7)

        threads = [threading.Thread(target=go) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        times = [record["at"] for record in records(server)]
        assert times == sorted(times)
        admitted = [record["at"] for record in records(server) if record["event"] == "admitted"]
    most = max(sum(at - 0.5 < other <= at for other in admitted) for at in admitted)
    assert most == 100 // 7


def test_concurrent_calls_are_counted_until_their_answer() -> None:
    """A call that comes after an answer is not refused because of the call that was answered."""
    with serving("concurrent_calls=3") as server:
        statuses: list[int] = []

        def go() -> None:
            post = caller(server)
            statuses.extend(post(seconds=0.001)[0] for _ in range(100))

        threads = [threading.Thread(target=go) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert statuses == [200] * 300
        assert max(record["in_flight"] for record in records(server)) <= 3
        holders = [threading.Thread(target=caller(server), args=(1, 0, 0.5)) for _ in range(3)]
        for thread in holders:
            thread.start()
        time.sleep(0.2)
        status, headers, body = caller(server)()
        for thread in holders:
            thread.join()
    assert (status, headers["retry-after"]) == (429, "1")
    assert "concurrent_calls" in body["error"]["message"]


def test_a_refused_call_costs_nothing_and_says_when() -> None:
    """All limits or none: what one refuses is charged to no other."""
    with serving("requests/minute=60", "tokens/6s=100:bucket") as server:
        post = caller(server)
        assert post(tokens=80)[0] == 200
        status, headers, body = post(tokens=70)
        assert status == 429
        assert body["error"]["code"] == "rate_limit_exceeded"
        assert 2_900 <= int(headers["retry-after-ms"]) <= 3_000
        assert headers["retry-after"] == "3"
        assert headers["x-ratelimit-limit-requests"] == "60"
        assert headers["x-ratelimit-remaining-requests"] == "59"
        assert headers["x-ratelimit-remaining-tokens"] in ("20", "21")
        assert headers["x-ratelimit-reset-requests"].endswith("s")
        assert post(tokens=15)[0] == 200
        admitted, ended, refused, *_ = records(server)
    assert [one["event"] for one in (admitted, ended, refused)] == ["admitted", "ended", "refused"]
    assert (refused["why"], refused["needs"], refused["label"]) == ("tokens/6s", 70, "mine")
    assert refused["left"]["requests/minute"] == 59
    assert (admitted["in_flight"], ended["in_flight"]) == (1, 0)


def test_what_an_answer_may_have_is_reserved() -> None:
    """max_tokens counts at the arrival, what the answer had in the end; longer ones are cut."""
    with serving("output_tokens/minute=100") as server:
        post = caller(server)
        assert post(output=10, max_tokens=90)[0] == 200
        assert post(output=20, max_completion_tokens=91)[0] == 429
        _, _, body = post(output=500, max_tokens=90)
        assert body["usage"]["completion_tokens"] == 90
        assert body["choices"][0]["finish_reason"] == "length"
        assert post(output=1)[0] == 429
        first, ended, *_ = records(server)
    assert (first["output"], ended["output"], ended["left"]) == (
        90,
        10,
        {"output_tokens/minute": 90},
    )


def test_an_answer_that_has_an_end_by_itself_is_charged_as_it_is() -> None:
    """Without a limit of output the endpoint counts what it will answer."""
    with serving("output_tokens/minute=100") as server:
        post = caller(server)
        assert [post(output=60)[0] for _ in range(2)] == [200, 429]


def test_a_document_is_cut_at_its_limit_of_output() -> None:
    """The real client sees an answer that was cut off, and the tokens it had."""
    with serving() as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0)
        said: Any = [{"role": "user", "content": "=== a page 1\nTotal   5.00\n=== a end"}]
        answer = client.chat.completions.create(model="m", messages=said, max_tokens=9)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 9


def test_a_call_takes_the_time_of_its_tokens() -> None:
    """So many a second are read and written, faster by the speed; a stated time stands."""
    pace = {"latency": 1.0, "input_rate": 1000.0, "output_rate": 100.0, "speed": 10.0}
    with serving(**pace) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0)
        said: Any = [{"role": "user", "content": "word " * 1000}]
        began = time.monotonic()
        usage = client.chat.completions.create(model="m", messages=said).usage
        assert usage is not None
        due = (1 + usage.prompt_tokens / 1000 + usage.completion_tokens / 100) / 10
        assert due <= time.monotonic() - began < due + 2
        began = time.monotonic()
        caller(server)(tokens=100_000, seconds=0.1)
        assert 0.1 <= time.monotonic() - began < 1


@pytest.mark.parametrize("tokens", ["-1", "nan", "inf", "many"])
def test_a_cost_that_is_no_number_is_refused(tokens: str) -> None:
    """As what is no request."""
    simulation = Simulation()
    assert simulation.complete({"messages": []}, None, {"x-lab-input-tokens": tokens}).status == 400


def test_synthetic_calls_are_not_remembered() -> None:
    """A long drill does not fill the memory."""
    with serving() as server:
        assert caller(server)()[2]["choices"][0]["message"]["content"] == "synthetic"
        assert server.simulation.requests == []


def test_the_log_is_a_file_of_json_lines(tmp_path: Path) -> None:
    """Each is there as soon as it is decided; the clock is the one of this machine."""
    log = tmp_path / "log.jsonl"
    with ModelServer(Simulation(log=CallLog(log))) as server:
        before = time.monotonic()
        caller(server)(tokens=5, output=2)
        lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["event"] for line in lines] == ["admitted", "ended"]
    assert all(one["at"] <= other["at"] for one, other in pairwise(lines))
    assert before <= lines[0]["at"] <= time.monotonic()
    assert abs(lines[0]["wall"] - time.time()) < 60
    assert (lines[0]["input"], lines[0]["output"], lines[0]["call"]) == (5, 2, 1)


def test_closing_ends_the_connections() -> None:
    """A client that keeps its connection is not served any more."""
    with serving() as server:
        post = caller(server)
        assert post()[0] == 200
    with pytest.raises((OSError, http.client.HTTPException)):
        post()
