"""An OpenAI-compatible endpoint without a model: it counts tokens, answers, and fails on demand."""

from forebay_lab.model_server.faults import Fault
from forebay_lab.model_server.server import ModelServer
from forebay_lab.model_server.simulation import FINGERPRINT, Simulation

__all__ = ["FINGERPRINT", "Fault", "ModelServer", "Simulation"]
