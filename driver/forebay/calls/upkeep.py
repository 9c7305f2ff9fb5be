"""What upkeep calls (role forebay_upkeep): the sweep, which workers may call too."""

from forebay.calls.worker import sweep

__all__ = ["sweep"]
