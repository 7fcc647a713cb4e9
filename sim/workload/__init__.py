"""What is asked of the deployment: when requests arrive and how long they are."""

from sim.workload.arrivals import Arrivals, ClosedLoop, Constant, Gamma, Poisson, Trace
from sim.workload.lengths import Fixed, FromTrace, Lengths, LogNormal, Quantiles, Uniform
from sim.workload.presets import WorkloadPreset, list_workloads, load_workload_preset
from sim.workload.streams import stream
from sim.workload.traces import TraceRows, read_trace
from sim.workload.workload import Workload

__all__ = [
    "Arrivals",
    "ClosedLoop",
    "Constant",
    "Fixed",
    "FromTrace",
    "Gamma",
    "Lengths",
    "LogNormal",
    "Poisson",
    "Quantiles",
    "Trace",
    "TraceRows",
    "Uniform",
    "Workload",
    "WorkloadPreset",
    "list_workloads",
    "load_workload_preset",
    "read_trace",
    "stream",
]
