"""Compare what was found in documents with the truth about them."""

from collections.abc import Iterable

from forebay_agents.check.judging import Judged, Row, judge
from forebay_agents.check.report import Report
from forebay_agents.check.truths import read_truth

__all__ = ["Judged", "Report", "compare", "judge", "read_truth"]


def compare(pairs: Iterable[tuple[Row, Row]]) -> Report:
    """Compare rows, as `forebay parse --json --full` prints them, with the truth of each."""
    return Report([judge(row, truth) for row, truth in pairs])
