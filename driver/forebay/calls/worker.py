"""What a worker calls (role forebay_worker): claim, renew, hand back, watch runs, sweep."""

# mypy: disable-error-code="empty-body"

from collections.abc import Sequence
from datetime import timedelta

from forebay.calls._call import AnyConnection, Integer, SafeJson, stored
from forebay.rows import (
    AdoptedAttempt,
    ClaimedAttempt,
    RenewedLease,
    RunOutcome,
    RunToCancel,
    SweepResult,
    TaskStatus,
)


@stored
def dequeue(
    connection: AnyConnection,
    *,
    worker: str,
    agents: Sequence[str] | None = None,
    batch_size: Integer = 1,
    launchers: Sequence[str] | None = None,
) -> list[ClaimedAttempt]:
    """Claim up to batch_size attempts; no row means that nothing could start at this moment.

    Without agents and launchers it serves the agents of launcher pull. Call it in a transaction of
    its own at READ COMMITTED: the agent stays locked until the commit. Raises
    InstallationClosedError.
    """


@stored
def recover_claims(
    connection: AnyConnection,
    *,
    worker: str,
    known_ids: Sequence[int],
    within: timedelta,
    launchers: Sequence[str] | None = None,
) -> list[ClaimedAttempt]:
    """Return what dequeue gave the worker in that time and it does not know of, by attempt.

    For after a claim whose answer was lost; known_ids are the attempts in hand, launchers those of
    the lost claim. Raises InstallationClosedError.
    """


@stored
def record_run(connection: AnyConnection, *, attempt_id: int, run_id: str) -> None:
    """Note the run that does the attempt's work; the same run again is fine.

    Raises UnknownAttemptError, RunAlreadyRecordedError.
    """


@stored
def renew_leases(
    connection: AnyConnection, *, worker: str, attempt_ids: Sequence[int]
) -> list[RenewedLease]:
    """Extend the leases that the worker still holds; one row an id, in no set order."""


@stored
def release(
    connection: AnyConnection, *, attempt_id: int, reason: str, retry_in: timedelta = timedelta()
) -> TaskStatus:
    """Hand an attempt back without spending it, for what never started; returns the task's status.

    After the agent's max_releases it does spend the attempt. Raises UnknownAttemptError.
    """


@stored
def adopt(
    connection: AnyConnection, *, worker: str, launchers: Sequence[str], limit: Integer = 100
) -> list[AdoptedAttempt]:
    """Take over attempts whose lease ran out while their run may live on; oldest first.

    Raises InstallationClosedError.
    """


@stored
def observe_run(connection: AnyConnection, *, attempt_id: int, run: SafeJson) -> RunOutcome:
    """Tell what a launcher saw of a run, and return what followed; none: the attempt had ended.

    run is an object of life_cycle_state, result_state, termination_code, message. A launch that
    failed is told so too: LAUNCH_FAILED, the HTTP status, the error's code. Raises
    UnknownAttemptError.
    """


@stored
def observe_launcher(
    connection: AnyConnection,
    *,
    worker: str,
    launcher: str,
    fault: str | None = None,
    place: str | None = None,
) -> None:
    """Note why the worker cannot start runs with a launcher; again within two minutes. None: can.

    explain_task and health show it. place says where the runs are, as a workspace: from
    then on the worker gets attempts of there alone, and has lost the leases of others.
    """


@stored
def runs_to_cancel(
    connection: AnyConnection, *, worker: str, limit: Integer = 100
) -> list[RunToCancel]:
    """Return runs whose attempt was ended from outside; each again after 10 s until seen ended.

    run_id None: nobody recorded it, a launch with the same token finds it.
    """


@stored
def runs_before(
    connection: AnyConnection, *, worker: str, attempt_ids: Sequence[int]
) -> list[RunToCancel]:
    """Return runs of earlier attempts of the same tasks that were not seen to end, by attempt.

    They are named whoever was told of them last: for right before a launch.
    """


@stored
def sweep(
    connection: AnyConnection, *, limit: Integer = 1000, worker: str | None = None
) -> SweepResult:
    """Requeue or fail what lost its lease or passed its deadline, and wake what is due."""
