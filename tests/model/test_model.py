"""Random walks through the API: the database and a model of it in plain Python never disagree."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from model.machine import Walk
from model.stage import Stage

WALK = settings(
    max_examples=70,
    stateful_step_count=50,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.timeout(900)
def test_the_database_does_what_the_model_does(stage: Stage) -> None:
    """Whatever is called, at whatever moment: answers, tables and insight are the model's."""
    Walk.steps = 0
    run_state_machine_as_test(partial(Walk, stage), settings=WALK)
    assert Walk.steps > 2500


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_database_does_what_the_model_does_on_new_walks(stage: Stage) -> None:
    """The same on many more walks, which differ from run to run."""
    run_state_machine_as_test(
        partial(Walk, stage), settings=settings(WALK, max_examples=1200, derandomize=False)
    )
