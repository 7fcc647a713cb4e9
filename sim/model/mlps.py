"""What each token goes through alone: a dense MLP, or a choice of experts."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DenseMlp:
    """Two matrices (up, down), or three where gated (gate, up, down)."""

    intermediate_size: int
    gated: bool = True
    bias_elements: int = 0

    def matrix_elements(self, hidden_size: int) -> int:
        """Weights that take part in matrix products."""
        return (3 if self.gated else 2) * hidden_size * self.intermediate_size

    def active_elements(self, hidden_size: int) -> int:
        """Weights that one token uses: all of them."""
        return self.matrix_elements(hidden_size) + self.bias_elements

    def total_elements(self, hidden_size: int) -> int:
        """Weights stored."""
        return self.matrix_elements(hidden_size) + self.bias_elements


@dataclass(frozen=True, slots=True)
class Experts:
    """A router sends each token to `active` of `experts` MLPs; shared ones see every token."""

    experts: int
    active: int
    """Routed experts that one token uses."""
    intermediate_size: int
    """Width of one routed expert."""
    gated: bool = True
    shared_intermediate_size: int = 0
    """Width of all shared experts together; 0: none."""
    shared_gate: bool = False
    """A vector of the hidden size gates the shared expert (Qwen)."""
    router_elements: int = 0
    """Weights of the router: `hidden_size * experts`, and its biases where it has any."""
    bias_elements: int = 0
    """Biases of ONE routed expert (gpt-oss)."""
    latent_size: int | None = None
    """Routed experts work at this width, between two projections from and to the hidden size
    (Nemotron 3 Super); None: at the hidden size."""

    def expert_elements(self, hidden_size: int) -> int:
        """Weights of the matrices of one routed expert."""
        width = self.latent_size or hidden_size
        return (3 if self.gated else 2) * width * self.intermediate_size

    def latent_elements(self, hidden_size: int) -> int:
        """Weights of the projections to the experts' width and back; 0 without a latent."""
        return 2 * hidden_size * self.latent_size if self.latent_size else 0

    def shared_elements(self, hidden_size: int) -> int:
        """Weights of the matrices of the shared experts, without their gate."""
        return (3 if self.gated else 2) * hidden_size * self.shared_intermediate_size

    def always_elements(self, hidden_size: int) -> int:
        """Weights that every token uses: router, shared experts and their gate, projections."""
        gate = hidden_size if self.shared_gate else 0
        shared = self.shared_elements(hidden_size)
        return self.router_elements + shared + gate + self.latent_elements(hidden_size)

    def active_elements(self, hidden_size: int) -> int:
        """Weights that one token uses."""
        one = self.expert_elements(hidden_size) + self.bias_elements
        return self.active * one + self.always_elements(hidden_size)

    def total_elements(self, hidden_size: int) -> int:
        """Weights stored."""
        one = self.expert_elements(hidden_size) + self.bias_elements
        return self.experts * one + self.always_elements(hidden_size)


Mlp = DenseMlp | Experts
