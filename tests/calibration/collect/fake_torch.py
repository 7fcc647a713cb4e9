"""A torch without a GPU that says it has one: every line of the collector's CUDA path can run.

It counts time by hand: an event is recorded at the fake clock, which each kernel moves on.
"""

import contextlib
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

SECONDS = 20e-6
"""What every kernel takes."""


class Tensor:
    """Nothing but a shape, an element type and what can be called on it."""

    def __init__(self, *shape: int, dtype: str = "float32") -> None:
        self.shape, self.dtype = shape, dtype

    def to(self, dtype: str) -> "Tensor":
        return Tensor(*self.shape, dtype=dtype)

    def t(self) -> "Tensor":
        return Tensor(*reversed(self.shape), dtype=self.dtype)


class Fake:
    """The clock, what went wrong, and the module that is made of them."""

    def __init__(self, *, version: str = "2.9.0", capability: tuple[int, int] = (9, 0)) -> None:
        self.now_s, self.version, self.capability = 0.0, version, capability
        self.gpus, self.capturing, self.recorded = 1, False, 0
        self.calls: list[str] = []
        self.failing: dict[str, BaseException] = {}
        self.saved: dict[str, Any] = {}
        self.processes: list[SimpleNamespace] = []

    def kernel(self, name: str, *, seconds: float = SECONDS) -> None:
        """Run a kernel: it takes its time, or goes into the graph."""
        self.calls.append(name)
        if name in self.failing:
            raise self.failing[name]
        if self.capturing:
            self.recorded += 1
        else:
            self.now_s += seconds

    def module(self) -> ModuleType:
        """Return `torch`, as far as the collector needs it."""
        torch: Any = ModuleType("torch")
        torch.__version__ = self.version
        torch.version = SimpleNamespace(cuda="12.8", hip=None)
        torch.set_num_threads = lambda _: None
        for kind in ("bfloat16", "float16", "float8_e4m3fn", "float32", "int8", "uint8"):
            setattr(torch, kind, kind)
        torch.Tensor = Tensor
        torch.randn = lambda shape, **_: Tensor(*shape)
        torch.randint = lambda _low, _high, shape, **_: Tensor(*shape, dtype="int8")
        torch.ones = torch.zeros = torch.empty = lambda *shape, **_: self._writable(*shape)
        torch.empty_like = torch.zeros_like = lambda one: self._writable(*one.shape)
        torch.mm = lambda a, b: self._product("mm", a, b)
        torch._int_mm = lambda a, b: self._product("_int_mm", a, b)
        torch._scaled_mm = self._scaled_mm
        torch.cuda = self._cuda()
        functional: Any = ModuleType("torch.nn.functional")
        functional.scaled_dot_product_attention = self._attention
        torch.nn = SimpleNamespace(functional=functional)
        torch.distributed = self._distributed()
        torch.multiprocessing = SimpleNamespace(spawn=self._spawn)
        torch.save = lambda found, file: self.saved.update({file: found})
        torch.load = lambda file, **_: self.saved[file]
        made: ModuleType = torch
        return made

    def _writable(self, *shape: Any) -> Tensor:
        one: Any = Tensor(*shape)
        one.copy_ = lambda _other: self.kernel("copy")
        one.add_ = lambda _number: self.kernel("add")
        return one  # type: ignore[no-any-return]

    def _product(self, name: str, a: Tensor, b: Tensor) -> Tensor:
        assert a.shape[1] == b.shape[0]
        if name == "_int_mm":
            assert a.shape[0] > 16, "as torch demands"
        self.kernel(name)
        return Tensor(a.shape[0], b.shape[1])

    def _scaled_mm(
        self, a: Tensor, b: Tensor, *, scale_a: Any, scale_b: Any, out_dtype: str
    ) -> Tensor:
        assert (a.dtype, b.dtype, out_dtype) == ("float8_e4m3fn", "float8_e4m3fn", "bfloat16")
        assert scale_a.shape == scale_b.shape == ((),)
        return self._product("_scaled_mm", a, b)

    def _attention(self, q: Tensor, k: Tensor, v: Tensor, **options: Any) -> None:
        major, minor = (int(part) for part in self.version.split(".")[:2])
        if "enable_gqa" in options and (major, minor) < (2, 5):
            raise TypeError("got an unexpected keyword argument 'enable_gqa'")
        assert k.shape == v.shape
        assert options.get("enable_gqa", False) == (q.shape[1] != k.shape[1])
        self.kernel("attention")

    def _cuda(self) -> SimpleNamespace:
        fake = self

        class Event:
            def __init__(self, *, enable_timing: bool) -> None:
                assert enable_timing

            def record(self) -> None:
                self.at_s = fake.now_s

            def elapsed_time(self, end: "Event") -> float:
                return (end.at_s - self.at_s) * 1e3

        class CUDAGraph:
            kernels = 0

            def replay(self) -> None:
                fake.now_s += self.kernels * SECONDS

        @contextlib.contextmanager
        def graph(made: CUDAGraph) -> Iterator[None]:
            fake.capturing, fake.recorded = True, 0
            try:
                yield
            finally:
                fake.capturing = False
            made.kernels = fake.recorded

        found = SimpleNamespace(name="NVIDIA H200", L2_cache_size=50 << 20, uuid="abc")
        found.major, found.minor = self.capability
        return SimpleNamespace(
            is_available=lambda: True,
            device_count=lambda: self.gpus,
            get_device_properties=lambda _: found,
            mem_get_info=lambda: (80 << 30, 80 << 30),
            synchronize=lambda: None,
            empty_cache=lambda: self.kernel("empty_cache", seconds=0.0),
            set_device=lambda _: None,
            Event=Event,
            CUDAGraph=CUDAGraph,
            graph=graph,
        )

    def _distributed(self) -> ModuleType:
        dist: Any = ModuleType("torch.distributed")
        dist.init_process_group = lambda *_, **__: self.kernel("init")
        dist.destroy_process_group = lambda: self.kernel("destroy")
        for name in ("all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor",
                     "all_to_all_single"):  # fmt: skip
            setattr(dist, name, lambda *_, name=name: self.kernel(name))
        made: ModuleType = dist
        return made

    def _spawn(
        self, run: Callable[..., None], *, args: tuple[Any, ...], nprocs: int, join: bool
    ) -> SimpleNamespace:
        assert not join
        stuck = "init" in self.failing
        process = SimpleNamespace(killed=False)
        process.is_alive = lambda: stuck and not process.killed
        process.kill = lambda: setattr(process, "killed", True)
        self.processes.append(process)
        if not stuck:
            for rank in range(nprocs):
                run(rank, *args)
        return SimpleNamespace(processes=[process], join=lambda timeout: not stuck)
