"""Deliberate faults in the schema's text, each of which a test of this folder must notice.

The tests are the checks: they pass on the schema as it is, and must fail on the schema with the
fault. Run with -v to see which test noticed which fault.
"""

from __future__ import annotations

import pytest
from psycopg.errors import InsufficientPrivilege

from concurrency.faults import core, insight, line, measures, money, quotas, refusals, uploads
from concurrency.faults.fault import Fault
from concurrency.stage import Stage

FAULTS = [
    *core.FAULTS,
    *measures.FAULTS,
    *line.FAULTS,
    *quotas.FAULTS,
    *refusals.FAULTS,
    *money.FAULTS,
    *uploads.FAULTS,
    *insight.FAULTS,
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.name}: {fault.check.__name__}")
def test_the_fault_is_noticed(stage: Stage, fault: Fault) -> None:
    """With the fault the check fails; that it passes without is the check's own run."""
    stage.mutate(fault.file, fault.piece, fault.replacement)
    with pytest.raises((AssertionError, pytest.fail.Exception, InsufficientPrivilege)):
        fault.check(stage, *fault.arguments)
