"""A Hugging Face `config.json`, with its side files, -> counted facts.

Counting something that is not understood would give a wrong number that looks right. So every
field is either used, or known not to change any count, or refused by name. One file per family;
`registry.py` is the table of model types.
"""

from sim.model.huggingface.load import load_config

__all__ = ["load_config"]
