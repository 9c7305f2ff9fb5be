"""A page that is a picture is read by a vision model, when one is configured."""

import io
import shutil
from collections.abc import Iterator
from dataclasses import replace

import pytest
from PIL import Image, ImageDraw, ImageFont

from forebay.agent import ErrorKind, Reject, Retry
from forebay.errors import SettingError
from forebay_agents.models.settings import (
    API_KEY,
    BASE_URL,
    NAME,
    VISION_API_KEY,
    VISION_BASE_URL,
    VISION_NAME,
)
from forebay_agents.models.vision import Vision
from forebay_agents.pages import Page
from forebay_lab.model_server import Fault, ModelServer
from forebay_lab.model_server.faults import FaultKind

from .conftest import RecordedAttempt
from .model_support import MemoryCheckpoints

SCAN = Page(3, 600.0, 800.0, is_scanned=True, source="none")
ROWS = ["Harbour Bank", "", "Closing balance   $4,711.00", "page 3"]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """Run a simulated endpoint to which every picture says ROWS."""
    with ModelServer() as server:
        server.simulation.transcript = ROWS
        yield server


def vision_at(server: ModelServer) -> Vision:
    vision = Vision.from_environment(
        {BASE_URL: server.base_url, API_KEY: "secret-key", VISION_NAME: "simulated-vision"}
    )
    assert vision is not None
    return vision


def png(text: str = "") -> bytes:
    """Return a picture of black text on white."""
    picture = Image.new("RGB", (800, 200), "white")
    ImageDraw.Draw(picture).text((40, 60), text, "black", ImageFont.load_default(48))
    content = io.BytesIO()
    picture.save(content, "PNG")
    return content.getvalue()


def test_the_page_comes_back_with_rows_and_text(server: ModelServer) -> None:
    """Rows are spread over the page's height, columns over its width; the source is said."""
    read = vision_at(server).read(3, png(), SCAN, RecordedAttempt({}), MemoryCheckpoints())
    assert (read.number, read.source, read.is_scanned) == (3, "vision", True)
    assert read.text == "Harbour Bank\nClosing balance   $4,711.00\npage 3"
    assert [[segment.text for segment in row] for row in read.rows] == [
        ["Harbour Bank"],
        ["Closing balance", "$4,711.00"],
        ["page 3"],
    ]
    label, value = read.rows[1]
    assert label.box[1] == value.box[1] == pytest.approx(800 / 3)
    assert label.box[3] == pytest.approx(1600 / 3)
    assert 0 == label.box[0] < label.box[2] < value.box[0] < value.box[2] == pytest.approx(600)
    assert 0 < read.certainty < 1


def test_the_picture_goes_as_a_data_url_and_the_call_is_reported(server: ModelServer) -> None:
    """The request holds the prompt and the picture, and its tokens are reported."""
    attempt = RecordedAttempt({})
    vision_at(server).read(3, png(), SCAN, attempt, MemoryCheckpoints())
    (request,) = server.simulation.requests
    (part,) = request["messages"][1]["content"]
    assert part["type"] == "image_url"
    assert part["image_url"]["url"].startswith("data:image/png;base64,iVBOR")
    assert request["model"] == "simulated-vision"
    (call,) = attempt.calls
    assert call["call_id"] == "vision-3"
    assert call["input_tokens"] > 1000


def test_a_page_is_paid_for_once(server: ModelServer) -> None:
    """The same picture at the same model comes from the checkpoints; another one does not."""
    kept, attempt, vision = MemoryCheckpoints(), RecordedAttempt({}), vision_at(server)
    first = vision.read(3, png(), SCAN, attempt, kept)
    assert vision.read(3, png(), SCAN, attempt, kept) == first
    assert len(attempt.calls) == 1
    vision.read(3, png("another"), SCAN, attempt, kept)
    assert len(attempt.calls) == 2


def test_a_kept_transcript_of_another_shape_is_asked_for_again(server: ModelServer) -> None:
    """What another release kept, or what was damaged, is not there."""
    kept, attempt, vision = MemoryCheckpoints(), RecordedAttempt({}), vision_at(server)
    first = vision.read(3, png(), SCAN, attempt, kept)
    kept.values = {key: {"rows": "many"} for key in kept.values}
    assert vision.read(3, png(), SCAN, attempt, kept) == first
    assert len(attempt.calls) == 2


def test_the_prompt_and_its_version_are_said(server: ModelServer) -> None:
    """A note tells which model read scans with which prompt, once for all pages."""
    vision, other = vision_at(server), replace(SCAN, number=4, notes=["It is crooked."])
    first = vision.read(3, png(), SCAN, RecordedAttempt({}), MemoryCheckpoints())
    second = vision.read(4, png(), other, RecordedAttempt({}), MemoryCheckpoints())
    note = "Scanned pages were read by the vision model simulated-vision with the prompt vision-v1."
    assert first.notes == [note]
    assert second.notes == ["It is crooked.", note]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("refusal", "content_filtered"),
        ("prompt_filtered", "content_filtered"),
        ("wrong_shape", "bad_input"),
        ("length", "bad_input"),
        ("context_exceeded", "context_too_long"),
    ],
)
def test_a_picture_that_cannot_be_read_is_rejected(
    fault: FaultKind, kind: ErrorKind, server: ModelServer
) -> None:
    """Another attempt would end alike: whoever asked may read this page in another way."""
    server.simulation.fault = Fault(fault)
    with pytest.raises(Reject) as refused:
        vision_at(server).read(3, png(), SCAN, RecordedAttempt({}), MemoryCheckpoints())
    assert refused.value.kind == kind


def test_a_refusal_that_passes_is_a_reason_to_try_again(server: ModelServer) -> None:
    """What concerns the endpoint and not the picture is left to the queue."""
    server.simulation.fault = Fault("rate_limited", headers=(("retry-after", "3"),))
    with pytest.raises(Retry) as refused:
        vision_at(server).read(3, png(), SCAN, RecordedAttempt({}), MemoryCheckpoints())
    assert refused.value.kind == "rate_limited"


def test_an_empty_picture_says_nothing(server: ModelServer) -> None:
    """A page without words comes back without rows."""
    server.simulation.transcript = []
    read = vision_at(server).read(3, png(), SCAN, RecordedAttempt({}), MemoryCheckpoints())
    assert (read.text, read.rows, read.source) == ("", [], "vision")


def test_without_a_vision_model_there_is_none() -> None:
    """A model that reads text is not asked to read pictures."""
    assert Vision.from_environment({}) is None
    assert Vision.from_environment({BASE_URL: "http://u", API_KEY: "k", NAME: "m"}) is None


def test_the_endpoint_may_be_another_than_the_models() -> None:
    """URL and key of its own go before the model's."""
    common = {BASE_URL: "http://one/v1", API_KEY: "one-key", VISION_NAME: "v"}
    own = {VISION_BASE_URL: "http://two/v1", VISION_API_KEY: "two-key"}
    vision = Vision.from_environment(common | own)
    assert vision is not None
    assert (vision.endpoint.base_url, vision.endpoint.api_key) == ("http://two/v1", "two-key")
    shared = Vision.from_environment(common)
    assert shared is not None
    assert (shared.endpoint.base_url, shared.endpoint.api_key) == ("http://one/v1", "one-key")


def test_a_refusal_names_the_vision_settings(server: ModelServer) -> None:
    """An operator learns which of the settings to mend, and which one is missing."""
    server.simulation.fault = Fault("unknown_model")
    with pytest.raises(Retry, match=f"mend {VISION_NAME} or {BASE_URL}"):
        vision_at(server).read(3, png(), SCAN, RecordedAttempt({}), MemoryCheckpoints())
    with pytest.raises(SettingError, match=f"{BASE_URL} is not set, but {VISION_NAME} is"):
        Vision.from_environment({VISION_NAME: "v", API_KEY: "k"})


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_the_simulated_model_really_reads_pictures(server: ModelServer) -> None:
    """Where no text is registered, the lab's endpoint reads the picture by OCR."""
    server.simulation.transcript = None
    picture = png("Total 119.00")
    read = vision_at(server).read(3, picture, SCAN, RecordedAttempt({}), MemoryCheckpoints())
    assert read.text == "Total 119.00"
