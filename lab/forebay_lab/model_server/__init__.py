"""An OpenAI-compatible endpoint without a model: it counts, limits, answers, fails on demand."""

from forebay_lab.model_server.faults import Fault
from forebay_lab.model_server.ledger import CallLog
from forebay_lab.model_server.limits import Limit
from forebay_lab.model_server.server import ModelServer
from forebay_lab.model_server.simulation import FINGERPRINT, Simulation

__all__ = ["FINGERPRINT", "CallLog", "Fault", "Limit", "ModelServer", "Simulation"]
