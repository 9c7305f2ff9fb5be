"""Time in a drill runs faster: a minute of the model takes a few seconds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """How long a model minute takes; periods of quotas, models and pauses all shrink alike.

    What does not shrink is the way to the database and to the server, a few milliseconds a call:
    at 10 seconds a minute 10 ms of them stand for 0.06 s of the model.
    """

    minute: float

    @property
    def factor(self) -> float:
        """Return how many times faster than life it is."""
        return 60 / self.minute

    def real(self, model_seconds: float) -> float:
        """Return how long that many seconds of the model take here."""
        return model_seconds / self.factor

    def model(self, real_seconds: float) -> float:
        """Return how many seconds of the model that was."""
        return real_seconds * self.factor
