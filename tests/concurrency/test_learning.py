"""Estimates that learn: what the claim charges follows what tasks really use (SL5)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from concurrency.stage import Stage
from forebay.calls import agent as report
from forebay.calls import operator, worker

SECOND = timedelta(seconds=1)
NEUTRAL = (800, 200)


def usage(call_id: str, input: int | None, output: int | None, **more: Any) -> dict[str, Any]:
    """Return a report of one call."""
    return {"call_id": call_id, "input_tokens": input, "output_tokens": output} | more


def finish(
    stage: Stage,
    used: Sequence[tuple[int, int]],
    estimate: int | None = 1000,
    seconds: float = 0,
) -> None:
    """Let a task succeed whose calls use so much input and output each."""
    stage.enqueue(estimated_tokens=estimate, priority=9)
    attempt_id = stage.claim_one().attempt_id
    stage.clock.advance(seconds * SECOND)
    calls = [usage(str(number), *tokens) for number, tokens in enumerate(used)]
    report.report_usage(stage.db, attempt_id=attempt_id, usage=calls)
    report.complete(stage.db, attempt_id=attempt_id, result={})


def learned(stage: Stage, agent: str = "a") -> Any:
    """Return what the agent has learned."""
    return stage.row("select * from forebay._learned(%s)", agent)


def ratio(stage: Stage) -> tuple[int, int]:
    """Return the learned thousandths of the estimate: input and output."""
    row = learned(stage)
    return row.input_permille, row.output_permille


def expected(stage: Stage, estimate: int | None) -> tuple[int, int]:
    """Return the input and output that a task of that estimate is expected to use."""
    row = stage.row(
        "select e.* from forebay.agents as a,"
        " forebay._expect(a, forebay._learned(a.agent), %s) as e where a.agent = 'a'",
        estimate,
    )
    return row.input_tokens, row.output_tokens


def test_sl5_the_ratio_is_learned_from_ten_and_input_and_output_are_apart(stage: Stage) -> None:
    """Nine teach nothing yet; the tenth does, and the claim charges estimate times ratio."""
    assert stage.clock
    stage.agent(max_tpm=10_000_000)
    for _ in range(9):
        finish(stage, [(2000, 50), (1000, 50)])
    assert (learned(stage).samples, ratio(stage)) == (9, NEUTRAL)
    assert expected(stage, 1001) == (801, 200)
    finish(stage, [(2000, 50), (1000, 50)])
    assert (learned(stage).samples, ratio(stage)) == (10, (3000, 100))
    assert learned(stage).calls == 2
    assert expected(stage, 500) == (1500, 50)
    assert expected(stage, 0) == (0, 0)
    assert expected(stage, 10**12) == (3 * 10**12, 10**11)


def test_sl5_a_claim_charges_what_is_expected(stage: Stage) -> None:
    """Estimate times ratio, or the typical size, to the agent's own bucket and on the attempt."""
    assert stage.clock
    stage.agent(max_tpm=100_000_000)
    for _ in range(10):
        finish(stage, [(2000, 100), (1000, 0)])
    before = stage.level()
    for estimate, input, output in ((5000, 15_000, 500), (None, 3000, 100), (0, 0, 0)):
        stage.enqueue(estimated_tokens=estimate)
        row = stage.attempt(stage.claim_one().attempt_id)
        assert (row.expected_input_tokens, row.expected_output_tokens) == (input, output)
        assert (row.expected_calls, row.charged_tokens) == (2, input + output)
        before -= input + output
        assert stage.level() == before


@pytest.mark.parametrize("bias", [0.7, 1.3])
def test_a_bias_of_the_estimates_is_found_in_their_noise(stage: Stage, bias: float) -> None:
    """Estimates that are 30 % off, with noise of 30 % each: within a tenth after 50 tasks."""
    assert stage.clock
    stage.agent()
    random = Random(2)
    for _ in range(50):
        actual = random.randint(1000, 20_000)
        noise = random.uniform(0.7, 1.3)
        finish(stage, [(actual * 9 // 10, actual // 10)], estimate=int(actual * bias * noise))
    input, output = ratio(stage)
    assert 0.9 < (input + output) / 1000 * bias < 1.1
    assert 0.08 < output / (input + output) < 0.12


def test_a_task_without_an_estimate_has_the_typical_size(stage: Stage) -> None:
    """At first the agent's default, then the median of what its tasks used."""
    assert stage.clock
    stage.agent(default_estimated_tokens=5001)
    assert expected(stage, None) == (4001, 1000)
    for number in range(1, 12):
        finish(stage, [(number * 100, number)], estimate=None)
    assert expected(stage, None) == (600, 6)
    assert ratio(stage) == NEUTRAL
    assert expected(stage, 1000) == (800, 200)


def test_outliers_do_not_move_the_ratio(stage: Stage) -> None:
    """A few tasks a thousand times too large, or of no use at all, change next to nothing."""
    assert stage.clock
    stage.agent()
    random = Random(1)
    for number in range(40):
        if number % 10 == 3:
            finish(stage, [(1_000_000, 500_000)])
        elif number % 10 == 7:
            finish(stage, [(0, 0)])
        else:
            finish(stage, [(random.randint(1150, 1250), random.randint(280, 320))])
    input, output = ratio(stage)
    assert 1150 <= input <= 1250
    assert 280 <= output <= 320


@pytest.mark.parametrize(
    ("used", "bounded"),
    [
        ((50_000, 10_000), (8333, 1667)),
        ((10**12, 0), (10_000, 0)),
        ((10, 10), (50, 50)),
        ((1, 0), (100, 0)),
        ((0, 0), (80, 20)),
        ((9000, 1000), (9000, 1000)),
    ],
)
def test_the_ratio_is_bounded(
    stage: Stage, used: tuple[int, int], bounded: tuple[int, int]
) -> None:
    """From a tenth to ten times the estimate, with input and output in proportion."""
    assert stage.clock
    stage.agent()
    for _ in range(10):
        finish(stage, [used])
    assert ratio(stage) == bounded


def test_only_the_latest_fifty_count(stage: Stage) -> None:
    """An agent that changes its ways is known again after half of them."""
    assert stage.clock
    stage.agent()
    for used, counts in (((500, 100), 50), ((1500, 300), 26)):
        for _ in range(counts):
            stage.clock.advance(SECOND)
            finish(stage, [used])
    assert learned(stage).samples == 50
    assert ratio(stage) == (1500, 300)


def test_only_successes_of_known_use_count(stage: Stage) -> None:
    """A failure is no measure of a task, nor is a call that does not say what it used."""
    assert stage.clock
    stage.agent()
    stage.enqueue(count=20, estimated_tokens=1000)
    for number, claim in enumerate(stage.claim(20)):
        known = usage("x", 9, 9) if number % 2 else usage("x", 9, None)
        report.report_usage(stage.db, attempt_id=claim.attempt_id, usage=known)
        if number % 2:
            report.fail(stage.db, attempt_id=claim.attempt_id, error={})
        else:
            report.complete(stage.db, attempt_id=claim.attempt_id, result={})
    assert learned(stage).samples == 0


def test_the_source_that_knows_more_calls_counts(stage: Stage) -> None:
    """The trace's three calls go before the agent's one, and are not added to it."""
    assert stage.clock
    stage.agent(max_tpm=100_000)
    stage.enqueue(estimated_tokens=100)
    attempt_id = stage.claim_one().attempt_id
    calls = [usage(call, 1000, 10, source="trace") for call in "abc"]
    report.report_usage(stage.db, attempt_id=attempt_id, usage=[usage("a", 1000, 11), *calls])
    row = stage.attempt(attempt_id)
    assert (row.used_input_tokens, row.used_output_tokens, row.used_calls) == (3000, 30, 3)
    assert row.is_usage_known
    report.report_usage(stage.db, attempt_id=attempt_id, usage=usage("d", None, 10, source="trace"))
    row = stage.attempt(attempt_id)
    assert (row.used_calls, row.used_output_tokens, row.is_usage_known) == (4, 40, False)


def test_a_call_that_used_nothing_is_none(stage: Stage) -> None:
    """The provider refused two: such a task makes one call. One that is paid by the page is one."""
    assert stage.clock
    stage.agent()
    for _ in range(10):
        finish(stage, [(0, 0), (0, 0), (900, 100)])
    assert (learned(stage).calls, ratio(stage)) == (1, (900, 100))
    stage.enqueue()
    attempt_id = stage.claim_one().attempt_id
    report.report_usage(stage.db, attempt_id=attempt_id, usage=usage("x", 0, 0, pages=3))
    assert stage.attempt(attempt_id).used_calls == 1


def test_the_pace_is_what_it_uses_while_it_runs(stage: Stage) -> None:
    """Tokens by second, without the time that its calls were held up by a quota."""
    assert stage.clock
    stage.agent()
    for number in range(12):
        finish(stage, [(800, 200)], seconds=10 + number)
    assert learned(stage).tokens_per_second == Decimal("62.5")
    stage.superuser.execute("update forebay.task_attempts set held_up = '8 seconds'")
    assert learned(stage).tokens_per_second == 125


def test_agents_learn_each_for_itself(stage: Stage) -> None:
    """What one uses says nothing of another."""
    assert stage.clock
    stage.agent()
    stage.agent("b")
    for _ in range(10):
        finish(stage, [(3000, 100)])
    assert learned(stage).samples == 10
    assert learned(stage, "b").samples == 0


def test_sl5_use_beyond_the_charge_counts_while_the_task_runs(stage: Stage) -> None:
    """A task 50 times as large as estimated is debited call by call; less comes back at its end."""
    assert stage.clock
    stage.agent(max_tpm=100_000)
    stage.enqueue(estimated_tokens=100)
    attempt_id = stage.claim_one().attempt_id
    levels = [stage.level()]
    for call in ("first", "second", "third"):
        report.report_usage(stage.db, attempt_id=attempt_id, usage=usage(call, 40, 20))
        levels.append(stage.level())
    assert levels == [79_900, 79_900, 79_880, 79_820]
    report.complete(stage.db, attempt_id=attempt_id, result={})
    assert stage.level() == 79_820


@pytest.mark.parametrize("used", [50, 5000])
@pytest.mark.parametrize("ending", ["failed", "lost", "superseded", "deferred", "timed out"])
def test_sl5_late_usage_settles_whatever_the_end_was(stage: Stage, ending: str, used: int) -> None:
    """Both ways: a failed, superseded or lost attempt costs what it used, once that is known."""
    assert stage.clock
    stage.agent(max_tpm=100_000, timeout=timedelta(hours=1))
    stage.enqueue(estimated_tokens=1000)
    attempt_id = stage.claim_one().attempt_id
    charged = 1000
    if ending in {"failed", "deferred"}:
        error = {"kind": "rate_limited" if ending == "deferred" else "agent_bug"}
        report.fail(stage.db, attempt_id=attempt_id, error=error, retry_after=5 * SECOND)
    elif ending == "timed out":
        stage.clock.advance(timedelta(hours=1))
        worker.sweep(stage.db)
    else:
        stage.expire(attempt_id)
        worker.sweep(stage.db)
    if ending == "superseded":
        first, attempt_id = attempt_id, stage.claim_one().attempt_id
        report.complete(stage.db, attempt_id=first, result={})
        charged = 2000
    stage.superuser.execute("delete from forebay.refusals")
    assert stage.level() == 80_000 - charged if ending != "timed out" else 80_000
    report.report_usage(stage.db, attempt_id=attempt_id, usage=usage("late", used, 0))
    if ending == "timed out":
        assert stage.level() == min(80_000, 80_000 + 1000 - used)
    else:
        assert stage.level() == 80_000 - charged + 1000 - used
    operator.cancel(stage.db, task_ids=[1])
    assert stage.attempt(attempt_id).charged_tokens == used


def test_sl5_a_crash_keeps_what_was_charged_or_used(stage: Stage) -> None:
    """Whichever is more: the charge, or what its calls had reported when it was lost."""
    assert stage.clock
    stage.agent(max_tpm=100_000)
    stage.enqueue(count=2, estimated_tokens=1000)
    small, large = stage.claim(2)
    report.report_usage(stage.db, attempt_id=small.attempt_id, usage=usage("x", 10, 0))
    report.report_usage(stage.db, attempt_id=large.attempt_id, usage=usage("x", 7000, 0))
    stage.expire(small.attempt_id, large.attempt_id)
    worker.sweep(stage.db)
    assert stage.level() == 80_000 - 1000 - 7000
