"""The samples are the same each time, their truth stands on their pages, and they are read."""

import json
from pathlib import Path

import pytest

from forebay.agent import Reject
from forebay_lab.samples import Sample, names, write_samples

from .conftest import Parse


@pytest.mark.parametrize("name", names())
def test_a_sample_is_the_same_bytes_every_time(
    name: str, folder: Path, samples: dict[str, Sample], tmp_path: Path
) -> None:
    """Written again and alone, a sample has equal bytes and equal truth."""
    assert write_samples(tmp_path, [name]) == [samples[f"{name}.pdf"]]
    for file in (f"{name}.pdf", f"{name}.json"):
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes()


def test_the_truth_stands_beside_each_sample(folder: Path, samples: dict[str, Sample]) -> None:
    """NAME.json says status, pages and fields of NAME.pdf, and only the status of a bad one."""
    for name, sample in samples.items():
        truth = json.loads((folder / name).with_suffix(".json").read_text("utf-8"))
        assert truth["status"] == sample.outcome
        assert truth.get("fields", {}) == sample.fields


@pytest.mark.parametrize(
    ("name", "reason"), [("invoice-encrypted", "password"), ("invoice-broken", "broken")]
)
def test_what_nobody_can_read_is_refused(
    name: str, reason: str, folder: Path, samples: dict[str, Sample], parse: Parse
) -> None:
    """The samples that are to fail are rejected with the reason."""
    assert samples[f"{name}.pdf"].outcome == "failed"
    with pytest.raises(Reject, match=reason):
        parse(folder / f"{name}.pdf")
