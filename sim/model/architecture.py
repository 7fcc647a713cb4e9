"""The served model as counted facts: how many elements it has, and where."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from sim.model.mixers import GroupedQuery, Latent, Mixer, Recurrent
from sim.model.mlps import DenseMlp, Experts, Mlp
from sim.model.weight_format import WeightFormat


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer: a mixer, an MLP, or both (a hybrid may hold one of them per layer)."""

    mixer: Mixer | None
    mlp: Mlp | None
    norm_elements: int
    """Weights of the norms around them, without those inside the mixer; per-layer scalars."""

    def total_elements(self, hidden_size: int) -> int:
        """Weights stored."""
        mlp = self.mlp.total_elements(hidden_size) if self.mlp else 0
        return self._mixer_elements(hidden_size) + mlp + self.norm_elements

    def active_elements(self, hidden_size: int) -> int:
        """Weights that one token uses."""
        mlp = self.mlp.active_elements(hidden_size) if self.mlp else 0
        return self._mixer_elements(hidden_size) + mlp + self.norm_elements

    def _mixer_elements(self, hidden_size: int) -> int:
        if self.mixer is None:
            return 0
        return self.mixer.matrix_elements(hidden_size) + self.mixer.other_elements

    @property
    def kv_elements_per_token(self) -> int:
        """Entries of the KV cache for one token; 0 for a layer without attention."""
        match self.mixer:
            case GroupedQuery() | Latent() as attention:
                return attention.kv_elements_per_token
            case _:
                return 0

    @property
    def window_tokens(self) -> int | None:
        """Tokens beyond which the KV cache of this layer stops growing; None: it does not stop."""
        return self.mixer.window_tokens if isinstance(self.mixer, GroupedQuery) else None


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """Equal layers, wherever they stand in the stack."""

    layer: Layer
    count: int

    @property
    def kv_elements_per_token(self) -> int:
        """Entries of the KV cache for one token in all layers of the group."""
        return self.count * self.layer.kv_elements_per_token


@dataclass(frozen=True, slots=True)
class Model:
    """A decoder as groups of equal layers, with what stands around them.

    Counts are in elements (weights, cache entries), never in bytes.
    """

    name: str
    hidden_size: int
    vocab_size: int
    tied_embeddings: bool
    """The LM head reuses the matrix of the input embeddings."""
    groups: tuple[LayerGroup, ...]
    max_context_tokens: int
    source: str
    """Where the facts were read."""
    causal: bool = True
    """Attention looks back only. False: bidirectional, as models trained for diffusion."""
    decoding: tuple[str, ...] = ("autoregressive",)
    """Families of strategies that it was trained for: autoregressive, diffusion,
    block_diffusion."""
    weights: WeightFormat = field(default_factory=WeightFormat)
    """What the published checkpoint stores."""
    vision_parameters: int = 0
    """Encoder of images and its projector: resident, and no part of a text token's pass."""
    mtp_parameters: int = 0
    """Multi-token-prediction layers that come with the checkpoint, in no total."""
    final_norm_elements: int = 0
    other_elements: int = 0
    """Weights that fit nowhere else: learned positions, a self-conditioning MLP."""
    residual_streams: int = 1
    """Copies of the residual that hyper-connections mix around each block (arXiv:2409.19606)."""
    head_bias_elements: int = 0

    @property
    def num_layers(self) -> int:
        """Layers of the stack, as the config counts them."""
        return sum(group.count for group in self.groups)

    @property
    def embedding_elements(self) -> int:
        """Weights of the input embeddings."""
        return self.vocab_size * self.hidden_size

    @property
    def head_elements(self) -> int:
        """Weights that the LM head multiplies with, whether or not they are stored twice."""
        return self.vocab_size * self.hidden_size

    @property
    def _around(self) -> int:
        head = 0 if self.tied_embeddings else self.head_elements
        extra = self.final_norm_elements + self.other_elements + self.head_bias_elements
        return self.embedding_elements + head + extra

    @property
    def language_parameters(self) -> int:
        """Parameters stored without the vision encoder and the MTP layers."""
        layers = sum(g.count * g.layer.total_elements(self.hidden_size) for g in self.groups)
        return layers + self._around

    @property
    def total_parameters(self) -> int:
        """Parameters as publishers count them: language model and vision, MTP layers apart."""
        return self.language_parameters + self.vision_parameters

    @property
    def active_parameters(self) -> int:
        """Parameters that one token uses as publishers count them: embeddings and vision included.

        Of the routed experts only the active ones count.
        """
        layers = sum(g.count * g.layer.active_elements(self.hidden_size) for g in self.groups)
        return layers + self._around + self.vision_parameters

    @property
    def windowed(self) -> tuple[LayerGroup, ...]:
        """Groups whose KV cache stops growing at their window."""
        return tuple(g for g in self.groups if g.layer.window_tokens is not None)

    @property
    def full_kv_elements_per_token(self) -> int:
        """Entries of the KV cache for one token in the layers that keep all tokens."""
        full = (g for g in self.groups if g.layer.window_tokens is None)
        return sum(g.kv_elements_per_token for g in full)

    @property
    def indexer_elements_per_token(self) -> int:
        """Indexer keys cached for one token, all layers, beside the KV cache; 0: no indexer."""
        pairs = ((g.count, g.layer.mixer) for g in self.groups)
        return sum(n * m.indexer_elements_per_token for n, m in pairs if isinstance(m, Latent))

    @property
    def state_elements_per_sequence(self) -> int:
        """Recurrent state and convolution inputs of one sequence, all layers."""
        pairs = ((g.count, g.layer.mixer) for g in self.groups)
        return sum(n * m.sequence_elements for n, m in pairs if isinstance(m, Recurrent))

    @property
    def layers_with_kv(self) -> int:
        """Layers that keep a KV cache."""
        return sum(g.count for g in self.groups if g.layer.kv_elements_per_token)

    @property
    def layers_without_kv(self) -> int:
        """Layers that keep none: recurrent ones, and those of an MLP alone."""
        return self.num_layers - self.layers_with_kv

    def kv_elements(self, tokens: int) -> int:
        """Entries of the KV cache that a sequence of `tokens` holds: windowed layers stop growing.

        Not replicated over GPUs; indexer keys and recurrent states are apart.
        """
        return sum(
            group.kv_elements_per_token * min(tokens, group.layer.window_tokens or tokens)
            for group in self.groups
        )

    def kv_elements_per_token(self, tokens: int | None = None) -> float:
        """Entries of the KV cache per token: K and V (or the latent), all layers.

        With `tokens`, the mean over a sequence of that length, whose windowed layers hold only
        their window; without, what a short sequence adds per token.
        """
        if tokens is not None:
            return self.kv_elements(tokens) / tokens
        return sum(group.kv_elements_per_token for group in self.groups)

    def kv_bytes_per_token(self, bytes_per_element: float, tokens: int | None = None) -> float:
        """Bytes of KV cache for one token, all layers, at a width in bytes per element."""
        return self.kv_elements_per_token(tokens) * bytes_per_element

    def attention_groups(self) -> Iterator[tuple[GroupedQuery | Latent, int]]:
        """Yield each kind of attention with its number of layers."""
        for group in self.groups:
            if isinstance(group.layer.mixer, GroupedQuery | Latent):
                yield group.layer.mixer, group.count

    def describe(self) -> str:
        """Return the architecture in one line."""
        layers = "; ".join(f"{g.count} x {_layer(g.layer)}" for g in self.groups)
        return f"{self.num_layers} layers of {self.hidden_size:,}: {layers}"


def _layer(layer: Layer) -> str:
    parts = (mixer_label(layer.mixer), mlp_label(layer.mlp))
    return " + ".join(part for part in parts if part) or "nothing"


def mixer_label(mixer: Mixer | None) -> str:
    """Return what kind of mixer it is, with the numbers that matter; nothing for none."""
    match mixer:
        case GroupedQuery(heads=heads, kv_heads=kv_heads, head_dim=width, window_tokens=window):
            kind = "MHA" if heads == kv_heads else "MQA" if kv_heads == 1 else "GQA"
            seen = f" in {'chunks' if mixer.chunked else 'a window'} of {window}" if window else ""
            return f"{kind} {heads}/{kv_heads} x {width}{seen}"
        case Latent(heads=heads, kv_rank=rank, rope_dim=rope, top_k_tokens=top):
            return f"MLA {heads} heads, latent {rank}+{rope}{f', top {top} tokens' if top else ''}"
        case Recurrent(kind=kind, state_elements=state):
            return f"{kind.replace('_', ' ')} state {state:,}"
        case None:
            return ""


def mlp_label(mlp: Mlp | None) -> str:
    """Return what kind of MLP it is, with its widths; nothing for none."""
    match mlp:
        case DenseMlp(intermediate_size=width):
            return f"MLP {width:,}"
        case Experts(experts=experts, active=active, intermediate_size=width):
            shared = f" and {mlp.shared_intermediate_size:,} shared"
            return f"{active} of {experts} experts {width:,}" + (
                shared if mlp.shared_intermediate_size else ""
            )
        case None:
            return ""
