"""The lab's endpoint behaves as OpenAI-compatible endpoints do, and says that it is none."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest

from forebay_agents.check import Judged, judge
from forebay_agents.standalone import StandaloneAttempt, parse_file
from forebay_lab.model_server import FINGERPRINT, Fault, ModelServer, Simulation
from forebay_lab.model_server.__main__ import main
from forebay_lab.model_server.readers import answer
from forebay_lab.model_server.tokens import encode
from forebay_lab.samples import DEMO, Sample

from .model_support import settings

DOCUMENT = """=== abcd1234 page 1
Les Vannes SARL
Facture
N° de facture : F-1   Date : 31 juillet 2026
Pompe   2   40,00   80,00
Total HT   80,00 €
TVA 20 %   16,00 €
Total TTC   96,00 €
=== abcd1234 end"""


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Run the endpoint."""
    with ModelServer() as server:
        yield server


@pytest.fixture
def client(server: ModelServer) -> openai.OpenAI:
    """Return the real client, pointed to it."""
    return openai.OpenAI(base_url=server.base_url, api_key="any", max_retries=0)


def ask(client: openai.OpenAI, text: str = DOCUMENT, **more: Any) -> Any:
    messages: Any = [{"role": "system", "content": "Read."}, {"role": "user", "content": text}]
    return client.chat.completions.create(model="m", messages=messages, **more)


def test_every_answer_says_that_it_is_simulated(client: openai.OpenAI) -> None:
    """The fingerprint is in answers and refusals, and the help says so too."""
    assert ask(client).system_fingerprint == FINGERPRINT


def test_the_help_says_that_nothing_is_behind_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Who starts it learns that it is no model."""
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "There is no model behind it" in " ".join(capsys.readouterr().out.split())


def test_it_lists_a_model(client: openai.OpenAI) -> None:
    """The list of models is served as clients expect it."""
    assert [model.id for model in client.models.list()] == ["simulated-model"]


def test_it_reads_the_document_in_the_prompt() -> None:
    """Fields and lines are read by labels from the text between the marks, nothing else."""
    read = answer(DOCUMENT)
    said = {name: one["value"] for name, one in read.items() if name != "lines" and one}
    assert said == {
        "kind": "invoice",
        "number": "F-1",
        "date": "2026-07-31",
        "currency": "EUR",
        "total": "96.00",
        "total_net": "80.00",
        "tax": "16.00",
        "seller": "Les Vannes SARL",
    }
    assert read["lines"] == [
        {"description": "Pompe", "page": 1, "quantity": "2", "unit_price": "40.00"}
        | {"amount": "80.00"}
    ]
    assert answer("Total   5.00")["total"] is None


@pytest.mark.parametrize(
    ("rows", "seller"),
    [
        (("Invoice", "Weir Ltd   Invoice", "1 Lock Lane"), "Weir Ltd"),
        (("Invoice", "From   Customer", "Weir Ltd   Mill Ltd"), "Weir Ltd"),
        (("Invoice", "Bill to", "Mill Ltd"), None),
        (("Agreement", "Agreement No.   8484", "Weir Ltd"), None),
        (("Mietvertrag", "Vertrags-Nr. C202404530", "Weir GmbH"), None),
        (("ご請求書", "請求書番号:   SK1", "水門工業株式会社"), None),
        (("Invoice", "Our reference:   x", "Weir Ltd"), None),
        (("1 Lock Lane", "Weir Ltd"), None),
    ],
)
def test_a_label_is_no_seller(rows: tuple[str, ...], seller: str | None) -> None:
    """A name at the head is the seller; where a label or a number stands, none is named."""
    said = answer("\n".join(["=== abcd1234 page 1", *rows, "=== abcd1234 end"]))["seller"]
    assert (said and said["value"]) == seller


def test_wide_digits_are_numbers() -> None:
    """A sum in full-width digits is one number, commas included."""
    said = answer("=== abcd1234 page 1\n合計   ￥５６０，８５７\n=== abcd1234 end")
    assert said["total"]["value"] == "560857"


@pytest.mark.parametrize("name", DEMO)
def test_it_makes_no_sample_of_the_demo_worse(
    name: str,
    server: ModelServer,
    folder: Path,
    samples: dict[str, Sample],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What the rules read right stays right with what it reads, and nothing is invented."""
    document = f"{name}.pdf"
    truth = samples[document].truth()

    def read() -> Judged:
        return judge(parse_file(folder / document, StandaloneAttempt()), truth)

    alone = read()
    for key, value in settings(server).items():
        monkeypatch.setenv(key, value)
    helped = read()
    assert bool(server.simulation.requests) == (alone.read == "text")
    assert set(helped.misses) <= set(alone.misses)
    assert helped.is_status_right >= alone.is_status_right
    assert helped.lines["right"] >= alone.lines["right"]


def test_tokens_are_counted_with_a_real_tokenizer(client: openai.OpenAI) -> None:
    """The prompt's tokens are its text's and a few that frame the messages."""
    usage = ask(client).usage
    text = len(encode("Read.")) + len(encode(DOCUMENT))
    assert text < usage.prompt_tokens < text + 20
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def test_a_repeated_prefix_is_cached(client: openai.OpenAI) -> None:
    """From 1,024 tokens on, in steps of 128, as OpenAI documents it; a short one is not."""
    long = DOCUMENT + "\nand on it goes" * 500
    assert ask(client).usage.prompt_tokens_details.cached_tokens == 0
    assert ask(client).usage.prompt_tokens_details.cached_tokens == 0
    assert ask(client, long).usage.prompt_tokens_details.cached_tokens == 0
    cached = ask(client, long + "\nmore").usage.prompt_tokens_details.cached_tokens
    assert cached >= 1024
    assert cached % 128 == 0


def test_a_prompt_beyond_the_context_is_refused(server: ModelServer, client: openai.OpenAI) -> None:
    """The refusal has the code that clients know."""
    server.simulation.context_tokens = 50
    with pytest.raises(openai.BadRequestError) as refused:
        ask(client)
    assert refused.value.code == "context_length_exceeded"


def test_a_wrong_key_is_refused(server: ModelServer, client: openai.OpenAI) -> None:
    """With a key configured, no other is accepted."""
    server.simulation.api_key = "the-key"
    with pytest.raises(openai.AuthenticationError):
        ask(client)


def test_faults_can_be_queued_over_http(server: ModelServer, client: openai.OpenAI) -> None:
    """A fault befalls the next call only; an unknown kind is refused with the kinds there are."""
    assert _post(server, {"kind": "rate_limited", "headers": {"retry-after": "7"}}) == 200
    with pytest.raises(openai.RateLimitError) as refused:
        ask(client)
    assert refused.value.response.headers["retry-after"] == "7"
    assert ask(client).choices[0].finish_reason == "stop"
    assert _post(server, {"kind": "boredom"}) == 400


def _post(server: ModelServer, fault: dict[str, Any]) -> int:
    address = server.base_url.removesuffix("/v1") + "/lab/faults"
    request = urllib.request.Request(address, json.dumps(fault).encode())
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code


def test_a_request_without_messages_is_refused(server: ModelServer) -> None:
    """What is no request is the caller's fault, not the endpoint's crash."""
    assert Simulation().complete({"model": "m"}, None).status == 400
    assert Simulation().complete({"messages": [1]}, None).status == 400


def test_slow_answers_take_their_time(server: ModelServer, client: openai.OpenAI) -> None:
    """A client's timeout is met by a slow answer."""
    server.simulation.fault = Fault("slow", seconds=5)
    with pytest.raises(openai.APITimeoutError):
        ask(client, timeout=0.2)


@pytest.mark.parametrize("program", [["forebay_lab.model_server"], ["forebay.cli", "model-server"]])
def test_it_runs_as_a_program(program: list[str], tmp_path: Path) -> None:
    """It says that it is simulated, and where; answers there, and holds its limits."""
    log = tmp_path / "calls.jsonl"
    options = ["--port", "0", "--limit", "requests/hour=1", "--log", str(log), "--speed", "10"]
    command = [sys.executable, "-m", *program, *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            assert "simulated" in process.stderr.readline()
            setting, _, url = process.stdout.readline().strip().partition("=")
            assert setting == "FOREBAY_MODEL_BASE_URL"
            client = openai.OpenAI(base_url=url, api_key="any", max_retries=0)
            assert ask(client).system_fingerprint == FINGERPRINT
            with pytest.raises(openai.RateLimitError, match="requests/hour"):
                ask(client)
        finally:
            process.terminate()
    events = [json.loads(line)["event"] for line in log.read_text().splitlines()]
    assert events == ["admitted", "ended", "refused"]
    assert process.returncode == 0


def test_a_limit_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """The program does not start, and says how limits are written."""
    with pytest.raises(SystemExit) as ended:
        main(["--limit", "bees/minute=3"])
    assert ended.value.code == 2
    assert "write it as requests/minute=60" in capsys.readouterr().err
