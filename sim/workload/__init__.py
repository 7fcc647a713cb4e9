"""What is asked of the deployment: when requests arrive and how long they are."""

from sim.workload.arrivals import Arrivals, ClosedLoop, Constant, Gamma, Poisson, Trace, Varying
from sim.workload.classes import RequestClass
from sim.workload.diurnal import Diurnal
from sim.workload.lengths import Fixed, FromTrace, Lengths, LogNormal, Quantiles, Uniform
from sim.workload.presets import WorkloadPreset, list_workloads, load_workload_preset
from sim.workload.sessions import Sessions
from sim.workload.streams import stream
from sim.workload.trace_rows import TraceRows
from sim.workload.traces import read_trace
from sim.workload.varying import Bursts, Ramp, Rates
from sim.workload.windows import Windows
from sim.workload.workload import Workload

__all__ = [
    "Arrivals",
    "Bursts",
    "ClosedLoop",
    "Constant",
    "Diurnal",
    "Fixed",
    "FromTrace",
    "Gamma",
    "Lengths",
    "LogNormal",
    "Poisson",
    "Quantiles",
    "Ramp",
    "Rates",
    "RequestClass",
    "Sessions",
    "Trace",
    "TraceRows",
    "Uniform",
    "Varying",
    "Windows",
    "Workload",
    "WorkloadPreset",
    "list_workloads",
    "load_workload_preset",
    "read_trace",
    "stream",
]
