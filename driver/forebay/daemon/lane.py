"""The daemon's thread for one launcher outside of it: a workspace that is away stalls only this."""

from __future__ import annotations

import threading
from collections.abc import Callable

from forebay.calls import worker as calls
from forebay.daemon.dispatch import Dispatch
from forebay.daemon.external import ExternalRuns
from forebay.daemon.pace import Every, Pace
from forebay.daemon.runs import Caller
from forebay.daemon.turns import Turns
from forebay.launchers import ExternalLauncher, LauncherAway


class Lane:
    """Claim for one external launcher, launch, observe and cancel, in a thread of its own.

    While the launcher is away nothing is claimed and nothing fails: what may have a run is kept,
    the rest is handed back, and the database is told why. A turn in which all goes well ends that.
    `on_end` is called when the thread ends, also by an error.
    """

    def __init__(
        self,
        caller: Caller,
        dispatch: Dispatch,
        runs: ExternalRuns,
        launcher: ExternalLauncher,
        pace: Pace,
        stop: threading.Event,
        on_end: Callable[[], None],
    ) -> None:
        self._caller = caller
        self._dispatch = dispatch
        self._runs = runs
        self._launcher = launcher
        self._stop = stop
        self._on_end = on_end
        self._turns = Turns(pace, stop)
        self._observe_due = Every(pace.observe)
        self._is_away = True  # until a look says that it is not
        self._is_fault_told = False
        self._is_settled = False
        self._end: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=launcher.name, daemon=True)

    def start(self) -> None:
        """Begin in the background, unless it has begun."""
        if not self._thread.ident:
            self._thread.start()

    def wake(self) -> None:
        """Have it look for work at once."""
        self._turns.wake()

    def is_alive(self) -> bool:
        """Tell whether it works; once stopped it ends after the request that it waits for."""
        return self._thread.is_alive()

    def check(self) -> None:
        """Raise what ended the thread, if something has."""
        if self._end:
            raise self._end

    def _run(self) -> None:
        steps = (self._observe, self._launch, self._cancel, self._claim)
        turn = [self._dispatch.record, self._look, *map(self._unless_away, steps), self._be_back]
        try:
            while not self._stop.is_set():
                self._turns.take(turn)
        except BaseException as error:
            self._end = error
        finally:
            self._on_end()

    def _look(self) -> None:
        """Look whether the launcher is there again, if it was away."""
        if self._is_away:
            try:
                self._launcher.check()
                self._settle()
            except LauncherAway as away:
                self._leave(away)
                raise
            self._is_away = False

    def _settle(self) -> None:
        """Say where the runs are, once it is known, and let go of what was adopted from elsewhere.

        Nothing is asked about a run before that.
        """
        if not self._is_settled:
            self._caller.call(
                calls.observe_launcher,
                worker=self._caller.worker,
                launcher=self._launcher.name,
                place=self._launcher.place,
            )
            self._dispatch.drop_lost()
            self._is_settled = True

    def _unless_away(self, step: Callable[[], int]) -> Callable[[], int]:
        def guarded() -> int:
            if self._is_away:
                return 0
            try:
                return step()
            except LauncherAway as away:
                self._leave(away)
                raise

        guarded.__name__ = step.__name__
        return guarded

    def _leave(self, away: LauncherAway) -> None:
        """Note that the launcher is away, and see that no task suffers from it."""
        self._is_away = self._is_fault_told = True
        self._dispatch.hold(away)
        self._runs.miss(away)
        self._caller.call(
            calls.observe_launcher,
            worker=self._caller.worker,
            launcher=self._launcher.name,
            fault=str(away),
        )

    def _be_back(self) -> None:
        if self._is_fault_told and not self._is_away:
            self._caller.call(
                calls.observe_launcher, worker=self._caller.worker, launcher=self._launcher.name
            )
            self._is_fault_told = False

    def _observe(self) -> int:
        if self._observe_due.is_due():
            self._runs.observe()
        return 0

    def _cancel(self) -> int:
        self._runs.cancel()
        return 0

    def _launch(self) -> int:
        """Launch what may be; make way for the rest, and launch what may be then."""
        is_left = self._dispatch.launch()
        return self._dispatch.launch() if self._runs.make_way() else is_left

    def _claim(self) -> int:
        claimed = self._dispatch.claim()
        if claimed:
            self._launch()
        return claimed
