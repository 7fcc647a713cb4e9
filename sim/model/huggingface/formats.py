from pathlib import Path
from sim.model.huggingface.fields import Fields
from sim.model.huggingface.parts import Stack
from sim.model.weight_format import WeightFormat


def weight_format(outer: Fields, text: Fields, file: Path, stack: Stack) -> WeightFormat:
    outer.ignore("quantization_config")
    text.ignore("quantization_config")
    return WeightFormat()
