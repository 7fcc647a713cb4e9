"""The served model as counted facts. Start with `architecture.Model`, then `load.load_model`."""

from sim.model.architecture import Layer, LayerGroup, Model
from sim.model.facts import ModelFacts
from sim.model.load import list_models, load_model
from sim.model.mixers import GroupedQuery, Latent, Mixer, Recurrent
from sim.model.mlps import DenseMlp, Experts, Mlp
from sim.model.weight_format import Format, Part, WeightFormat

__all__ = [
    "DenseMlp",
    "Experts",
    "Format",
    "GroupedQuery",
    "Latent",
    "Layer",
    "LayerGroup",
    "Mixer",
    "Mlp",
    "Model",
    "ModelFacts",
    "Part",
    "Recurrent",
    "WeightFormat",
    "list_models",
    "load_model",
]
