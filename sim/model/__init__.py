"""The served model as counted facts. Start with `architecture.Model`, then `load.load_model`."""

from sim.model.architecture import Model
from sim.model.facts import ModelFacts
from sim.model.load import list_models, load_model

__all__ = ["Model", "ModelFacts", "list_models", "load_model"]
